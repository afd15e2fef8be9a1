"""The replay viewer in a real browser: it plays, scrubs, takes other replays, and loads nothing."""

import json
import math
import random

import pytest

from understudy.games.arena.codec.actions import HEADS
from understudy.games.arena.viewer import replay_page, replay_panel
from understudy.report.page import page as report_page

COVER = [
    [-1.2, -1.2, 1.2, 1.2],
    [-6.5, 2.5, -3.0, 3.7],
    [3.0, -3.7, 6.5, -2.5],
    [-4.6, -6.5, -3.4, -3.2],
    [3.4, 3.2, 4.6, 6.5],
]
STATIONS = [("health", -7.0, 7.0), ("health", 7.0, -7.0), ("ammo", 7.0, 7.0), ("ammo", -7.0, -7.0)]
ROUTES = [
    [(-8, -8), (-7, -7), (-7, 0), (-2, 5), (2, 4), (7, 7), (6, 0), (0, -3), (-7, 7), (-2, -5)],
    [(8, 8), (7, 1), (2, -5), (-2, -2.5), (-6.5, -1), (0, 6.5), (7, 7), (2, 2.5), (7, -7)],
]
PER_PLAYER = [
    "x",
    "y",
    "aim_x",
    "aim_y",
    "health",
    "magazine",
    "reserve",
    "reload",
    "shield",
    "dash_cooldown",
    "shield_cooldown",
    "hold",
    "sees",
    "memory_x",
    "memory_y",
    "events",
]


