"""Every example that a user may copy works: those of README.md and those in the commands' help.

Each is parsed as it would be when typed, up to the moment where the command would begin; then the
names in it are looked up. The cheap ones are run.
"""

import re
import shlex
from pathlib import Path
from unittest.mock import create_autospec

import pytest
import typer

import understudy as package
from tests.small_runs import understudy
from understudy import api, games
from understudy.cli.app import app
from understudy.data.own_code import is_reference
from understudy.errors import InputError
from understudy.league.sizing import AUTO

PROGRAM = typer.main.get_command(app())
ROOT = Path(__file__).parents[1]
UsageError = typer.BadParameter.__base__  # typer's own name for it is private


def blocks_of(page):
    """Language and text of each block of a page."""
    return re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


BLOCKS = blocks_of(ROOT / "README.md")


# --- Collecting ----------------------------------------------------------------------------------


def commands(group, context=None):
    """A command and all below it."""
    yield group
    context = typer.Context(group, parent=context)
    for name in group.list_commands(context) if hasattr(group, "list_commands") else ():
        yield from commands(group.get_command(context, name), context)


def leaves(group, before=()):
    """Commands that do something, by their words."""
    if not hasattr(group, "commands"):
        return {before: group}
    return {k: v for n, one in group.commands.items() for k, v in leaves(one, (*before, n)).items()}


def texts(command):
    """All that `--help` prints in words."""
    yield from filter(None, (command.help, command.epilog))
    yield from filter(None, (getattr(option, "help", None) for option in command.params))


def typed(text):
    """The commands in a text: to the end of the line, a backtick, a remark or the next `&&`."""
    for line in re.findall(r"\bunderstudy +((?:--?)?[a-z][^`\n]*)", text.replace("&& ", "\n")):
        yield (
            re.split(r"  +| #", line)[0]
            .replace("GAME", "arena")
            .replace(" RECIPE", " imitate")
            .strip()
            .removesuffix(")")
        )


def in_blocks(blocks):
    """The commands at the beginning of lines of blocks of no language."""
    return {
        line
        for language, block in blocks
        if not language
        for row in block.splitlines()
        if row.startswith("understudy ")
        for line in typed(row)
    }


IN_README = in_blocks(BLOCKS)
IN_DOCS = {
    line
    for page in (ROOT / "docs").rglob("*.md")
    if page.name != "log.md"  # which tells what was typed then
    for line in in_blocks(blocks_of(page))
}
IN_HELP = {line for command in commands(PROGRAM) for text in texts(command) for line in typed(text)}


@pytest.mark.parametrize("command", sorted(leaves(PROGRAM), key=" ".join), ids=" ".join)
def test_every_command_has_an_example_that_can_be_copied(command):
    said = leaves(PROGRAM)[command].help
    lines = [line for text in said.split("\n\n") if "\b" in text for line in text.splitlines()]
    assert any(f"understudy {' '.join(command)}" in line for line in lines), said


def test_the_examples_are_found():
    """As many as there are verbs at the least: else the collecting is broken, not the examples."""
    assert len(IN_README) > 25 and len(IN_HELP) > 15
    verbs = {line.split()[0] for line in IN_README}
    assert verbs >= {"record", "encode", "train", "compete", "league", "report", "replay"}
    assert "train arena refine-ppo --from imitate-small" in IN_README & IN_HELP
    assert "drift dota --model RUN/models/value" in IN_HELP
    assert "recipes arena" in IN_HELP


# --- Checking ------------------------------------------------------------------------------------


@pytest.fixture
def parse(monkeypatch):
    """Parse a line to the words of its command and its options; nothing is begun."""
    begun = []
    monkeypatch.setattr(
        typer.core.TyperCommand, "invoke", lambda command, context: begun.append(context)
    )

    def parse(line):
        PROGRAM.main(shlex.split(line), prog_name="understudy", standalone_mode=False)
        (context,) = begun
        return context.command_path.split()[1:], context.params

    return parse


SHIPPED = ("HRL", "shipped")
"""Models that come with the program."""
STUDIO = "human"
"""Who plays in the studio."""
GROUPS = {"scml": ("2024", "2025", "2026", "built-ins", "all")}
"""Names that stand for many players."""


def look_up(words, options):
    """Refuse a game, recipe or player that does not exist."""
    name = options.get("game") or next((word for word in words if word in games.names()), None)
    if name is None:
        return
    game = games.load(name)
    if words[0] == "league":
        assert game.league is not None, f"{name} has no league"
        assert options["recipe"] in {*game.league().recipes, AUTO}, (
            f"no league '{options['recipe']}'"
        )
    elif options.get("recipe") not in (None, *games.commands(name).tuned):
        game.recipe(options["recipe"])
    for model in (options.get("start"), options.get("init"), options.get("model")):
        if model is not None and "," not in str(model) and model not in SHIPPED:  # else: runs
            game.recipe(Path(model).name)
    for option in ("players", "opponents", "agents", "track_only"):
        for player in named(options.get(option)):
            assert player in {*game.players, *game.recipes(), *GROUPS.get(name, ()), STUDIO}, (
                f"who is {player}?"
            )


def named(value):
    """Players by name; the reader's own, in a file, need not be known."""
    names = value.split(",") if isinstance(value, str) else value or ()
    return [name for name in names if not is_reference(name)]


def check(parse, line):
    look_up(*parse(line))


@pytest.mark.parametrize("line", sorted(IN_README | IN_DOCS | IN_HELP))
def test_an_example_could_be_typed(parse, line):
    check(parse, line)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("trian arena imitate", "trian"),
        ("record chess", "no game 'chess' to record"),
        ("compete dota Penguin", "dota has no compete; there is arena, scml"),
        ("train chess imitate", "no game 'chess'"),
        ("train arena imitait", "no recipe 'imitait'"),
        ("train arena refine --from imitait", "no recipe 'imitait'"),
        ("train scml dagger --init runs/scml/models/hrl", "no recipe 'hrl'"),
        ("league arena --recipe quickly", "no league 'quickly'"),
        ("league dota --recipe quick", "dota has no league"),
        ("compete arena imitate export", "who is export"),
        ("compete scml Pengiun AS0", "who is Pengiun"),
        ("record scml --agents Penguin --track-only AS1", "who is AS1"),
        ("record arena --games 4", "--games"),
        ("record arena --matches many", "valid integer"),
        ("recommend dota --minute 15", "Missing parameter: match"),
        ("encode arena samples", "samples"),
    ],
)
def test_an_example_that_is_wrong_is_found(parse, line, says):
    with pytest.raises((InputError, AssertionError, UsageError), match=says):
        check(parse, line)


# --- Running -------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["recipes arena", "--version", "--help", "record scml --help"])
def test_a_cheap_example_is_run(line):
    done = understudy(line)
    assert (done.code, done.err) == (0, "")
    assert done.out.strip()


@pytest.mark.parametrize("block", [text for language, text in BLOCKS if language == "python"])
def test_python_in_the_readme_runs(block, monkeypatch):
    """What takes minutes is only called: its names and arguments must be right."""
    for name in ("record", "encode", "train", "compete", "league", "load_policy", "replay"):
        monkeypatch.setattr(package, name, create_autospec(getattr(api, name)))
    exec(compile(block, "README.md", "exec"), {})
