"""What all tests share: programs that they start find `tests` and `understudy` as they do."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.getenv("PYTHONPATH")]))
