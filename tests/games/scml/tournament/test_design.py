"""Tournaments are planned fairly: equal slots, equal turns, and the same plan every time."""

import json
import random
from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from negmas.helpers import get_class
from scml.utils import anac2024_config_generator_oneshot, anac2024_config_generator_std

from understudy.data.players import PlayerRef
from understudy.data.runs import COMPETE, RECORD
from understudy.errors import InputError
from understudy.games.scml.players import catalogue
from understudy.games.scml.tournament.design import (
    DESIGNS,
    NUM_FACTORIES,
    WORLD_DAYS,
    Tournament,
    design_named,
    plan,
    simulator_named,
)
from understudy.games.scml.tournament.schedule import schedule


def tournament(names="Penguin,AS0,Xeno,Greedy,Random", field="official", **options):
    refs = tuple(PlayerRef(name) for name in names.split(","))
    return Tournament(field=field, competitors=refs, **{"configs": 30} | options)


def names_of(world):
    return [ref.name for ref in world.players]


@pytest.mark.parametrize("field", DESIGNS)
def test_in_every_slot_each_of_a_set_plays_once_and_all_else_is_equal(field):
    sets = defaultdict(list)
    for world in plan(tournament(field=field), purpose=COMPETE):
        sets[world.match.rsplit("-", 2)[0]].append(world)
    for worlds in sets.values():
        slots = worlds[0].slots
        chosen = {worlds[0].players[slot] for slot in slots}
        assert len(worlds) == len(slots) == len(chosen)
        for slot in slots:
            assert {world.players[slot] for world in worlds} == chosen
        for index in set(range(len(worlds[0].players))) - set(slots):
            assert len({world.players[index] for world in worlds}) == 1
        same = {(w.seed, w.steps, w.factories_per_level, w.slots) for w in worlds}
        assert len(same) == 1


def test_everybody_plays_equally_often():
    played = Counter()
    for world in plan(tournament(configs=200), purpose=RECORD):
        played.update(world.players[slot].name for slot in world.slots)
    worlds_of_a_set = 4 * 4  # one more turn than others, in a set of four
    assert max(played.values()) - min(played.values()) <= worlds_of_a_set
    at_random = Counter()
    for world in plan(tournament(configs=200, round_robin=False), purpose=RECORD):
        at_random.update(world.players[slot].name for slot in world.slots)
    assert max(at_random.values()) - min(at_random.values()) > worlds_of_a_set


class Unmade:
    """Has scml's generator stop at sizes and days; making the world of them takes 0.1 s."""

    def make_config(self, kind, params):
        return {"profiles": []}


GENERATORS = {  # as anac2024_std and anac2024_oneshot call them
    "std": anac2024_config_generator_std,
    "oneshot": partial(anac2024_config_generator_oneshot, n_processes=2),
}


def league_draw(track):
    """Factories per level, days and background agents, from scml's own generator."""
    (drawn,) = GENERATORS[track](
        n_competitors=3, n_agents_per_competitor=1, min_factories_per_level=4, context=Unmade()
    )
    params = drawn["world_params"]
    others = [get_class(kind).__name__ for kind in drawn["agent_types"] if kind is not None]
    return Counter(params["agent_processes"]).values(), params["n_steps"], others


@pytest.mark.parametrize("track", GENERATORS)
def test_official_worlds_are_as_the_league_draws_them(track):
    """Compared with scml's own generator, which fixes days, levels, factories and company."""
    ours, theirs = Counter(), Counter()
    random.seed(0)
    options = {"configs": 1, "competitors_per_world": 3, "track": track}
    kinds = {name: catalogue.load(name, track).__name__ for name in catalogue.CATALOGUE[track]}
    for number in range(2000):
        (world, *_) = plan(tournament(seed=number, **options), purpose=0)
        others = set(range(len(world.players))) - set(world.slots)
        company = [kinds[world.players[index].name] for index in others]
        for found, (sizes, days, agents) in (
            (ours, (world.factories_per_level, world.steps, company)),
            (theirs, league_draw(track)),
        ):
            found[f"{len(sizes)} levels"] += 1
            found.update(f"size {size}" for size in sizes)
            found[f"{days // 25 * 25} days and more"] += 1
            found.update(agents)
    assert set(ours) == set(theirs)
    for what in ours:
        assert ours[what] == pytest.approx(theirs[what], abs=90, rel=0.1), what  # three sigma


