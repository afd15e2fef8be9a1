"""Help lists every command once, where one would look for it."""

import click
import typer

from understudy.cli.app import app
from understudy.cli.sections import OTHER, SECTIONS, sections_of


def test_every_command_of_ours_stands_in_exactly_one_section():
    names = list(typer.main.get_command(app()).commands)
    found = sections_of(names)
    assert found.pop(OTHER) == []
    assert sorted(name for section in found.values() for name in section) == sorted(names)


def test_a_command_that_no_section_knows_comes_last():
    found = sections_of(["compete", "bluff", "record"])
    assert found["From recordings to an agent"] == ["record", "compete"]
    assert list(found) == [*SECTIONS, OTHER]
    assert found[OTHER] == ["bluff"]


def test_help_says_whole_sentences():
    group = typer.main.get_command(app())
    context = click.Context(group, info_name="understudy", terminal_width=80)
    listed = group.get_help(context).split("step by step")[0]
    assert "..." not in listed.replace("[ARGS]...", "")
    assert listed.index("record ") < listed.index("encode ") < listed.index("compete ")


def test_verbs_of_single_games_show_a_line_to_copy_for_each():
    group = typer.main.get_command(app())
    for verb, line in {
        "compete": "understudy compete scml Penguin AS0 built-ins --configs 100",
        "record": "understudy record dota --files matches/",
        "exploitability": "understudy exploitability openspiel:leduc_poker imitate refine",
    }.items():
        context = click.Context(group.commands[verb], info_name=verb, terminal_width=80)
        text = group.commands[verb].get_help(context)
        assert f"\n      {line}\n" in f"{text}\n" and "..." not in text.replace("[ARGS]...", "")
