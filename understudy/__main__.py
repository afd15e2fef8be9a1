"""`understudy` and `python -m understudy`."""

import os
import signal
import subprocess
import sys


def main() -> None:
    """Run the command line, the order of sets fixed whatever a user set: moves depend on it."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        if os.name == "nt":  # whose execv would end this process before the new one is done
            os.environ["PYTHONUTF8"] = "1"  # texts are written and read in UTF-8 everywhere
            sys.exit(subprocess.call([sys.executable, *sys.orig_argv[1:]]))
        os.execv(sys.executable, sys.orig_argv)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback of imports that were stopped
    from understudy import cli

    cli.main()


if __name__ == "__main__":
    main()