def test_levels_factories_days_and_slots_are_within_the_leagues():
    worlds = plan(tournament(configs=300), purpose=RECORD)
    assert {len(world.factories_per_level) for world in worlds} == {2, 3, 4}
    assert all(NUM_FACTORIES[0] <= size for world in worlds for size in world.factories_per_level)
    assert all(WORLD_DAYS[0] <= world.steps <= WORLD_DAYS[1] for world in worlds)
    assert {len(world.slots) for world in worlds} == {2, 3, 4}


def test_champions_have_one_factory_each_and_no_company():
    names = ",".join(catalogue.names("2024,2025,2026"))
    for world in plan(tournament(names, "champions", configs=4), purpose=COMPETE):
        assert len(set(names_of(world))) == len(world.players) == len(world.slots) == 15
        assert sum(world.factories_per_level) == 15
    (first, *_) = plan(tournament("Penguin,AS0,Greedy,Random,Xeno", "champions"), purpose=COMPETE)
    assert sorted(first.factories_per_level) == [2, 3]


def test_penguins_fill_the_world_of_penguins():
    (world, *_) = plan(tournament(field="penguins"), purpose=COMPETE)
    others = set(range(len(world.players))) - set(world.slots)
    assert {world.players[index].name for index in others} == {"Penguin"}


def test_no_two_seeds_or_purposes_share_a_configuration():
    seen = [
        {world.seed for world in plan(tournament(seed=seed), purpose=purpose)}
        for seed in (0, 1, 10**9)
        for purpose in (RECORD, COMPETE)
    ]
    assert sum(map(len, seen)) == len(set.union(*seen)) == 6 * 30


def test_a_plan_hangs_on_its_settings_alone():
    assert plan(tournament(), purpose=RECORD) == plan(tournament(), purpose=RECORD)
    assert plan(tournament(), purpose=RECORD) != plan(tournament(seed=1), purpose=RECORD)


def test_names_of_worlds_are_their_own():
    names = [world.match for world in plan(tournament(runs=3, target_worlds=500), purpose=RECORD)]
    assert len(set(names)) == len(names)