class Sketch:
    """A stand-in for a match: two walkers on fixed routes who shoot at each other."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.place = [list(map(float, route[0])) for route in ROUTES]
        self.goal, self.health, self.loaded = [1, 1], [100.0, 100.0], [8, 8]
        self.wait = [{"reload": 0, "dash": 0, "shield": 0, "up": 0, "hold": 0} for _ in range(2)]
        self.memory = [list(self.place[1]), list(self.place[0])]
        self.shots, self.asleep = [], [0] * 4
        self.frames = {key: [[], []] for key in PER_PLAYER} | {"shots": [], "ready": []}
        self.actions = {head: [[], []] for head in HEADS}
        self.policy = {head: [] for head in HEADS}

    def step(self):
        events = [[], []]
        self.fly(events)
        for player in (0, 1):
            self.walk(player, events[player])
            self.shoot(player, events[player])
        for player in (0, 1):
            self.note(player, events[player])
        shots = [[round(x, 2), round(y, 2), owner] for x, y, _, _, owner in self.shots]
        self.frames["shots"].append(shots)
        self.frames["ready"].append([nap == 0 for nap in self.asleep])
        self.asleep = [max(0, nap - 1) for nap in self.asleep]

    def fly(self, events):
        kept = []
        for x, y, dx, dy, owner in self.shots:
            x, y, enemy = x + dx, y + dy, 1 - owner
            if math.dist((x, y), self.place[enemy]) < 0.9:
                if self.wait[enemy]["up"]:
                    events[enemy].append("blocked")
                    continue
                events[owner].append("hit")
                events[enemy].append("hurt")
                self.health[enemy] = max(0.0, self.health[enemy] - 12)
                if not self.health[enemy]:
                    events[owner].append("killed")
            elif max(abs(x), abs(y)) < 10 and not any(inside(box, x, y) for box in COVER):
                kept.append((x, y, dx, dy, owner))
        self.shots = kept

    def walk(self, player, events):
        wait, place = self.wait[player], self.place[player]
        for name in wait:
            wait[name] = max(0, wait[name] - 1)
        if wait["hold"]:
            if wait["hold"] == 1:
                self.use(player, events)
            return
        goal = ROUTES[player][self.goal[player]]
        pace = 0.35
        if not wait["dash"] and self.chance.random() < 0.03:
            events.append("dashed")
            wait["dash"], pace = 40, 1.6
        if not wait["shield"] and self.chance.random() < 0.03:
            events.append("shielded")
            wait["shield"], wait["up"] = 60, 12
        away = math.dist(goal, place)
        for axis in (0, 1):
            place[axis] += (goal[axis] - place[axis]) / max(away, 1e-6) * min(pace, away)
        if away < 0.5:
            self.goal[player] = (self.goal[player] + 1) % len(ROUTES[player])
            near = [math.dist(place, at[1:]) < 1 for at in STATIONS]
            wait["hold"] = 10 if any(near) and not self.asleep[near.index(True)] else 0

    def use(self, player, events):
        which = min(range(4), key=lambda i: math.dist(self.place[player], STATIONS[i][1:]))
        self.asleep[which] = 90
        events.append("healed" if STATIONS[which][0] == "health" else "supplied")
        if STATIONS[which][0] == "health":
            self.health[player] = min(100.0, self.health[player] + 35)

    def shoot(self, player, events):
        wait, enemy = self.wait[player], self.place[1 - player]
        if wait["reload"] == 1:
            self.loaded[player] = 8
            events.append("reloaded")
        if not self.sees(player) or wait["reload"] or self.chance.random() > 0.3:
            return
        turn = self.aim(player) + self.chance.gauss(0, 0.09)
        way = (math.cos(turn), math.sin(turn))
        x, y = (self.place[player][axis] + 0.8 * way[axis] for axis in (0, 1))
        self.shots.append((x, y, 1.4 * way[0], 1.4 * way[1], player))
        events.append("fired")
        self.loaded[player] -= 1
        self.memory[player] = list(enemy)
        if not self.loaded[player]:
            wait["reload"] = 20

    def sees(self, player):
        mine, other = self.place[player], self.place[1 - player]
        way = [[mine[a] + (other[a] - mine[a]) * part / 40 for a in (0, 1)] for part in range(41)]
        return math.dist(mine, other) < 12 and not any(inside(b, *at) for b in COVER for at in way)

    def aim(self, player):
        target = self.place[1 - player] if self.sees(player) else self.memory[player]
        return math.atan2(target[1] - self.place[player][1], target[0] - self.place[player][0])

    def note(self, player, events):
        wait, turn = self.wait[player], self.aim(player)
        sees = self.sees(player)
        if sees:
            self.memory[player] = list(self.place[1 - player])
        now = {
            "x": self.place[player][0],
            "y": self.place[player][1],
            "aim_x": math.cos(turn),
            "aim_y": math.sin(turn),
            "health": self.health[player],
            "magazine": self.loaded[player],
            "reserve": 24,
            "reload": wait["reload"] / 20,
            "shield": wait["up"] / 12,
            "dash_cooldown": wait["dash"] / 40,
            "shield_cooldown": wait["shield"] / 60,
            "hold": (10 - wait["hold"]) / 10 if wait["hold"] else 0,
            "memory_x": self.memory[player][0],
            "memory_y": self.memory[player][1],
        }
        for key, value in now.items():
            self.frames[key][player].append(round(value, 3))
        self.frames["sees"][player].append(sees)
        self.frames["events"][player].append(events)
        self.act(player, events)

    def act(self, player, events):
        step = len(self.frames["x"][0])
        for head, count in HEADS.items():
            centre = (count - 1) / 2 * (1 + math.sin(step / 15 + len(head) + player))
            weight = [math.exp(-abs(option - centre)) for option in range(count)]
            self.actions[head][player].append(weight.index(max(weight)))
            if player == 0:
                self.policy[head].append([round(w / sum(weight), 3) for w in weight])
        self.actions["fire"][player][-1] = int("fired" in events)


def inside(box, x, y):
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def synthetic_replay(steps=300, seed=1, players=("imitate", "expert")):
    sketch = Sketch(seed)
    for _ in range(steps):
        sketch.step()
        if not all(sketch.health):
            break
    num = len(sketch.frames["x"][0])
    winner = 0 if sketch.health[0] >= sketch.health[1] else 1
    return {
        "schema": "understudy.arena.replay",
        "version": 1,
        "match": f"sketch-{seed}",
        "seed": seed,
        "players": list(players),
        "outcome": f"{players[winner]} wins",
        "score": [1.0 - 2 * winner, 2 * winner - 1.0],
        "seconds_per_step": 0.1,
        "half_floor": 10.0,
        "sight": 12.0,
        "radius": 0.5,
        "max": {"health": 100, "magazine": 8, "reserve": 40},
        "cover": COVER,
        "stations": [{"kind": kind, "x": x, "y": y} for kind, x, y in STATIONS],
        "frames": sketch.frames,
        "heads": HEADS,
        "actions": {
            head: [row[: num - 1] for row in rows] for head, rows in sketch.actions.items()
        },
        "policy": [sketch.policy, None],
        "value": [[round(math.sin(step / 40) * 0.8, 3) for step in range(num)], None],
    }


# The page as text


def test_nothing_in_a_replay_can_end_its_script():
    replay = {"match": "</script><script>alert(1)</script><!--", "players": ["<b>", "&amp;"]}
    html = replay_page(replay)
    data = html.split('class="arena-replay">')[1].split("</script>")[0]
    assert json.loads(data) == replay
    assert "<" not in data
    assert "<title>&lt;/script&gt;" in html


def test_a_replay_of_a_whole_match_stays_small():
    assert len(replay_page(synthetic_replay(steps=600, seed=15))) < 500_000


def test_a_report_carries_the_viewer_once():
    panel = replay_panel([synthetic_replay(5), synthetic_replay(5, seed=2)])
    html = report_page("Arena", "", [panel, panel])
    assert html.count("class Viewer") == 1
    assert html.count('type="application/json"') == 4


# The page in a browser


class Page:
    """An open page that notes every error and every request beyond its own file."""

    def __init__(self, browser, path):
        self.tab = browser.new_page(viewport={"width": 1000, "height": 640})
        self.errors, self.requests = [], []
        self.tab.on("console", self.note)
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.url = path.as_uri()
        self.tab.goto(self.url)

    def note(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def get(self, expression):
        return self.tab.evaluate(f"arenaViewers[0].{expression}")

    def wait(self, condition):
        """Until the viewer is so; the page forbids eval, which Playwright's own waiting needs."""
        for _ in range(500):
            if self.get(condition):
                return
            self.tab.wait_for_timeout(20)
        raise AssertionError(f"never came: {condition}")

    def label(self, text):
        return self.tab.get_by_label(text)

    def drop(self, name, text):
        """Drop a file onto the field and wait until it has been read."""
        script = """async ([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name));
            const field = document.querySelector(".av-field");
            for (const kind of ["dragover", "drop"]) {
                const how = {dataTransfer: data, bubbles: true, cancelable: true};
                field.dispatchEvent(new DragEvent(kind, how));
            }
            await arenaViewers[0].opened;
        }"""
        self.tab.evaluate(script, [name, text])

    def blueness(self, x, y):
        """The blue part, 0 to 255, of the floor at a place; the canvas is 20.8 metres wide."""
        script = """([x, y]) => {
            const canvas = document.querySelector("canvas");
            const place = [x * canvas.width, y * canvas.height];
            return canvas.getContext("2d").getImageData(...place, 1, 1).data[2];
        }"""
        return self.tab.evaluate(script, [(x + 10.4) / 20.8, (10.4 - y) / 20.8])

    def pixels(self):
        return self.tab.evaluate("document.querySelector('canvas').toDataURL()")


