"""Facts about heroes, items and patches: as they are made, and as they are read."""

import csv
import json
from datetime import UTC, datetime

import pytest

from understudy.games.dota import facts
from understudy.games.dota.facts import make


def constants(folder):
    """A package of constants with two heroes, two items and a patch."""
    heroes = {
        "7": {"id": 7, "name": "npc_dota_hero_b", "localized_name": "Bee", "roles": ["Carry"]},
        "2": {"id": 2, "name": "npc_dota_hero_a", "localized_name": "Ay"},
    }
    items = {
        "sword": {"id": 9, "dname": "The Sword", "cost": 900, "components": ["hilt", "blade"]},
        "old_hilt": {"id": 3, "dname": None, "cost": None, "components": None, "tier": 2},
    }
    patches = [{"id": 57, "name": "7.38", "date": "2025-02-19T01:02:03Z"}]
    for name, content in (("heroes", heroes), ("items", items), ("patch", patches)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_tables_are_made_in_order_of_their_numbers(tmp_path):
    make.make(constants(tmp_path), tmp_path)

    def rows(name):
        with (tmp_path / name).open(newline="") as file:
            return list(csv.DictReader(file))

    first, second = rows("heroes.csv")
    assert first == {"id": "2", "key": "npc_dota_hero_a", "name": "Ay"}
    assert second == {"id": "7", "key": "npc_dota_hero_b", "name": "Bee"}
    hilt, sword = rows("items.csv")
    assert hilt == {
        **{"id": "3", "key": "old_hilt", "name": "Old Hilt", "cost": "0"},
        **{"neutral_tier": "2", "components": ""},
    }
    assert sword["name"] == "The Sword" and sword["components"] == "hilt blade"
    assert rows("patches.csv") == [{"id": "57", "name": "7.38", "date": "2025-02-19"}]


def test_what_is_made_is_read_as_facts(tmp_path, monkeypatch):
    make.make(constants(tmp_path), tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(facts, "files", lambda package: tmp_path)
        heroes, items, patches = (
            part.__wrapped__() for part in (facts.heroes, facts.items, facts.patches)
        )
    assert list(heroes) == [2, 7] and heroes[7] == facts.Hero(7, "npc_dota_hero_b", "Bee")
    assert items["old_hilt"].neutral and not items["sword"].neutral
    assert items["sword"].components == ("hilt", "blade") and items["sword"].cost == 900
    assert patches[57] == facts.Patch(57, "7.38", "2025-02-19")


def test_names_and_numbers_of_patches_undo_each_other():
    for number, patch in facts.patches().items():
        assert facts.patch_number(facts.patch_name(number)) == number == patch.number
    dates = [patch.date for patch in facts.patches().values()]
    assert dates == sorted(dates)


@pytest.mark.parametrize("number", [54, 57, 60])
def test_a_patch_is_out_from_its_day_on(number):
    day = datetime.fromisoformat(facts.patches()[number].date).replace(tzinfo=UTC)
    second = int(day.timestamp())
    assert facts.patch_on(second) == number and facts.patch_on(second - 1) == number - 1


def test_heroes_and_items_go_by_what_matches_call_them():
    for number, one in facts.heroes().items():
        assert one.number == number and one.key.startswith("npc_dota_hero_")
    keys = [one.key for one in facts.heroes().values()]
    numbers = [item.number for item in facts.items().values()]
    assert len(set(keys)) == len(keys) and len(set(numbers)) == len(numbers)
    assert all(item.key == key and item.cost >= 0 for key, item in facts.items().items())