def test_as_many_worlds_as_were_asked_for_or_a_few_more():
    for wanted in (1, 100, 999):
        found = len(plan(tournament(target_worlds=wanted, competitors_per_world=3), purpose=RECORD))
        per_config = -(-max(wanted, 30) // 30)
        assert found == 30 * (-(-per_config // 3) * 3)
        assert found >= wanted


def test_a_configuration_has_no_more_worlds_than_allowed():
    worlds = plan(tournament(max_worlds_per_config=11, competitors_per_world=4), purpose=RECORD)
    assert set(Counter(world.seed for world in worlds).values()) == {8}  # whole rotations only


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_worlds_per_config": 3}, "Raise it to 4, or lower --competitors-per-world to 3"),
        ({"max_worlds_per_config": 2, "competitors_per_world": 3}, "no fair assignment: 3"),
        ({"max_worlds_per_config": 9, "target_worlds": 9}, "not both"),
        ({"competitors_per_world": 6}, "only 5 compete: choose at most 5"),
        ({"names": "AS0,AS0"}, "AS0 is named twice"),
        ({"names": "AS0,Penguin", "field": "champions"}, "needs 4 competitors, there are 2"),
        ({"competitors_per_world": 2, "field": "champions"}, "needs 4 competitors at least"),
        ({"configs": 0}, "--configs must be at least 1, not 0"),
        ({"runs": -1}, "--runs must be at least 1, not -1"),
        ({"configs": 10**7}, "--configs can be 1,000,000 at most"),
        ({"steps": 3}, "--steps must be at least 6, not 3"),
        ({"target_worlds": 0}, "--target-worlds must be at least 1"),
    ],
)
def test_what_cannot_be_played_fairly_is_refused_with_a_cure(options, told):
    with pytest.raises(InputError, match=told):
        plan(tournament(**options), purpose=RECORD)


def test_what_is_advised_works():
    advised = {"max_worlds_per_config": 3, "competitors_per_world": 3}
    assert plan(tournament(**advised), purpose=RECORD)


def test_an_unknown_field_is_answered_with_those_there_are():
    with pytest.raises(InputError, match="there is official, champions, penguins"):
        design_named("desert")


def test_a_schedule_holds_every_world_once_and_records_some():
    made = schedule(tournament(), purpose=COMPETE, keep=4)
    worlds = [world for fixture in made.fixtures.values() for world in fixture]
    assert made.matches == len(worlds) == len({world.match for world in worlds})
    assert sum(world.recorded for world in worlds) in (3, 4)
    everything = schedule(tournament(), purpose=RECORD, watched=frozenset({"AS0"}), keep=None)
    assert all(w.recorded and w.watched == {"AS0"} for f in everything.fixtures.values() for w in f)
    nothing = schedule(tournament(), purpose=RECORD, keep=0)
    assert not any(world.recorded for f in nothing.fixtures.values() for world in f)


def test_other_competitors_have_a_folder_of_their_own():
    """Who compares another agent with the same rival does not get into the way of the first."""
    some = (tournament(), tournament(track="oneshot"), tournament(seed=1))
    others = [replace(some[0], competitors=some[0].competitors[n:]) for n in (1, 2)]
    names = [schedule(one, purpose=COMPETE, keep=0).name for one in (*some, *others)]
    assert len({*names}) == 5
    assert names[0].startswith("official-Penguin-AS0-Xeno-Greedy-Random-")


def test_agents_can_be_named_together():
    assert catalogue.names("2025,AS0,built-ins")[:2] == ["AS0", "Xeno"]
    assert catalogue.best({2025: 2, 2024: 1}) == ["AS0", "Xeno", "Penguin"]
    assert set(catalogue.names("all")) == set(catalogue.STD)
    assert "Steward" not in catalogue.names("built-ins,2024,2025,2026")
    with pytest.raises(InputError, match="there is no SCML agent 'Pengiun'"):
        catalogue.names("Pengiun")


# --- whatever is asked for -----------------------------------------------------------------------

whatever = st.fixed_dictionaries(
    {
        "field": st.sampled_from(["official", "champions", "penguins"]),
        "players": st.integers(4, 9),
        "configs": st.integers(1, 5),
        "runs": st.integers(1, 2),
        "seed": st.integers(0, 10**6),
        "track": st.sampled_from(["std", "oneshot"]),
        "per_world": st.sampled_from([None, 4]),
    }
)


def planned(asked):
    refs = tuple(PlayerRef(f"p{index}") for index in range(asked["players"]))
    made = Tournament(
        field=asked["field"],
        competitors=refs,
        configs=asked["configs"],
        runs=asked["runs"],
        seed=asked["seed"],
        track=asked["track"],
        competitors_per_world=asked["per_world"],
    )
    return made, plan(made, purpose=COMPETE)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(asked=whatever)
def test_whatever_is_asked_for_slots_and_competitors_meet_equally_often(asked):
    made, worlds = planned(asked)
    met = Counter(
        (world.seed, world.run, slot, world.players[slot].name)
        for world in worlds
        for slot in world.slots
    )
    assert set(met.values()) == {1}
    for world in worlds:
        assert len(world.players) == sum(world.factories_per_level)
        assert all(size >= 1 for size in world.factories_per_level)
        assert len(world.factories_per_level) == 2 or asked["track"] == "std"
        names = [world.players[slot].name for slot in world.slots]
        assert len(set(names)) == len(names) <= made.most_slots
    sets = Counter(name for _, name in {(seed, name) for seed, _, _, name in met})
    assert max(sets.values()) - min(sets[ref.name] for ref in made.competitors) <= 1


@settings(max_examples=30, deadline=None, derandomize=True)
@given(asked=whatever, keep=st.integers(0, 7))
def test_worlds_kept_in_full_are_spread_over_the_tournament(asked, keep):
    made, worlds = planned(asked)
    cut = schedule(made, purpose=COMPETE, keep=keep)
    chosen = [world for key in sorted(cut.fixtures) for world in cut.fixtures[key]]
    assert [world.match for world in chosen] == [world.match for world in worlds]
    kept = [index for index, world in enumerate(chosen) if world.recorded]
    assert len(kept) <= keep
    assert len(kept) >= min(keep, len(worlds)) / 2  # every so-manieth, so at worst one of two
    assert all(len(chunk) <= 6 for chunk in cut.fixtures.values())


def test_settings_of_a_tournament_can_be_written_as_json():
    made = tournament(track="oneshot", target_worlds=7)
    told = json.loads(json.dumps(made.settings()))
    assert told["competitors"] == ["Penguin", "AS0", "Xeno", "Greedy", "Random"]
    assert (told["game"], told["track"], told["target_worlds"]) == ("scml", "oneshot", 7)


def test_an_unknown_simulator_is_answered_with_those_there_are():
    assert simulator_named("scml") == "scml"
    with pytest.raises(InputError, match="there is no simulator 'dota'; there is engine, scml"):
        simulator_named("dota")


def test_scml_cannot_conserve_stock():
    with pytest.raises(InputError, match="only --simulator engine can"):
        plan(tournament(conserve_stock=True, simulator="scml"), purpose=RECORD)
