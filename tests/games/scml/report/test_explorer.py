"""The world explorer: stories equal the tables, negotiations are alike from both sides; pages."""

import json
from collections import defaultdict
from operator import itemgetter

import pyarrow.compute as pc
import pytest

from understudy.data import shards
from understudy.data.players import PlayerRef
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games.scml.game import GAME
from understudy.games.scml.recording.negotiations import ENDINGS, DecisionRow, _first_offers, read
from understudy.games.scml.recording.tables import CONTRACTS, DAY_LEDGER, DECISIONS, RECORDINGS
from understudy.games.scml.report.viewer import world_page, world_panel
from understudy.games.scml.report.world_page import explorer_panels, find_world, recorded_worlds
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play
from understudy.report.page import page as report_page

NAMES = ("SyncRandom", "Penguin", "Greedy", "AS0", "Random")
LEVELS = [0, 0, 1, 1, 1]
DAYS_PLAYED = 8
HOSTILE = '</script><img src=x onerror="window.hacked=1"><b>'


def plan(match, **changes):
    return WorldPlan(
        **{
            "match": match,
            "field": "official",
            "track": "std",
            "factories_per_level": (2, 3),
            "steps": DAYS_PLAYED,
            "seed": 3,
            "run": 0,
            "players": tuple(map(PlayerRef, NAMES)),
            "slots": (1, 3),
        }
        | changes
    )


def record(folder, plans):
    played = play(plans)
    folder.mkdir(parents=True, exist_ok=True)
    for table in RECORDINGS:
        path = shards.shard_path(folder, table, "00000")
        shards.write_shard(path, played.recordings[table.name])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A world with everybody watched, one seen by Penguin only, a oneshot one, one in outline."""
    run = Run(tmp_path_factory.mktemp("explorer") / "run")
    oneshot = tuple(map(PlayerRef, ("Cautious", "Greedy", "CostAverse", "SyncRandom", "Greedy")))
    record(
        run.recordings,
        [
            plan("whole"),
            plan("watched", watched=frozenset(["Penguin"])),
            plan("broke", players=(PlayerRef("Random"),) * 5, steps=14),
            plan("outline", recorded=False),
        ],
    )
    record(run.results / "cup", [plan("short", track="oneshot", players=oneshot, seed=4)])
    return run


@pytest.fixture(scope="module")
def story(run):
    return find_world(run, "whole")


def rows(run, table, match="whole"):
    path = shards.shard_path(run.recordings, table, "00000")
    found = shards.read_shard(path, table)
    return found.filter(pc.equal(found["match"], match)).to_pylist()


def told(story):
    """Every negotiation with its offers: (day, opener, other) -> (ending, offers)."""
    lowest = story["products"]["lowest"]
    return {
        (day, opener, other): (
            ENDINGS[ending],
            read(text, day, lowest[max(LEVELS[opener], LEVELS[other])][day]),
        )
        for day, negotiations in enumerate(story["talks"])
        for opener, other, ending, text in negotiations
    }


def values(factory, column, length):
    found = factory["days"][column]
    return [0] * length if found == 0 else found


# The story


def test_contracts_are_those_of_the_table(run, story):
    contracts = rows(run, CONTRACTS)
    assert contracts
    for name, column in story["contracts"].items():
        assert column == [int(contract[name]) for contract in contracts]


def test_days_are_those_of_the_table(run, story):
    days = rows(run, DAY_LEDGER)
    for place, factory in enumerate(story["factories"]):
        mine = [day for day in days if day["factory"] == place]
        for column in ("bought", "sold", "produced", "shortfall", "stored", "supply_quantity"):
            assert values(factory, column, 8) == [day[column] for day in mine]
        for column in ("balance", "stock"):  # the last is the evening of the last day
            found = values(factory, column, 9)
            assert found[:8] == pytest.approx([day[column] for day in mine], abs=0.005)
            assert len(found) == 9
        assert factory["days"]["balance"][-1] / factory["initial"] == pytest.approx(
            factory["score"], abs=1e-4
        )
        outputs = story["products"]["price"][factory["level"] + 1]
        assert outputs == pytest.approx([day["price_out"] for day in mine], abs=0.005)


def test_stock_and_money_of_an_evening_are_those_of_the_next_day_start(story):
    for factory in story["factories"]:
        stock, produced = values(factory, "stock", 9), values(factory, "produced", 8)
        profit, balance = values(factory, "profit", 8), factory["days"]["balance"]
        for day in range(DAYS_PLAYED):
            got = values(factory, "bought", 8)[day] + values(factory, "supply_quantity", 8)[day]
            assert stock[day + 1] == stock[day] + max(0, got - produced[day])
            assert balance[day + 1] == pytest.approx(balance[day] + profit[day], abs=0.03)


def test_profit_is_what_the_parts_leave(run, story):
    """Revenue follows from the other parts; it must be what the units made can have fetched."""
    made = defaultdict(int)
    for contract in rows(run, CONTRACTS):
        if contract["executed"]:
            money = contract["quantity"] * contract["unit_price"]
            made[contract["seller"], contract["day"]] += money
    for place, factory in enumerate(story["factories"]):
        for day in range(DAYS_PLAYED):
            part = {name: values(factory, name, 8)[day] for name in factory["days"]}
            costs = ("bought_money", "supply_price", "production_cost", "storage_cost", "penalty")
            revenue = part["profit"] + sum(part[name] for name in costs)
            promised = made[place, day] + part["sale_price"]
            assert revenue <= promised + 0.05
            if not part["shortfall"]:
                assert revenue == pytest.approx(promised, abs=0.05)


def test_every_contract_ends_a_negotiation_and_every_agreement_is_a_contract(story):
    columns = [story["contracts"][name] for name in ("concluded", "buyer", "seller")]
    terms = [story["contracts"][name] for name in ("quantity", "day", "unit_price")]
    keys = zip(*columns, strict=True)  # the buyer is on the last level, which opens
    contracts = dict(zip(keys, zip(*terms, strict=True), strict=True))
    agreed = {
        key: negotiation[1][-1]
        for key, negotiation in told(story).items()
        if negotiation[0] == "agreed"
    }
    assert agreed == contracts


def test_an_offer_is_what_one_side_made_and_the_other_heard(run, story):
    """The definition, from the table: of a whole negotiation both sides' rows say the same."""
    heard, made = defaultdict(list), defaultdict(list)
    for row in sorted(rows(run, DECISIONS), key=itemgetter("moment")):
        pair = (row["factory"], row["partner"])
        key = row["day"], *(pair if LEVELS[pair[0]] == 1 else pair[::-1])
        if row["heard_quantity"] is not None:
            offer = row["heard_quantity"], row["heard_day"], row["heard_price"]
            heard[key].append((row["partner"], offer))
        if row["offered_quantity"] is not None and row["call"] != "first_proposals":
            offer = row["offered_quantity"], row["offered_day"], row["offered_price"]
            made[key].append((row["factory"], offer))
    negotiations = told(story)
    assert sum(len(offers) > 2 for _, offers in negotiations.values()) > 10
    for key, (ending, offers) in negotiations.items():
        by = [(key[1 + turn % 2], offer) for turn, offer in enumerate(offers)]
        assert by[: len(heard[key])] == heard[key]
        assert len(heard[key]) >= len(by) - (ending == "out of rounds")
        assert all(offer in by for offer in made[key])


