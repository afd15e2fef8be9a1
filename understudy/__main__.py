"""`understudy` and `python -m understudy`."""

import os
import sys


def main() -> None:
    """Run the command line, the order of sets fixed whatever a user set: moves depend on it."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, sys.orig_argv)
    from understudy import cli

    cli.main()


if __name__ == "__main__":
    main()
