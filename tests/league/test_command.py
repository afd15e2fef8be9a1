"""`understudy league`, from the command line to the report, with rock, paper, scissors."""

import json
import runpy
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.league import rps, wrong_jobs
from tests.league.toy_league import NAME, recipe
from tests.small_runs import assert_refused, contents, rows, understudy
from understudy import games
from understudy.data.players import PlayerRef
from understudy.data.runs import Run
from understudy.data.stats import Estimate, welch
from understudy.errors import InputError
from understudy.games.arena import recipes as arena_recipes
from understudy.league.interface import League
from understudy.league.rules import Overrides
from understudy.pipeline.league import compare, league, season_of
from understudy.pipeline.players import contender, resolve

SMALL = {"rounds": 3, "matches": 10, "agent_steps": 60, "exploiter_steps": 50}
SMALL_RECIPES = {"quick": recipe("quick", **SMALL)}


def install(patch):
    """The toy, as if it lay in `games/`, with small leagues."""
    patch.setattr(games, "__path__", [*games.__path__, str(Path(rps.__file__).parent)])
    patch.setitem(sys.modules, NAME, rps)
    small = {name: recipe(name, **SMALL) for name in ("quick", "quick-self-play")}
    hooks = League(rps.improve, small, scripted=("rock", "paper"))
    patch.setattr(rps, "GAME", replace(rps.GAME, league=lambda: hooks))


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    install(monkeypatch)


