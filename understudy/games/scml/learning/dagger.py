"""DAgger: the agent plays, an expert says what it would have done, and the agent learns that too.

What was cloned from recordings goes astray in states the expert never gets into. Here the agent's
own games are played, labelled by the expert that looks on (`dagger_labeller.py`), and added to the
samples; then L3 is trained on, on all of them. Each round plays with the weights of the one before.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from understudy import workers
from understudy.data.elsewhere.gather import link
from understudy.data.files import write_bytes
from understudy.data.integrity.json_files import write_json
from understudy.data.own_code import is_reference
from understudy.data.players import PlayerRef
from understudy.data.runs import RECORD, WEIGHTS, ModelFolder, Run
from understudy.data.shards import (
    read_shard,
    shard_path,
    shard_paths,
    whole_shards,
    write_shard,
)
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from understudy.games.scml.domain import Track
from understudy.games.scml.learning.backfill import fill_goals
from understudy.games.scml.learning.dataset import risk_of
from understudy.games.scml.learning.l3 import OfferRecipe
from understudy.games.scml.learning.layer_recipe import GOALS_FILE, first_weights
from understudy.games.scml.learning.samples import DAY_START_SAMPLES, ROUND_SAMPLES
from understudy.games.scml.players import catalogue
from understudy.games.scml.players.resolve import own_agent
from understudy.games.scml.tournament.design import Tournament, WorldPlan
from understudy.games.scml.tournament.schedule import schedule
from understudy.learn.base import read_evaluation
from understudy.learn.recipe import Inputs, TrainingJob, TrainOptions


def cloned(samples: Path) -> str:
    """The player whose decisions the samples are; InputError unless it is one."""
    found = set[str]()
    for path in shard_paths(samples, ROUND_SAMPLES):
        found |= set(read_shard(path, ROUND_SAMPLES, ["player"])["player"].unique().to_pylist())
    if len(found) == 1:
        return found.pop()
    raise InputError(
        f"{samples} holds decisions of {', '.join(sorted(found)) or 'nobody'}; say which expert is "
        "to look on: --expert NAME"
    )


class _Task(NamedTuple):
    """Worlds to be played and encoded by one worker."""

    plans: tuple[WorldPlan, ...]
    player: str
    folder: Path
    key: str
    risk: float


@dataclass(frozen=True, kw_only=True)
class DaggerRecipe:
    """Rounds of playing and training."""

    description: str
    l3: OfferRecipe
    """Each round's training; it begins with the weights of the round before."""
    expert: str | None = None
    """Who looks on: by name, or code of somebody's own. None: whose decisions the samples are."""
    rounds: int = 2
    """Of playing and training. Up: what it goes astray in is labelled again."""
    configs: int = 60
    """Configurations played in each round, with two competitors in two worlds each."""
    company: str = "Penguin"
    """Whom it plays against, by name."""
    track: Track = "std"
    """Which league's worlds."""
    start: str = "l3"
    """The model of the run to begin with."""
    init: Path | None = None
    """The model to begin with instead, its folder or file."""

    comparable: ClassVar = False
    """What it is judged by holds games of its own."""

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.configs < 1:
            raise ValueError("rounds and configs must be at least 1")

    def settings(self) -> dict[str, Any]:
        """All that decides what comes out beside the inputs."""
        names = ("expert", "rounds", "configs", "company", "track")
        chosen = {name: getattr(self, name) for name in names}
        return {**chosen, "l3": self.l3.settings()}

    def with_options(self, name: str, options: TrainOptions) -> "DaggerRecipe":
        """It may begin with given weights, and ask another expert."""
        return replace(self, **options.taken_by(name, "init", "expert"))

    def inputs(self, run: Run) -> Inputs:
        """The samples, the L2 whose goals are in them, and the weights to begin with."""
        goals = run.samples / GOALS_FILE
        return {
            "weights": [self._first(run)],
            "samples": whole_shards(run.samples, (DAY_START_SAMPLES, ROUND_SAMPLES)),
            "goals": [goals] if goals.is_file() else [],
        }

    def _first(self, run: Run) -> Path:
        found = first_weights(run, self.start, self.init)
        assert found is not None  # there is a `start`
        return found

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Play and train in folders below the job's; what is done is not done again."""
        if (evaluation := read_evaluation(job.out)) is not None:
            return evaluation
        given, current = job.run.samples, self._first(job.run)
        expert = self.looking_on(given)
        first = read_checkpoint(current)
        if (risk := risk_of(given)) != first.about.risk:
            raise InputError(
                f"{current} plays with a risk of {first.about.risk:g}, the samples have {risk:g}. "
                f"Encode them with it: understudy encode scml --risk {first.about.risk:g} --fresh"
            )
        if first.about.goals and not (given / GOALS_FILE).is_file():
            # what it begins with knows goals, so all samples must
            filled = ModelFolder(job.out).samples
            fill_goals(given, filled, current)
            given = filled
        for number in range(1, self.rounds + 1):
            folder = job.out / f"round-{number}"
            seed = 1000 * job.seed + number
            self._play(current, expert, folder / "played", seed, job.workers, risk)
            _fill(given, folder)
            given = _gather(given, folder)
            results = self.l3.train(given, current, replace(job, out=folder / "model"))
            current = folder / "model"
        last, results = read_checkpoint(current), {**results, "expert": expert.name}
        kept = {name: layer for name, layer in first.layers.items() if name == "l4"}
        write_checkpoint(job.out / WEIGHTS, Checkpoint({**kept, **last.layers}, last.about))
        write_json(ModelFolder(job.out).evaluation, results)
        return results

    def judge(self, job: TrainingJob, split: str) -> dict[str, Any]:
        """What L3 is worth on a split of all it learnt from in the last round."""
        last = ModelFolder(job.out / f"round-{self.rounds}").samples
        return self.l3.judged(last, job, split)

    def looking_on(self, samples: Path) -> PlayerRef:
        """The expert that is asked: the one that was cloned, unless another was named."""
        chosen = self.expert or cloned(samples)
        if is_reference(chosen):
            return own_agent(chosen, list(catalogue.CATALOGUE[self.track]), self.track)
        if self.expert is None and chosen not in catalogue.CATALOGUE[self.track]:
            raise InputError(
                f"the samples are of {chosen}, who is not in the catalogue. Say where its code is, "
                f"or ask another: --expert FILE.py:{chosen}"
            )
        return PlayerRef(catalogue.known(chosen, self.track))

    def _play(
        self,
        weights: Path,
        expert: PlayerRef,
        folder: Path,
        seed: int,
        worker: str | int | None,
        risk: float,
    ) -> None:
        player = PlayerRef(f"dagger+{expert.name}", weights.resolve(), expert.code)
        tournament = Tournament(
            field="official",
            competitors=(player, PlayerRef(self.company)),
            configs=self.configs,
            track=self.track,
            seed=seed,
        )
        planned = schedule(tournament, purpose=RECORD, watched=frozenset({player.name}), keep=None)
        folder.mkdir(parents=True, exist_ok=True)
        tasks = {
            key: _Task(plans, player.name, folder.resolve(), key, risk)
            for key, plans in planned.fixtures.items()
        }

        def is_done(key: str) -> bool:
            return shard_path(folder, ROUND_SAMPLES, key).is_file()

        outcomes = workers.run(
            _play_and_encode,
            tasks,
            workers=worker,
            title="playing",
            is_done=is_done,
            ship=lambda task: workers.Shipment(task.folder),
            put=write_bytes,
            quiet=True,
        )
        failed = [outcome for outcome in outcomes if outcome.error is not None]
        if failed:
            raise InputError(f"a world could not be played: {failed[0].error}")


def _play_and_encode(task: _Task) -> None:
    from understudy.games.scml.learning.encode import encode
    from understudy.games.scml.tournament.play import play

    recordings = play(task.plans).recordings
    samples = encode(recordings, frozenset({task.player}), task.risk)
    for table in (DAY_START_SAMPLES, ROUND_SAMPLES):  # the latter marks the task as done
        write_shard(shard_path(task.folder, table, task.key), samples[table.name])


def _fill(given: Path, folder: Path) -> None:
    """L2's goals into what was played, if what was given has them."""
    if (given / GOALS_FILE).is_file():
        fill_goals(folder / "played", folder / "played", given / GOALS_FILE)


def _gather(given: Path, folder: Path) -> Path:
    """A folder with all samples: those given, and those just played."""
    together = ModelFolder(folder).samples
    together.mkdir(parents=True, exist_ok=True)
    for path in shard_paths(given, ROUND_SAMPLES):
        link(path, together / path.name)
    for path in shard_paths(folder / "played", ROUND_SAMPLES):
        link(path, together / path.name.replace("-", f"-{folder.name}-", 1))
    if (given / GOALS_FILE).is_file():
        link(given / GOALS_FILE, together / GOALS_FILE)
    return together
