"""SCML: factories in a supply chain negotiate what to buy and sell (ANAC's supply-chain league)."""

import os
import tempfile
from pathlib import Path

# scml and its agents import matplotlib, and negmas logs, below the home directory unless told not
# to. This runs before either is imported, because every module that imports them lies below here.
_USER = getattr(os, "getuid", lambda: os.environ.get("USERNAME"))()  # Windows has only names
_SCRATCH = Path(tempfile.gettempdir()) / f"understudy-scml-{_USER}"
os.environ.setdefault("MPLCONFIGDIR", str(_SCRATCH / "matplotlib"))
os.environ.setdefault("NEGMAS_LOG_BASE", str(_SCRATCH / "negmas"))