def run_league(folder, *more):
    return understudy("league rps --workers 0", "--out", folder, *more)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run with two leagues, made by the command; not to be changed."""
    folder = tmp_path_factory.mktemp("leagues") / "run"
    with pytest.MonkeyPatch.context() as patch:
        install(patch)
        for more in ((), ("--recipe", "quick-self-play")):
            done = run_league(folder, "--quiet", *more)
            assert (done.code, done.err) == (0, "")
    return folder


@pytest.fixture
def run(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run", symlinks=True)
    return tmp_path / "run"


def test_a_league_leaves_the_files_that_were_named(finished):
    folder = finished / "leagues" / "quick"
    assert {path.name for path in folder.iterdir()} == {
        "league_state.json", "matches.jsonl", "summary.json", "manifest.json", "players",
        "results-00001.parquet", "results-00002.parquet", "results-00003.parquet", "exploiters",
        "replays", "watched", "tensorboard",
    }  # fmt: skip
    summary = json.loads((folder / "summary.json").read_text())
    assert set(summary["best_response"]) == {"main", "main from itself"}
    assert summary["best_response"]["main"]["agent_steps"] == 50


def test_tensorboard_has_every_learner_round_by_round(finished):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = finished / "leagues" / "quick"
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    told = [event.value for event in events.Scalars("main/rating")]
    summary = json.loads((folder / "summary.json").read_text())
    assert len(told) == 3
    assert told[-1] == pytest.approx(summary["rating_curves"]["main"][-1]["value"], rel=1e-6)


def test_the_main_agent_plays_under_its_leagues_name(finished):
    game, run = games.load("rps"), Run(finished)
    main = resolve(game, run, "quick")
    assert (main.name, main.weights.name) == ("main-003", "main-003")
    assert resolve(game, run, "quick/main-003") == main
    with pytest.raises(InputError, match=r"no player 'quickk' \(did you mean quick\?\)"):
        resolve(game, run, "quickk")
    with pytest.raises(InputError, match="no player 'quick/nobody'"):
        resolve(game, run, "quick/nobody")


def test_the_mixture_of_a_league_plays_under_its_leagues_name(run):
    summary = json.loads((run / "leagues/quick/summary.json").read_text())
    found = contender(games.load("rps"), Run(run), "quick/mixture")
    assert found.name == "quick-mixture"
    assert {ref.name: share for ref, share in found.shares} == summary["own_nash"]
    for ref, _ in found.shares:
        there = run / "leagues/quick/players" / ref.name
        assert ref.weights == (there.resolve() if ref.name != "rock" else None)
    done = understudy("compete rps quick/mixture quick paper --workers 0 --quiet --json --out", run)
    assert (done.code, done.err) == (0, "")
    rates = json.loads(done.out)
    assert {rate["player"] for rate in rates} == {"quick-mixture", "main-003", "paper"}


def shares(run, **given):
    """Another Nash mixture."""
    path = run / "leagues/quick/summary.json"
    told = json.loads(path.read_text())
    told.pop("seal", None)
    path.write_text(json.dumps(told | given))


def test_results_of_a_mixture_are_stale_once_the_league_is_another(run):
    shares(run, own_nash={"rock": 0.5, "main-003": 0.5})  # a script and a trained one
    command = "compete rps quick/mixture paper --workers 0 --quiet --out"
    assert understudy(command, run).code == understudy(command, run).code == 0
    shares(run, own_nash={"rock": 0.4, "main-003": 0.6})
    assert_refused(understudy(command, run), "players of quick-mixture was", "--fresh")


def test_the_usual_beginning_is_taken_from_the_run(run):
    shares(run, own_nash={"mine": 1.0})
    game = games.load("rps")
    wanted = r"^quick/mixture has a share of mine, .* put its weights into .*models/mine$"
    with pytest.raises(InputError, match=wanted):
        contender(game, Run(run), "quick/mixture")
    (run / "models/mine").mkdir(parents=True)
    ((ref, _),) = contender(game, Run(run), "quick/mixture").shares
    assert ref == PlayerRef("mine", (run / "models/mine").resolve())


def test_a_mixture_that_cannot_be_had_is_one_line(run, tmp_path):
    compete = "compete rps quick/mixture paper --workers 0 --out"
    assert_refused(understudy(compete, tmp_path / "none"), "there is no player 'quick/mixture'")
    assert_refused(
        run_league(run, "--name", "next", "--from", "quick/mixture"),
        "quick/mixture is several players", "Name one here: quick/main-00",
    )  # fmt: skip
    member = next(iter(contender(games.load("rps"), Run(run), "quick/mixture").shares))[0]
    (member.weights / "weights.json").write_text("[0.0, 0.0, 0.0]")
    assert_refused(understudy(compete, run), f"the weights of {member.name} are damaged")
    for gone in ("summary.json", "league_state.json"):
        (run / "leagues/quick" / gone).unlink()
        words = "the league quick has no mixture yet: run it again, it goes on"
        assert_refused(understudy(compete, run), words)


def test_it_says_how_strong_everybody_is(tmp_path):
    done = run_league(tmp_path / "run", "--quiet")
    for words in (
        "main-003 (present)",
        "rock has 1000",
        "an approximate best response of main wins",
    ):
        assert words in " ".join(done.out.split())
    again = run_league(tmp_path / "run", "--json")
    summary = json.loads(again.out)
    written = json.loads((tmp_path / "run/leagues/quick/summary.json").read_text())
    assert summary == {name: value for name, value in written.items() if name != "seal"}


def test_it_tells_of_every_round(tmp_path):
    done = run_league(tmp_path / "run")
    assert [line.split(":")[0] for line in done.err.splitlines() if line.startswith("round")] == [
        "round 1", "round 2", "round 3"
    ]  # fmt: skip


def test_the_same_command_again_changes_nothing(run):
    before = contents(run)
    assert run_league(run, "--quiet").code == 0
    assert contents(run) == before


def test_the_same_seed_gives_the_same_files(finished, tmp_path):
    run_league(tmp_path / "again", "--quiet")
    again, once = tmp_path / "again/leagues/quick", finished / "leagues/quick"
    assert contents(again / "players") == contents(once / "players")
    assert (again / "league_state.json").read_text() == (once / "league_state.json").read_text()
    run_league(tmp_path / "other", "--quiet", "--seed", "1")
    other = tmp_path / "other/leagues/quick"
    assert (other / "league_state.json").read_text() != (once / "league_state.json").read_text()


def test_a_league_can_have_a_name_and_another_beginning(run):
    assert run_league(run, "--quiet", "--name", "mine", "--from", "paper").code == 0
    state = json.loads((run / "leagues/mine/league_state.json").read_text())
    assert state["start"] == "paper"
    assert [one["name"] for one in state["players"][:2]] == ["paper", "rock"]


def test_a_league_can_have_other_settings_than_its_recipe(tmp_path):
    folder = Run(tmp_path / "run")
    season = season_of(games.load("rps"), folder, "quick", settings=["rounds=1", "anneal_from=1"])
    assert (season.recipe.rounds, season.recipe.anneal_from) == (1, 1.0)
    with pytest.raises(InputError, match=r"no setting 'round' \(did you mean rounds\?\)"):
        season_of(games.load("rps"), folder, "quick", settings=["round=1"])


def test_a_player_of_a_league_can_begin_another(run):
    folder = run / "leagues/quick/players/main-002"
    assert run_league(run, "--quiet", "--name", "next", "--from", folder).code == 0
    state = json.loads((run / "leagues/next/league_state.json").read_text())
    assert state["start"] == "start-main-002"  # a version of the new league has its old name
    assert {"start-main-002", "main-002"} <= set(state["weights"])


def test_a_league_begins_with_the_clone_that_is_there_and_says_so(tmp_path, monkeypatch):
    clones = {name: arena_recipes.RECIPES[name] for name in ("imitate", "imitate-small")}
    hooks = replace(rps.GAME.league(), start="imitate-small")
    game = replace(rps.GAME, league=lambda: hooks, recipes=lambda: clones)
    monkeypatch.setattr(rps, "GAME", game)
    for model, more, said, begun in (
        ("imitate", ("--quiet",), False, "imitate"),
        ("imitate", ("--fresh",), True, "imitate"),
        ("imitate-small", (), True, "imitate"),  # it goes on as it began
        ("imitate-small", ("--fresh",), False, "imitate-small"),
    ):
        (tmp_path / "models" / model).mkdir(parents=True, exist_ok=True)
        (tmp_path / "models" / model / "weights.json").write_text("[0.0, 0.0, 0.0]")
        done = run_league(tmp_path, *more)
        assert done.code == 0
        assert ("All begin with imitate:" in done.err) == said
        state = json.loads((tmp_path / "leagues/quick/league_state.json").read_text())
        assert state["start"] == begun


def test_matches_to_watch_have_their_pages(finished):
    folder = finished / "leagues/quick"
    highlights = json.loads((folder / "summary.json").read_text())["highlights"]
    assert highlights[0]["kind"] == "fresh exploit"
    for one in highlights:
        assert one["players"][0] in (folder / "replays" / f"{one['match']}.html").read_text()


def test_a_match_to_watch_is_the_very_match_that_was_played(finished):
    """It is played again from its seed: the same moves must come."""
    folder = finished / "leagues/quick"
    lines = [json.loads(line) for line in (folder / "matches.jsonl").read_text().splitlines()]
    scores = {line["match"]: line["score"] for line in lines}
    for hunt in (folder / "exploiters").iterdir():
        scores |= {row["match"]: row["score"] for row in rows(hunt, "results") if not row["slot"]}
    gain = {a: dict(zip(rps.MOVES, row, strict=True)) for a, row in
            zip(rps.MOVES, rps.GAIN.tolist(), strict=True)}  # fmt: skip
    watched = rows(folder / "watched/recordings", "matches")
    assert {one["match"] for one in json.loads((folder / "summary.json").read_text())[
        "highlights"]} <= {row["match"] for row in watched}  # fmt: skip
    for row in watched:
        assert scores[row["match"]] == gain[row["move_0"]][row["move_1"]]


def test_the_report_of_a_run_with_leagues(run):
    done = understudy("report", run)
    assert (done.code, done.err) == (0, "")
    html = (run / "report.html").read_text()
    for words in ("Leagues compared", "Lineage: quick", "understudy league rps", "replays/"):
        assert words in html


def test_job_on_other_processes_give_the_same(tmp_path):
    short = {"quick": recipe("quick", **SMALL | {"rounds": 1})}
    game = replace(games.load("rps"), league=lambda: League(rps.improve, short))
    for workers, name in ((0, "here"), (2, "there")):
        league(game, Run(tmp_path), "quick", name=name, worker=workers)
    assert contents(tmp_path / "leagues/here/players") == contents(
        tmp_path / "leagues/there/players"
    )


# --- Mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("league dota --out {new}", ["dota has no leagues"]),
        ("league chess --out {new}", ["there is no game 'chess'"]),
        ("league rps --recipe magic --out {new}", ["no league 'magic'; there is quick, quick-s"]),
        ("league rps --from nobody --out {new}", ["there is no player 'nobody'", "rock"]),
        ("league rps --name ../x --out {new}", ["--name must be a plain name"]),
        ("league rps --workers many --out {new}", ["cannot run on workers 'many'"]),
    ],
)
def test_a_mistake_is_one_line(arguments, words, tmp_path):
    new = tmp_path / "new"
    assert_refused(understudy(arguments.format(new=new)), *words)
    assert not new.exists()


def test_a_deleted_snapshot_is_one_line(run):
    path = run / "leagues/quick/players/main-002/weights.json"
    path.unlink()
    assert_refused(run_league(run), "the weights of main-002 are missing", path.parent, "--fresh")


def test_a_damaged_snapshot_is_one_line(run):
    path = run / "leagues/quick/players/main-002/weights.json"
    path.write_text("[0")
    assert_refused(run_league(run), "the weights of main-002 are damaged", path.parent, "--fresh")


def test_a_beginning_that_has_changed_is_one_line(run):
    folder = run / "leagues/quick/players/main-002"
    run_league(run, "--quiet", "--name", "next", "--from", folder)
    (folder / "weights.json").write_text("[0.0, 0.0, 0.0]")
    done = run_league(run, "--name", "next", "--from", folder)
    assert_refused(done, "weights was", "--fresh")


def test_other_settings_are_one_line(run):
    assert_refused(run_league(run, "--seed", "5"), "seed was 0, now 5", "--fresh")


@pytest.mark.parametrize("name", ["..", ".", "../..", "/"])
def test_no_name_and_fresh_delete_a_run(run, name):
    before = contents(run)
    assert_refused(run_league(run, "--fresh", "--name", name), "--name must be a plain name")
    assert contents(run) == before


def test_fresh_starts_over(run):
    before = (run / "leagues/quick/league_state.json").read_text()
    assert run_league(run, "--quiet", "--fresh", "--seed", "5").code == 0
    assert (run / "leagues/quick/league_state.json").read_text() != before


def test_a_job_that_fails_is_one_line(tmp_path):
    game = replace(games.load("rps"), league=lambda: League(wrong_jobs.fail, SMALL_RECIPES))
    with pytest.raises(InputError, match=r"the training job of main-001 failed: .*ouch"):
        league(game, Run(tmp_path), "quick", worker=1)


def test_a_season_can_be_had_without_being_run(tmp_path):
    season = season_of(games.load("rps"), Run(tmp_path), "quick", seed=3)
    assert (season.start.name, season.scripted, season.seed) == ("rock", ("paper",), 3)
    assert not any(tmp_path.iterdir())


def test_finished_leagues_can_be_compared(finished, tmp_path):
    game, run = games.load("rps"), Run(finished)
    seasons = {name: season_of(game, run, name) for name in ("quick", "quick-self-play")}
    found = compare(seasons, tmp_path / "compared", matches=10)
    assert set(found["ratings"]) == set(seasons)
    assert list(found["relative_population_performance"]) == ["quick - quick-self-play"]


def test_best_responses_begin_and_learn_as_they_are_told(tmp_path):
    """One with the imitation, one as its target; both in the way of the league's exploiters."""
    hunting = Overrides(rate=2.0, rate_end=2.0, kl_scale=0.2, draw=-1.0)
    jobs = {}

    def improve(job):
        jobs[job.name] = job
        return rps.improve(job)

    hooks = League(improve, {"quick": recipe("quick", **SMALL, hunting=hunting)})
    game = replace(games.load("rps"), league=lambda: hooks)
    summary = league(game, Run(tmp_path), "quick", worker=0)
    target = PlayerRef("main-003", tmp_path / "leagues/quick/players/main-003")
    fresh = [jobs[name] for name in jobs if name.startswith("exploiter-of")]
    assert [job.start for job in fresh] == [PlayerRef("rock"), target]
    for job in fresh:
        assert job.overrides == replace(hunting, rate_end=0.0)
        assert [(one.player, one.probability) for one in job.opponents] == [(target, 1.0)]
        assert (job.imitation, job.agent_steps) == (PlayerRef("rock"), 50)
    begun = {name: found["start"] for name, found in summary["best_response"].items()}
    assert begun == {"main": "rock", "main from itself": "main-003"}