@pytest.fixture
def opened(browser, tmp_path):
    """Opens HTML from a file; in the end, no page may have erred or asked for anything."""
    pages = []

    def open_page(html):
        path = tmp_path / f"page-{len(pages)}.html"
        path.write_text(html, encoding="utf-8")
        pages.append(Page(browser, path))
        return pages[-1]

    yield open_page
    for page in pages:
        assert page.errors == []
        assert [
            url for url in page.requests if url != page.url and not url.startswith("blob:")
        ] == []
        page.tab.close()


@pytest.fixture(scope="module")
def replay():
    return synthetic_replay()


@pytest.mark.browser
def test_it_opens_at_the_first_frame_with_both_players(opened, replay):
    page = opened(replay_page(replay))
    assert page.get("step") == 0
    assert page.get("error") is None
    assert page.tab.locator(".av-player").count() == 2
    assert page.tab.locator(".av-name b").all_inner_texts() == ["imitate", "expert"]


@pytest.mark.browser
def test_it_plays_and_pauses_by_button_and_by_key(opened, replay):
    page = opened(replay_page(replay))
    before = page.pixels()
    page.label("Play (Space)").click()
    page.wait("step >= 2")
    page.tab.keyboard.press("Space")
    step = page.get("step")
    assert not page.get("playing")
    assert page.pixels() != before
    page.tab.wait_for_timeout(150)
    assert page.get("step") == step


