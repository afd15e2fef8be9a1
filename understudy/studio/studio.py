"""All that the addresses of one studio work with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import loky

from understudy.studio.live.catalogue import Catalogue
from understudy.studio.live.drawing import Drawings
from understudy.studio.live.reading import Reading
from understudy.studio.live.watch import Watch
from understudy.studio.look.kept import KeptPages
from understudy.studio.look.maker import Maker
from understudy.studio.pages import Pages
from understudy.studio.play.table import Tables
from understudy.studio.work.jobs import Jobs
from understudy.studio.work.queue import Queue

KEPT = ".studio"
"""The folder beside the runs where the studio keeps jobs and pages."""
Command = Callable[..., Any]


@dataclass(frozen=True)
class Studio:
    """One studio."""

    catalogue: Catalogue
    watch: Watch
    drawings: Drawings
    reading: Reading
    maker: Maker
    pages: Pages
    queue: Queue
    kept: KeptPages
    tables: Tables
    uploads: Path
    """Where files that people send are put."""
    command: Callable[[str, str], Command]
    """The command of a verb for a game, by its signature."""

    @staticmethod
    def of(
        places: Sequence[Path], command: Callable[[str, str], Command], cores: int | None = None
    ) -> "Studio":
        """A studio of the runs in some folders; by default it may use all cores."""
        catalogue = Catalogue(places)
        watch, drawings = Watch(catalogue), Drawings()
        home = catalogue.home / KEPT
        return Studio(
            catalogue=catalogue,
            watch=watch,
            drawings=drawings,
            reading=Reading(drawings, watch),
            maker=Maker(),
            pages=Pages(),
            queue=Queue(Jobs(home / "jobs"), watch, cores or int(loky.cpu_count())),
            kept=KeptPages(home / "pages"),
            tables=Tables(home / "play.log"),
            uploads=home / "uploads",
            command=command,
        )