def test_an_unfinished_league_is_not_compared(tmp_path):
    seasons = {"quick": season_of(games.load("rps"), Run(tmp_path), "quick")}
    with pytest.raises(InputError, match="is not finished"):
        compare(seasons, tmp_path / "compared", matches=10)


BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "league_strength.py"


def test_the_benchmark_prints_its_statistic_and_its_tables(tmp_path, capsys, monkeypatch):
    small = {name: recipe(name, **SMALL) for name in rps.GAME.league().recipes} | {
        "quick-fictitious": recipe("quick-fictitious", **SMALL)
    }
    hooks = League(rps.improve, small)
    monkeypatch.setattr(rps, "GAME", replace(rps.GAME, league=lambda: hooks))
    line = "league_strength.py rps --recipe quick --seeds 0,1 --matches 4 --workers 0 --out"
    monkeypatch.setattr(sys, "argv", [*line.split(), str(tmp_path)])
    runpy.run_path(str(BENCHMARK), run_name="__main__")
    out = capsys.readouterr().out
    for words in (
        "Fixed before the runs\n  Primary figure: the exploitability",
        "| league-1 |",
        "| league less self-play |",
        "| self-play | 180 | 90 | 2.00 |",
        "  league - fictitious: ",
        "least and greatest of 4)",  # each of two with each of two
        "Primary: exploitability, league less self-play: ",
        "exploratory, since the seeds fixed in advance are 0 to 17.",
    ):
        assert words in out
    assert out.index("Fixed before the runs") < out.index("running")
    assert "nan" not in out