@pytest.mark.browser
def test_it_plays_to_the_end_and_from_there_anew(opened):
    page = opened(replay_page(synthetic_replay(steps=8)))
    page.label("Speed").select_option("8\u00d7")
    page.get("play()")
    page.wait("playing === false")
    assert page.get("step") == 7
    page.label("Speed").select_option("0.25\u00d7")
    page.get("play()")
    assert page.get("step") < 7


@pytest.mark.browser
def test_keys_and_slider_move_through_the_match(opened, replay):
    page = opened(replay_page(replay))
    last = len(replay["frames"]["x"][0]) - 1
    for key, step in (
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", last),
        ("ArrowLeft", last - 1),
        ("Home", 0),
    ):
        page.tab.keyboard.press(key)
        assert page.get("step") == step
    page.label("Step of the match").fill("40")
    assert page.get("step") == 40
    page.label("Step of the match").press("ArrowRight")
    assert page.get("step") == 41
    page.tab.get_by_text("sight of blue", exact=True).press("Space")
    assert page.get("sight") == [True, False]
    assert not page.get("playing")
    page.get("seek(1e9)")
    assert page.get("step") == last
    page.get("seek(-5)")
    assert page.get("step") == 0


@pytest.mark.browser
def test_a_mark_leads_to_its_event(opened, replay):
    page = opened(replay_page(replay))
    hits = [step for step, events in enumerate(replay["frames"]["events"][0]) if "hit" in events]
    page.tab.locator(".av-lane.p0 .av-mark.hit").first.click()
    assert page.get("step") == hits[0]
    assert "hits expert" in page.tab.locator(".av-ticker li").first.inner_text()


@pytest.mark.browser
def test_the_panels_show_what_the_frame_holds(opened, replay):
    page = opened(replay_page(replay))
    frames = replay["frames"]
    step = next(t for t, events in enumerate(frames["events"][0]) if "fired" in events)
    page.get(f"seek({step})")
    blue = page.tab.locator(".av-player.p0")
    assert blue.locator(".av-row b").first.inner_text() == f"{frames['health'][0][step]:.0f}"
    assert blue.locator(".av-pips .full").count() == frames["magazine"][0][step]
    assert "on" in blue.get_by_text("fire", exact=True).first.get_attribute("class")
    assert blue.locator(".av-policy figure").count() == len(HEADS)
    assert blue.locator(".av-option.chosen").count() == len(HEADS)
    assert page.tab.locator(".av-player.p1 .av-policy").count() == 0


@pytest.mark.browser
def test_sticks_show_the_world_not_the_players_frame(opened):
    replay = synthetic_replay(steps=3)
    for head in ("move_x", "move_y", "aim_x", "aim_y"):
        replay["actions"][head] = [[8, 8], [8, 8]]
    page = opened(replay_page(replay))
    knobs = [
        [
            page.tab.locator(f".p{p} .av-stick.{kind}").evaluate(
                "e => e.style.getPropertyValue('--x')"
            )
            for p in (0, 1)
        ]
        for kind in ("move", "aim")
    ]
    assert knobs == [["0.707", "-0.707"], ["0.707", "-0.707"]]


@pytest.mark.browser
def test_sight_shades_what_a_player_can_see(opened, replay):
    page = opened(replay_page(replay))
    plain = page.pixels()
    page.tab.get_by_text("sight of blue", exact=True).click()
    blue = page.pixels()
    page.tab.keyboard.press("o")
    both = page.pixels()
    assert len({plain, blue, both}) == 3
    assert page.get("sight") == [True, True]
    page.tab.get_by_text("sight of blue", exact=True).click()
    page.tab.get_by_text("sight of orange", exact=True).click()
    assert page.pixels() == plain


