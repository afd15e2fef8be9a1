"""The matches of a league that are worth watching, as pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.data import shards
from understudy.data.files import write_text
from understudy.data.players import PlayerRef
from understudy.data.runs import LeagueFolder, Run
from understudy.league.season import Season
from understudy.pipeline.game import Game
from understudy.pipeline.pairings import Fixture


@dataclass(frozen=True)
class LeagueReplays:
    """Pages of matches worth watching: played once more, recorded this time.

    They lie in a small run of their own, so that the game finds recordings and weights as ever.
    """

    game: Game
    season: Season
    guests: Mapping[str, PlayerRef]
    """Players that are no members of the league."""
    lines: Sequence[Mapping[str, Any]]
    """All matches that may be asked for."""

    def write(self, highlights: Sequence[Mapping[str, Any]]) -> None:
        """What is not there yet."""
        if self.game.replay is None or self.season.results != self.game.results:
            return
        watched = LeagueFolder(self.season.folder).watched
        for one in highlights:
            page = LeagueFolder(self.season.folder).replay(one["match"])
            company = [
                line
                for line in self.lines
                if (line["round"], line["players"]) == (one["round"], list(one["players"]))
            ]
            if not page.is_file() and self._record(watched, one["match"], company):
                write_text(page, self.game.replay(watched, one["match"]))

    def _record(self, watched: Run, match: str, company: Sequence[Mapping[str, Any]]) -> bool:
        """Record a match in full; whether it went as before.

        It is played in the same `company`, side by side with the same matches: a network's answer
        may differ in the last bit with how many it answers at once, and a match may depend on that.
        """
        assert self.game.play is not None
        names = company[0]["players"]
        one, other = (self.guests.get(name) or self.season.player_ref(name) for name in names)
        played = self.game.play(Fixture((one, other), tuple(line["seed"] for line in company)))
        before = {line["match"]: line["score"] for line in company}
        now = {row["match"]: row["score"] for row in played.results.to_pylist() if row["slot"] == 0}
        if now.get(match) != before[match]:
            return False
        for table in reversed(self.game.recordings):
            path = shards.shard_path(watched.recordings, table, match)
            shards.write_shard(path, played.recordings[table.name])
        for player in (one, other):
            if player.weights is not None:
                _link(watched.model(player.name), player.weights)
        return True


def _link(link: Path, target: Path) -> None:
    if not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target.resolve(), target_is_directory=True)