def made_up(league, self_play):
    """Rows of the benchmark with these exploitabilities."""
    ways = {"league": league, "self-play": self_play, "fictitious": self_play}
    return {
        f"{way}-{seed}": {"exploitability": Estimate(value)}
        for way, found in ways.items()
        for seed, value in enumerate(found)
    }


def test_the_benchmark_compares_runs_unpaired():
    """The order of the runs, which is all that a seed number is, changes nothing."""
    bench = runpy.run_path(str(BENCHMARK))
    one, other = [0.50, 0.55, 0.60, 0.62], [0.56, 0.61, 0.66, 0.68]
    seeds = range(4)
    found = bench["less"](made_up(one, other), "self-play", "exploitability", seeds)
    again = bench["less"](made_up(one, other[::-1]), "self-play", "exploitability", seeds)
    assert found == again
    assert found == welch(one, other)
    assert found.low < 0 < found.high  # paired by number, it would be -.06 for certain


@pytest.mark.parametrize(("less", "words"), [(0.06, ": shown."), (0.0, ": not shown.")])
def test_the_benchmark_gives_its_verdict_on_the_seeds_fixed_in_advance(less, words):
    bench = runpy.run_path(str(BENCHMARK))
    runs = [0.5 + 0.01 * (seed % 3) for seed in bench["SEEDS"]]
    rows = made_up([value - less for value in runs], runs)
    assert bench["verdict"](rows, bench["SEEDS"]).endswith(words)
    assert "exploratory" in bench["verdict"](rows, bench["SEEDS"][:-1])


