"""The command line. It parses and prints; the work is in `pipeline`, and in games' own commands."""

from understudy.cli.app import main as main
