"""All that the addresses of one studio work with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from understudy.studio.live.catalogue import Catalogue
from understudy.studio.live.drawing import Drawings
from understudy.studio.live.reading import Reading
from understudy.studio.live.watch import Watch
from understudy.studio.look.maker import Maker
from understudy.studio.pages import Pages


@dataclass(frozen=True)
class Studio:
    """One studio."""

    catalogue: Catalogue
    watch: Watch
    drawings: Drawings
    reading: Reading
    maker: Maker
    pages: Pages

    @staticmethod
    def of(places: Sequence[Path]) -> "Studio":
        """A studio of the runs in some folders."""
        catalogue = Catalogue(places)
        watch, drawings = Watch(catalogue), Drawings()
        reading = Reading(drawings, watch)
        return Studio(catalogue, watch, drawings, reading, Maker(), Pages())