def test_the_benchmark_refuses_runs_that_mean_something_else():
    bench = runpy.run_path(str(BENCHMARK))
    fresh = {"main": {"matches": 400, "agent_steps": 50}}
    one = {"minimum_win_rate": {"main": {"among": 4}}, "best_response": fresh}
    bench["require_comparable"]({"league-0": one, "self-play-0": one})
    for other in (
        one | {"minimum_win_rate": {"main": {"among": 3}}},
        one | {"best_response": {"main": fresh["main"] | {"agent_steps": 60}}},
    ):
        with pytest.raises(InputError, match="cannot be compared"):
            bench["require_comparable"]({"league-0": one, "self-play-0": other})


def test_a_match_that_goes_otherwise_is_not_shown(run, monkeypatch):
    """As a network's may, played in other company."""
    shutil.rmtree(run / "leagues/quick/replays")
    game = games.load("rps")

    def otherwise(fixture):
        played = game.play(fixture)
        turned = [row | {"score": -row["score"]} for row in played.results.to_pylist()]
        return played._replace(
            results=rps.table(rps.RESULTS, [tuple(row.values()) for row in turned])
        )

    summary = league(replace(game, play=otherwise), Run(run), "quick", worker=0)
    assert summary["highlights"]
    assert not (run / "leagues/quick/replays").exists()