@pytest.mark.browser
def test_sight_ends_behind_cover(opened):
    page = opened(replay_page(synthetic_replay(steps=2)))  # blue stands near (-8, -8)
    seen, behind_cover = (-8.5, -5.0), (-1.5, -3.5)
    before = [page.blueness(*seen), page.blueness(*behind_cover)]
    page.get("look(0)")
    assert page.blueness(*seen) == pytest.approx(before[0], abs=10)
    assert page.blueness(*behind_cover) < before[1] - 30


@pytest.mark.browser
def test_another_replay_can_be_dropped_as_json_or_as_a_page(opened, replay):
    page = opened(replay_page(replay))
    second = synthetic_replay(steps=20, seed=2, players=("<img src=x onerror=alert(1)>", "kiter"))
    page.drop("second.json", json.dumps(second))
    assert page.get("replay.match") == "sketch-2"
    page.drop("third.html", replay_page(synthetic_replay(steps=20, seed=3)))
    assert page.get("replay.match") == "sketch-3"
    assert page.get("error") is None
    page.label("Replay").first.select_option(index=1)
    assert page.get("replay.match") == "sketch-2"
    assert page.tab.locator(".arena-viewer img").count() == 0


@pytest.mark.browser
def test_a_file_can_be_picked(opened, replay, tmp_path):
    page = opened(replay_page(replay))
    other = tmp_path / "other.json"
    other.write_text(json.dumps(synthetic_replay(steps=20, seed=4)))
    page.tab.locator("input[type=file]").set_input_files(other)
    page.wait("replay.match === 'sketch-4'")


def broken(**changes):
    replay = synthetic_replay(steps=5)
    frames = {**replay["frames"], **changes.pop("frames", {})}
    return json.dumps({**replay, "frames": frames, **changes})


@pytest.mark.browser
def test_a_broken_file_gives_a_message_and_the_old_replay_stays(opened, replay):
    page = opened(replay_page(replay))
    page.get("seek(30)")
    cases = {
        "{ not json": "neither a JSON replay nor a page",
        "<html><body>Hello</body></html>": "holds no arena replay",
        "[1, 2]": "not a JSON object",
        "null": "not a JSON object",
        "{}": "schema is missing",
        broken(schema="other"): 'schema is "other"',
        broken(version=2): "version is 2, this page reads version 1",
        broken(players=["alone"]): "two players",
        broken(cover=[[0, 0, 1]]): "cover",
        broken(frames={"x": [[], []]}): "no frames",
        broken(frames={"aim_x": [[1.0], [1.0]]}): "frames.aim_x does not have 5 entries",
        broken(
            frames={"y": [[None] * 5, [0] * 5]}
        ): "frames.y holds something that is not a number",
        broken(frames={"shots": [None] * 5}): "not a list",
    }
    for text, message in cases.items():
        page.drop("wrong.json", text)
        assert message in page.get("error")
        assert message in page.tab.get_by_role("alert").inner_text()
        assert page.get("replay.match") == "sketch-1"
        assert page.get("step") == 30
    page.tab.get_by_text("Dismiss").click()
    assert not page.tab.get_by_role("alert").is_visible()


@pytest.mark.browser
def test_the_replay_can_be_saved(opened, replay):
    page = opened(replay_page(replay))
    with page.tab.expect_download() as download:
        page.tab.get_by_text("Save JSON").click()
    assert download.value.suggested_filename == "sketch-1.json"
    assert json.loads(download.value.path().read_text()) == replay


@pytest.mark.browser
def test_a_report_shows_several_replays_to_choose_from(opened, replay):
    html = report_page("Arena", "", [replay_panel([replay, synthetic_replay(steps=9, seed=5)])])
    page = opened(html)
    page.label("Replay").first.select_option(index=1)
    assert page.get("replay.match") == "sketch-5"
    page.tab.keyboard.press("End")
    assert page.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.browser
def test_without_a_replay_it_asks_for_one(opened):
    page = opened(report_page("Arena", "", [replay_panel([])]))
    assert page.get("replay") is None
    page.get("play()")
    page.get("seek(3)")
    page.drop("one.json", json.dumps(synthetic_replay(steps=5)))
    assert page.get("replay.match") == "sketch-1"


@pytest.mark.browser
def test_it_fits_a_phone(opened, replay):
    page = opened(replay_page(replay))
    page.tab.set_viewport_size({"width": 360, "height": 740})
    assert page.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
