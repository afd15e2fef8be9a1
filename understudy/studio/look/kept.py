"""Pages that were made, kept as files until what they show has changed; the oldest make room."""

import contextlib
import hashlib
import re
from pathlib import Path

from starlette.responses import HTMLResponse

from understudy.data.runs import MANIFEST, Run
from understudy.studio.access import POLICY

MOST_BYTES = 400 << 20
_META = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">')


class KeptPages:
    """A folder of pages."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def place(self, run: Run, kind: str, key: str) -> Path:
        """Where a page lies, if it was made of what is there now."""
        manifests = sorted((*run.folder.glob(f"*/{MANIFEST}"), *run.folder.glob(f"*/*/{MANIFEST}")))
        stamps = [f"{path}{path.stat().st_mtime_ns}" for path in manifests if path.is_file()]
        told = "\0".join([str(run.folder), kind, key, *stamps])
        return self._folder / f"{hashlib.blake2b(told.encode(), digest_size=16).hexdigest()}.html"

    def answer(self, place: Path) -> HTMLResponse:
        """A page of ours: it may what its own head allows, by hash, and nothing else."""
        text = place.read_text(encoding="utf-8")
        with contextlib.suppress(OSError):
            place.touch()  # those looked at last stay
        found = _META.search(text[:5000])
        policy = found[1] if found else "default-src 'none'"
        return HTMLResponse(text, headers={POLICY.decode(): f"{policy}; frame-ancestors 'none'"})

    def make_room(self) -> None:
        """Delete the oldest pages beyond what may be kept."""
        try:
            known = [(path.stat(), path) for path in self._folder.glob("*.html")]
        except OSError:
            return
        total = 0
        for about, path in sorted(known, key=lambda one: -one[0].st_mtime):
            total += about.st_size
            if total > MOST_BYTES:
                path.unlink(missing_ok=True)
