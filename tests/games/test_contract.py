"""What every game must do. A new game is tested by lying in `games/`."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from tests import nim_package
from understudy import games
from understudy.data import shards
from understudy.data.files import write_text
from understudy.data.players import PlayerRef
from understudy.data.results import SHARED
from understudy.data.runs import Run
from understudy.data.splits import SPLITS
from understudy.errors import InputError
from understudy.games.dota.sources.synthetic import World, generate
from understudy.games.scml.tournament.design import WorldPlan
from understudy.learn.recipe import Recipe, TrainOptions
from understudy.pipeline import encode, import_matches
from understudy.pipeline.game import Game, Lazy
from understudy.pipeline.pairings import Fixture

SEEDS = (3, 2**40, 5)


@pytest.fixture(params=(*games.names(), nim_package.NAME), scope="module")
def game(request):
    """Every game there is, and the one that the docs show."""
    with nim_package.installed():
        yield games.load(request.param)


@pytest.fixture(scope="module")
def pair(game):
    """The expert and somebody else."""
    return tuple(game.players)[:2]


@pytest.fixture(scope="module")
def played(game, pair):
    """Three matches; a game that cannot be played here has none."""
    if game.play is None:
        pytest.skip(f"{game.name} is not played here")
    return game.play(fixture(game, pair))


@pytest.fixture(scope="module")
def recordings(played):
    return played.recordings


@pytest.fixture(scope="module")
def samples(game, recordings):
    if game.encode is None:
        pytest.skip(f"{game.name} is not encoded")
    return game.encode(recordings, None)


def fixture(game, pair, seeds=SEEDS, keep=None):
    """Matches between two, in the words of the game."""
    players = tuple(PlayerRef(name) for name in pair)
    if game.name != "scml":
        return Fixture(players, seeds, keep)
    return tuple(
        WorldPlan(
            match=f"test-{seed}",
            field="test",
            track="std",
            factories_per_level=(1, 1),
            steps=6,
            seed=seed,
            run=0,
            players=players,
            slots=(0, 1),
            recorded=keep is None or number < keep,
        )
        for number, seed in enumerate(seeds)
    )


# --- what a game declares ------------------------------------------------------------------------


def test_a_game_goes_by_the_name_of_its_folder(game):
    assert isinstance(game, Game)
    assert games.load(game.name) is game
    assert type(game.about) is str and game.about and "\n" not in game.about


def test_an_unknown_game_is_answered_with_those_there_are():
    with pytest.raises(InputError, match=f"there is no game 'chess'; there is {games.names()[0]}"):
        games.load("chess")


def test_what_is_imported_late_is_there(game):
    for name, value in vars(game).items():
        if isinstance(value, Lazy):
            assert value.target(), f"{game.name}.{name}"


def test_every_verb_and_option_it_brings_explains_itself(game):
    brought = games.commands(game.name)
    assert set(brought.about) == set(brought.verbs) - {"record", "compete"}
    assert set(brought.options) <= {"encode", "train", "tune"}
    for command in brought.verbs.values():
        assert command.__doc__
    assert "record" in brought.verbs and ("compete" in brought.verbs) == (game.play is not None)


def test_players_are_described(game):
    assert len(game.players) >= 2 or game.play is None
    for name, about in game.players.items():
        assert name and about and "\n" not in about
        assert name.replace("-", "").replace("_", "").isalnum()


def test_tables_have_names_of_their_own_and_say_what_each_column_means(game):
    tables = (game.results, *game.recordings, *game.samples)
    names = [table.name for table in tables]
    assert len(set(names)) == len(names)
    assert names[0] == "results"
    for table in tables:
        assert table.game == game.name
        assert table is game.results or game.table(table.name) is table
        assert table.version >= 1 and table.made_by.startswith("understudy ")
        columns = [column.name for column in table.columns]
        assert len(set(columns)) == len(columns)
        assert all(column.meaning for column in table.columns)


def test_the_first_recording_table_has_a_row_per_match(game, recordings):
    first = recordings[game.recordings[0].name]
    assert len(first) == len(SEEDS)
    assert len(set(first["match"].to_pylist())) == len(SEEDS)


def test_samples_carry_the_columns_that_every_learner_reads(game):
    if game.play is None:
        pytest.skip(f"{game.name} is not played here, so its samples are no decisions")
    shared = {"match", "step", "slot", "player", "split", "legal", "reward", "outcome"}
    for table in game.samples:
        assert shared <= {column.name for column in table.columns}


# --- recipes -------------------------------------------------------------------------------------


def test_recipes_are_described_and_one_is_quick(game):
    recipes = game.recipes()
    assert not recipes or any(name.endswith("-quick") for name in recipes)
    for name, recipe in recipes.items():
        assert isinstance(recipe, Recipe)
        assert recipe.description and "\n" not in recipe.description
        assert recipe.settings() == recipe.settings() and json.dumps(recipe.settings())
        assert game.recipe(name) is recipe


def test_quick_recipes_have_a_thorough_sibling(game):
    recipes = game.recipes()
    for name in recipes:
        assert name.removesuffix("-quick") in recipes


def test_every_recipe_reads_a_table_the_game_has(game):
    for recipe in game.recipes().values():
        if hasattr(recipe, "decisions"):
            assert recipe.decisions.table in game.samples


@pytest.fixture(scope="module")
def full_run(game, request, tmp_path_factory):
    """A run with everything that some recipe reads."""
    run = Run(tmp_path_factory.mktemp(game.name))
    if game.name == "dota":
        import_matches.take_in(game, run, generate(World(), 60), {"synthetic": 60})
        encode.encode(game, run, options={"horizon": 180}, worker=0, quiet=True)
    else:
        recordings, samples = map(request.getfixturevalue, ("recordings", "samples"))
        for tables, folder in ((game.recordings, run.recordings), (game.samples, run.samples)):
            for table in tables:
                rows = (recordings | samples)[table.name]
                shards.write_shard(shards.shard_path(folder, table, "00000"), rows)
    for number, name in enumerate(("train", "val", "test")):
        write_text(run.splits / f"{name}.txt", str(number))
    for name in game.recipes():
        write_text(run.model(name) / "weights.safetensors", name)
    return run


def test_recipes_say_what_they_read_of_a_run(game, full_run):
    for name, recipe in game.recipes().items():
        paths = [path for paths in recipe.inputs(full_run).values() for path in paths]
        assert paths and all(path.is_file() for path in paths), name
        assert len({full_run.place(path) for path in paths}) == len(paths), name
        assert not any(path.is_relative_to(full_run.model(name)) for path in paths), name


def test_recipes_that_miss_what_they_read_say_so(game, tmp_path):
    for recipe in game.recipes().values():
        if _comes_with_the_package(recipe):
            continue
        with pytest.raises(InputError, match=r"understudy |Train it first"):
            recipe.inputs(Run(tmp_path))


def _comes_with_the_package(recipe):
    """Whether all that it reads does, so that it misses nothing."""
    try:
        paths = [path for paths in recipe.inputs(Run(Path("nowhere"))).values() for path in paths]
    except InputError:
        return False
    return all(path.is_relative_to(Path(games.__file__).parent) for path in paths)


OPTIONS = {
    "init": TrainOptions(init=Path("elsewhere")),
    "start": TrainOptions(start="elsewhere"),
    "updates": TrainOptions(updates=3),
    "test": TrainOptions(own={"test": 58}),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_a_recipe_takes_an_option_or_refuses_it_by_its_own_name(game, option):
    for name, recipe in game.recipes().items():
        assert recipe.with_options(name, TrainOptions()).settings() == recipe.settings()
        try:
            changed = recipe.with_options(name, OPTIONS[option])
        except InputError as refused:
            assert f"'{name}'" in str(refused)
        else:
            assert isinstance(changed, Recipe) and changed != recipe


def test_an_unknown_recipe_is_answered_with_those_there_are(game):
    with pytest.raises(InputError) as error:
        game.recipe("magic")
    message = str(error.value)
    assert message.startswith(f"{game.name} has no recipe 'magic'")
    assert all(name in message for name in game.recipes())


# --- from play to samples ------------------------------------------------------------------------


def assert_as_declared(tables, found):
    assert set(found) == {table.name for table in tables}
    for table in tables:
        table.check(found[table.name].schema, table.name)
        assert found[table.name].schema.names == [column.name for column in table.columns]
        assert len(found[table.name])
        found[table.name].validate(full=True)
        for column in table.columns:
            assert column.optional or found[table.name][column.name].null_count == 0


def test_recordings_and_results_look_as_declared(game, played):
    assert_as_declared(game.recordings, played.recordings)
    assert_as_declared((game.results,), {game.results.name: played.results})


def test_samples_look_as_declared(game, samples):
    assert_as_declared(game.samples, samples)


def test_the_same_seeds_give_the_same_recordings(game, pair, recordings):
    again = game.play(fixture(game, pair)).recordings
    assert set(again) == set(recordings)
    for name, table in again.items():
        assert table.equals(recordings[name], check_metadata=True)


def test_other_seeds_give_other_recordings(game, pair, recordings):
    other = game.play(fixture(game, pair, (1, 2, 4))).recordings
    last = game.recordings[-1].name
    assert not other[last].equals(recordings[last])


def test_matches_do_not_know_of_each_other(game, pair, recordings):
    alone = [game.play(fixture(game, pair, (seed,))).recordings for seed in SEEDS]
    for name, table in recordings.items():
        assert pa.concat_tables(one[name] for one in alone).equals(table)


def test_matches_that_need_not_be_kept_are_still_told_of(game, pair, recordings):
    brief = game.play(fixture(game, pair, keep=1)).recordings
    first, *others = (table.name for table in game.recordings)
    assert brief[first].equals(recordings[first])
    for name in others:
        assert 0 < len(brief[name]) < len(recordings[name])


def test_a_match_lies_whole_in_one_split(samples):
    for table in samples.values():
        pairs = set(zip(*table.select(["match", "split"]).to_pydict().values(), strict=True))
        assert len(pairs) == len({match for match, _ in pairs}) == len(SEEDS)
        assert {split for _, split in pairs} <= set(SPLITS)


def test_samples_are_of_matches_and_players_that_were_recorded(game, pair, recordings, samples):
    matches = set(recordings[game.recordings[0].name]["match"].to_pylist())
    for table in samples.values():
        assert set(table["match"].to_pylist()) == matches
        assert set(table["player"].to_pylist()) == set(pair)
    for table in game.encode(recordings, frozenset(pair[:1])).values():
        assert set(table["player"].to_pylist()) == {pair[0]}


def test_every_decision_is_there_once(samples):
    for table in samples.values():
        keys = table.select(["match", "step", "slot"]).to_pydict()
        rows = list(zip(*keys.values(), strict=True))
        assert len(set(rows)) == len(rows)


def test_results_match_the_recordings(game, pair, played):
    first = played.recordings[game.recordings[0].name]
    assert {column.name for column in SHARED} | {"score"} <= set(played.results.schema.names)
    rows = played.results.to_pylist()
    assert sorted({row["match"] for row in rows}) == sorted(first["match"].to_pylist())
    assert sorted({row["seed"] for row in rows}) == sorted(SEEDS)
    assert len(rows) == len(SEEDS) * len(pair)
    assert {row["player"] for row in rows} == set(pair)


def test_samples_know_how_it_ended(played, samples):
    outcome = {(row["match"], row["player"]): row["score"] for row in played.results.to_pylist()}
    for table in samples.values():
        columns = table.select(["match", "player", "outcome"]).to_pydict().values()
        for match, player, score in set(zip(*columns, strict=True)):
            assert outcome[match, player] == score


def test_counts_add_up_over_shards(game, pair, recordings, samples):
    whole = game.summarise(recordings, samples)
    total = {}
    for seed in SEEDS:
        part = game.play(fixture(game, pair, (seed,))).recordings
        for name, count in game.summarise(part, game.encode(part, None)).items():
            total[name] = total.get(name, 0) + count
    assert total == whole
    assert whole["matches"] == len(SEEDS)
    # The arena's mask is its rules; SCML's is our own safety, which its champions overstep.
    assert 0 <= whole["violations"] <= (whole["decisions"] if game.name == "scml" else 0)
    assert all(type(count) in (int, float) for count in whole.values())  # fit for JSON


def test_shards_keep_every_bit(game, recordings, tmp_path):
    samples = game.encode(recordings, None) if game.encode else {}
    for table in (*game.recordings, *game.samples):
        rows = (recordings | samples)[table.name]
        path = shards.shard_path(tmp_path, table, "00000")
        shards.write_shard(path, rows)
        assert shards.read_shard(path, table).equals(rows, check_metadata=True)


def test_a_run_without_anything_has_no_panels(game, tmp_path):
    assert game.panels(Run(tmp_path)) == []