def test_a_negotiation_told_from_one_side_agrees_with_both(run, story):
    whole, one_sided = told(story), told(find_world(run, "watched"))
    assert one_sided.keys() <= whole.keys()
    unheard = {key for key in whole if 1 in key[1:]} - one_sided.keys()
    assert all(whole[key] == ("no offer", []) for key in unheard)  # nothing reached the one side
    assert len(one_sided) > len(unheard)
    for key, (ending, offers) in one_sided.items():
        assert offers == whole[key][1]
        assert ending in (whole[key][0], "not recorded")


def test_who_was_not_watched_has_no_needs(run, story):
    assert all(factory["needs"] for factory in story["factories"])
    watched = find_world(run, "watched")["factories"]
    assert [factory["needs"] is not None for factory in watched] == [
        name == "Penguin" for name in NAMES
    ]


def test_bankruptcy_is_the_evening_before_the_first_day_start_without_negotiations(run):
    fallen = find_world(run, "broke")["factories"]
    for place, factory in enumerate(fallen):
        days = [day for day in rows(run, DAY_LEDGER, "broke") if day["factory"] == place]
        day_starts = [day["day"] for day in days if day["bankrupt"]]
        ended_below = len(days) - 1 if factory["score"] < 0 else None
        assert factory["bankrupt"] == (day_starts[0] - 1 if day_starts else ended_below)
    assert any(factory["bankrupt"] is not None for factory in fallen)


def test_an_opener_asked_again_makes_its_later_offers():
    """Asked for partner 1, it leaves 2 out; asked again for 2, it makes 3 another offer."""

    def row(offered):
        return DecisionRow(None, None, False, offered)

    a, b, c = (1, 0, 5), (2, 0, 5), (3, 0, 5)
    calls = [
        {1: row(a), 2: row(None), 3: row(a)},
        {1: row(c), 2: row(b), 3: row(c)},
    ]
    assert {k: v.offered for k, v in _first_offers(calls).items()} == {1: a, 2: b, 3: c}
    silent = [{1: row(None), 2: row(None)}, {1: row(None), 2: row(None)}, {2: row(None)}]
    assert _first_offers(silent).keys() == {1, 2}


