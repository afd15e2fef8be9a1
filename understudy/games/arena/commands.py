"""The arena on the command line: as any game of two."""

from understudy.games.two_player import commands as of_two
from understudy.terminal.commands import Commands


def commands_of(name: str) -> Commands:
    """All that the arena and its variants have: what every game of two has."""
    return of_two.commands_of(name)


COMMANDS = commands_of("arena")
record, compete = COMMANDS.verbs["record"], COMMANDS.verbs["compete"]
