"""Forms to command lines that the command line itself understands, and back from manifests."""

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.cli.studio import verb_of
from understudy.errors import InputError
from understudy.studio.sent import Sent
from understudy.studio.work.commands import command_of, cores_of, remembered
from understudy.studio.work.fields import Field, ToldSetting, fields_of, setting_fields

RUN = Path("runs/a")
STEPS = ToldSetting("steps", "2000", "whole", (), "how long")
KIND = ToldSetting("objective.kind", "a", "choice", ("a", "b"), "which")


def line(verb, told, game="arena", settings=()):
    fields = fields_of(verb_of(verb, game), game, [one for one in ("dota", "scml") if one != game])
    given = Sent({name: [value] for name, value in told.items()})
    return shlex.join(command_of(verb, game, RUN, fields, setting_fields(settings), given))


@pytest.mark.parametrize(
    ("verb", "told", "wanted"),
    [
        ("train", {"recipe": "imitate"}, "train arena imitate --out runs/a"),
        (
            "train",
            {"recipe": "imitate", "of:seed": "3", "of:start": "b c", "set:steps": "2000"},
            "train arena imitate --out runs/a '--from=b c' --seed=3",
        ),
        (
            "train",
            {"recipe": "imitate", "set:steps": "9", "set:objective.kind": "b", "fresh": "on"},
            "train arena imitate --out runs/a --set steps=9 --set objective.kind=b --fresh",
        ),
        (
            "compete",
            {"of:players": "imitate, expert kiter", "of:matches": "400"},
            "compete arena imitate expert kiter --out runs/a",
        ),
        ("record", {"of:matches": "12", "of:seed": "0"}, "record arena --out runs/a --matches=12"),
        ("league", {"recipe": "full"}, "league arena --out runs/a --recipe=full"),
    ],
)
def test_a_form_is_its_command_line(verb, told, wanted):
    assert line(verb, told, settings=(STEPS, KIND)) == wanted


def test_a_switch_that_is_not_ticked_says_so_only_where_it_was_asked():
    told = {"of:agents": "Penguin"}
    assert "round-robin" not in line("record", told, "scml")
    asked = told | {"asked:of:round_robin": "1", "asked:of:trace": "1"}
    found = line("record", asked, "scml")
    assert "--no-round-robin" in found
    assert "trace" not in found
    assert "--trace" in line("record", asked | {"of:trace": "on"}, "scml")


def test_only_options_of_the_game_are_asked_for_and_no_paths():
    names = {one.name for one in fields_of(verb_of("train", "arena"), "arena", ["dota", "scml"])}
    assert {"recipe", "seed", "start", "workers"} <= names
    assert not names & {"test_patch", "expert", "out", "init", "settings", "quiet", "wait"}


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({}, "recipe is missing"),
        ({"recipe": "--help"}, "looks like an option"),
        ({"recipe": "a", "of:seed": "x"}, "a whole number"),
        ({"recipe": "a", "of:seed": "-1"}, "at least 0"),
        ({"recipe": "a", "of:pseudo_reward": "much"}, "a number"),
        ({"recipe": "a", "set:objective.kind": "c"}, "one of a, b"),
        ({"recipe": "a", "of:start": "x\x1b[2J"}, "cannot be"),
        ({"recipe": "a", "of:start": "x" * 600}, "cannot be"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(told, words):
    with pytest.raises(InputError, match=words):
        line("train", told, settings=(STEPS, KIND))


@given(st.text(max_size=40))
def test_no_value_becomes_an_option_of_its_own(value):
    """Whatever is typed stays within its option."""
    field = Field("start", "text", "", "", option="--from")
    try:
        words = command_of("train", "arena", RUN, [field], [], Sent({"of:start": [value]}))
    except InputError:
        return
    extra = [word for word in words[4:] if not word.startswith("--from=")]
    assert extra == []


def test_a_manifests_command_goes_on_where_the_run_lies_now():
    command = ["/x/understudy", "train", "arena", "imitate", "-o", "old", "--fresh", "--seed", "2"]
    assert remembered(command, RUN) == [
        *("train", "arena", "imitate", "--seed", "2", "--out", "runs/a")
    ]
    assert remembered(["u", "encode", "arena", "--out=old"], RUN)[-2:] == ["--out", "runs/a"]


@pytest.mark.parametrize(
    "command",
    [
        *([], ["understudy"], ["understudy", "studio"], ["sh", "-c", "rm"], ["u", "selftest"]),
        *(["u", "train", "--api-key", "***"], ["u", "train", "a\nb"], ["u", "train"] * 200),
    ],
)
def test_what_is_no_stage_of_a_run_is_not_gone_on_with(command):
    with pytest.raises(InputError):
        remembered(command, RUN)


def test_a_job_takes_the_cores_it_says():
    assert cores_of(["train", "--workers=3"], 8) == 3
    assert cores_of(["train", "--workers", "0"], 8) == 1
    assert cores_of(["train", "--workers", "99"], 8) == 8
    assert cores_of(["train", "--workers=tcp://x:1"], 8) == 1
    assert cores_of(["train"], 8) == 8