# Finding worlds


def test_worlds_recorded_in_full_are_found_in_recordings_and_results(run):
    found = [world.row["match"] for world in recorded_worlds(run)]
    assert found == ["whole", "watched", "broke", "short"]
    assert find_world(run, "short")["horizon"] == 0


def test_an_unknown_world_names_some_that_exist(run, tmp_path):
    with pytest.raises(InputError, match=r"'outline'.*for example: whole, watched, broke"):
        find_world(run, "outline")
    with pytest.raises(InputError, match="none at all"):
        find_world(Run(tmp_path), "whole")


def test_the_game_replays_and_the_report_shows_two_configurations(run, tmp_path):
    assert GAME.replay(run, "whole") == world_page(find_world(run, "whole"), run.title)
    (panel,) = explorer_panels(run)
    assert panel.html.count('class="scml-world"') == 2  # one of each configuration
    assert explorer_panels(Run(tmp_path)) == []


# The page as text


def test_nothing_in_a_story_can_end_its_script(story):
    html = world_page({**story, "match": HOSTILE})
    data = html.split('class="scml-world">')[1].split("</script>")[0]
    assert "<" not in data
    assert json.loads(data)["match"] == HOSTILE
    assert "<title>&lt;/script&gt;" in html


def test_the_page_of_a_long_world_stays_small(story):
    """200 days of 24 factories on four levels, by the measure of this world."""
    data = {name: len(json.dumps(part, separators=(",", ":"))) for name, part in story.items()}
    negotiations = sum(map(len, story["talks"]))
    by_negotiation = (data["talks"] + data["contracts"]) / negotiations * (3 * 6 * 6) * 200
    by_factory = data["factories"] / (len(NAMES) * DAYS_PLAYED) * 24 * 200
    scripts = len(world_page({**story, "talks": [], "contracts": {}, "factories": []}))
    assert by_negotiation + by_factory + scripts < 3_000_000


def test_a_report_carries_the_explorer_once(story):
    panel = world_panel([story, story])
    html = report_page("SCML", "", [panel, panel])
    assert html.count("class Explorer") == 1
    assert html.count('type="application/json"') == 4


# The page in a browser


@pytest.fixture
def opened(browser, tmp_path):
    """Opens HTML from a file; in the end, the page may not have erred or asked for anything."""
    tabs, errors, requests = [], [], []

    def open_page(html, width=1200):
        path = tmp_path / f"page-{len(tabs)}.html"
        path.write_text(html, encoding="utf-8")
        tab = browser.new_page(viewport={"width": width, "height": 800})
        tab.on("console", lambda note: note.type in ("error", "warning") and errors.append(note))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(path.as_uri())
        tabs.append(tab)
        return tab

    yield open_page
    assert errors == []
    assert [url for url in requests if not url.endswith(".html")] == []
    for tab in tabs:
        tab.close()


def get(tab, expression):
    return tab.evaluate(f"worldExplorers[0].{expression}")


def marked(tab):
    """The day at which the charts' marks stand."""
    places = tab.locator(".we-cursor").evaluate_all("all => all.map(e => parseFloat(e.style.left))")
    assert len(places) == 4
    assert len(set(places)) == 1
    return places[0] / 100 * DAYS_PLAYED - 0.5


@pytest.mark.browser
def test_the_slider_and_keys_move_the_marked_day(opened, story):
    tab = opened(world_page(story))
    assert (get(tab, "day"), marked(tab)) == (0, 0)
    tab.get_by_label("Day", exact=True).fill("5")
    assert (get(tab, "day"), marked(tab)) == (5, pytest.approx(5, abs=0.05))
    for key, day in (
        ("ArrowRight", 6),
        ("ArrowLeft", 5),
        ("End", 7),
        ("ArrowRight", 7),
        ("Home", 0),
    ):
        tab.keyboard.press(key)
        assert get(tab, "day") == day
    assert "day 0 / 7" in tab.locator(".we-clock").inner_text()
    tab.locator(".we-plot").first.click(position={"x": 2, "y": 9})
    assert get(tab, "day") == 0


@pytest.mark.browser
def test_it_plays_and_pauses(opened, story):
    tab = opened(world_page(story))
    tab.get_by_label("Speed").select_option("8\u00d7")
    tab.get_by_label("Play (Space)").click()
    for _ in range(200):
        if get(tab, "day") == 7 and not get(tab, "playing"):
            break
        tab.wait_for_timeout(20)
    assert get(tab, "day") == 7
    assert not get(tab, "playing")
    tab.keyboard.press("Space")
    assert get(tab, "playing")
    tab.keyboard.press("Space")
    assert not get(tab, "playing")


