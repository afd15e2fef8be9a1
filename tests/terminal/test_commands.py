"""Commands as typer reads them: options one by one, however they are held together."""

from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Annotated

import typer
from typer.testing import CliRunner

from understudy.terminal.commands import added_options, typed


@dataclass(frozen=True)
class Pace:
    steps: Annotated[int, typer.Option(help="How many.")] = 3
    slow: Annotated[bool, typer.Option("--slow", help="Take time.")] = False


def walk(
    where: Annotated[str, typer.Argument(help="Whereto.")],
    pace: Pace = Pace(),  # noqa: B008
    seed: Annotated[int, typer.Option(help="Of chance.")] = 0,
    **told,
):
    """Go somewhere."""
    print(where, pace, seed, sorted(told.items()))


def boots(game: str, size: Annotated[int | None, typer.Option(help="Of boots.")] = None):
    return {"size": size} if game == "hike" else {}


def run(command, *typed_words):
    app = typer.Typer()
    app.command()(command)
    done = CliRunner().invoke(app, typed_words)
    assert done.exit_code == 0, done.output
    return done.output


def test_options_that_stand_together_are_typed_one_by_one():
    command = typed(walk)
    assert list(signature(command).parameters) == ["where", "steps", "slow", "seed"]
    assert run(command, "home", "--slow", "--seed", "4") == ("home Pace(steps=3, slow=True) 4 []\n")
    assert run(command, "home", "--steps", "8") == "home Pace(steps=8, slow=False) 0 []\n"


def test_help_is_that_of_the_function_and_of_every_option():
    said = run(typed(walk), "--help")
    for words in ("Go somewhere.", "Whereto.", "How many.", "Take time.", "Of chance."):
        assert words in said
    assert "pace" not in said.lower() and "told" not in said


def test_examples_stay_on_lines_of_their_own():
    def stroll():
        """Go slowly.

        Example: understudy stroll
        """

    before, _, example = typed(stroll).__doc__.partition("\b\n")
    assert before.strip() == "Go slowly." and example.strip() == "Example: understudy stroll"


def test_options_of_games_stand_in_place_of_what_else_is_told():
    added = added_options(boots)
    assert [option.name for option in added] == ["size"]  # not which game was named
    command = typed(walk, added)
    assert run(command, "home", "--size", "44").endswith("0 [('size', 44)]\n")
    assert run(command, "home").endswith("0 [('size', None)]\n")


def test_the_function_itself_is_called_as_before(capsys):
    typed(walk)
    walk("home", Pace(1), 2, size=3)
    assert capsys.readouterr().out == "home Pace(steps=1, slow=False) 2 [('size', 3)]\n"
    assert signature(walk).parameters["told"].kind is Parameter.VAR_KEYWORD