@pytest.mark.browser
def test_clicking_a_factory_selects_it(opened, story):
    tab = opened(world_page(story))
    assert get(tab, "selected.place") == 1  # the first competitor
    tab.locator(".we-box").nth(4).click()
    assert get(tab, "selected.place") == 4
    assert tab.locator(".we-box[aria-pressed=true]").count() == 1
    assert "Random #4" in tab.locator(".we-factory h2").inner_text()
    assert tab.locator(".we-curve.selected").count() == 2  # score and stock


@pytest.mark.browser
def test_opening_a_negotiation_shows_its_offers(opened, story):
    tab = opened(world_page(story))
    negotiations = told(story)
    day, opener, other = next(
        key
        for key, (ending, offers) in negotiations.items()
        if ending == "agreed" and len(offers) > 1
    )
    offers = negotiations[day, opener, other][1]
    tab.evaluate(
        f"const e = worldExplorers[0]; e.seek({day}); e.select(e.world.factories[{opener}])"
    )
    row = tab.locator(".we-negotiation", has_text=f"{NAMES[other]} #{other}")
    assert f"agreed: {offers[-1][0]} \u00d7 {offers[-1][2]}" in row.inner_text()
    row.locator("summary").click()
    row.locator("tbody tr").first.wait_for()  # filled when it opens
    cells = [
        [line.locator("td").nth(k).inner_text() for k in (0, 2, 3, 4)]
        for line in row.locator("tbody tr").all()
    ]
    assert cells == [[str(turn // 2 + 1), *map(str, offer)] for turn, offer in enumerate(offers)]
    assert "accepted" in row.locator("tr.agreed").inner_text()
    tab.keyboard.press("ArrowRight")
    if row.locator("summary").count():  # whom one follows stays open on other days
        assert row.get_attribute("open") is not None


@pytest.mark.browser
def test_commitments_and_lines_follow_from_the_contracts(opened, run, story):
    tab = opened(world_page(story))
    for row in rows(run, DAY_LEDGER):
        at = f"world.commitments(worldExplorers[0].world.factories[{row['factory']}], {row['day']})"
        ahead = get(tab, at)
        for side in ("supplies", "sales"):
            known = [entry[side][0] for entry in ahead]
            assert known == row[side][: len(known)]
            assert not any(row[side][len(known) :])
    get(tab, "seek(1)")
    for mode, column in (("made today", "concluded"), ("delivered today", "day")):
        tab.get_by_text(mode, exact=True).click()
        contracts = story["contracts"]
        where = [k for k, day in enumerate(contracts[column]) if day == 1]
        pairs = {tuple(contracts[n][k] for n in ("seller", "buyer", "executed")) for k in where}
        assert tab.locator(".we-line:not(.outside)").count() == len(pairs)
        assert pairs


@pytest.mark.browser
def test_unwatched_and_oneshot_worlds_say_what_is_missing(opened, run):
    tab = opened(world_page(find_world(run, "watched")), width=400)
    assert get(tab, "selected.player") == "Penguin"
    tab.locator(".we-box").nth(0).click()
    assert "neither side was watched" in tab.locator(".we-negotiations").inner_text()
    assert "not recorded" in tab.locator(".we-tiles").inner_text()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab = opened(world_page(find_world(run, "short")))
    assert tab.locator(".we-lead").count() == 1


@pytest.mark.browser
def test_a_hostile_name_is_inert(opened, story):
    factories = [{**factory, "player": HOSTILE} for factory in story["factories"]]
    faults = [[1, 0, HOSTILE]]
    hostile = {
        **story,
        "match": HOSTILE,
        "field": HOSTILE,
        "factories": factories,
        "faults": faults,
    }
    tab = opened(world_page(hostile), width=400)
    tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    tab.wait_for_timeout(50)
    assert tab.locator(".scml-explorer img").count() == 0
    assert tab.evaluate("window.hacked") is None
    assert HOSTILE in tab.locator(".we-factory h2").inner_text()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.browser
def test_a_report_shows_worlds_to_choose_from(opened, run, story):
    tab = opened(report_page("SCML", "", [world_panel([story, find_world(run, "short")])]))
    tab.get_by_label("World", exact=True).select_option(index=1)
    assert get(tab, "world.story.match") == "short"
    assert tab.locator(".we-box").count() == 5
    tab = opened(report_page("SCML", "", [world_panel([])]))
    assert "nothing to look into" in tab.locator(".scml-explorer").inner_text()
