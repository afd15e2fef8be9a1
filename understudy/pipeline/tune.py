"""Better settings of a recipe: trials one after the other, each a training that is judged.

A trial is judged by the validation split, or by matches that serve to choose and nothing else;
what is left for the final word, the test split and the matches of `compete`, is never looked at.
Trial 0 is the recipe as it is. What Optuna (TPE, Bergstra et al. 2011) draws for a trial depends on
the seed and on the trials before alone, so a study that was killed goes on exactly as it would
have: finished trials are read, the one that was running goes on with its training.

    RUN/tuning/NAME/trials.jsonl   a line per trial   trials/000/ ...   its model   summary.json
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from understudy import extras, workers
from understudy.data.files import read_bytes, write_text
from understudy.data.integrity.json_files import (
    fitting_together,
    json_line,
    read_lines,
    write_json,
)
from understudy.data.integrity.shapes import TuningTrial
from understudy.data.players import Contender, PlayerRef
from understudy.data.results import read_results
from understudy.data.runs import PART, Run, TuningFolder, begin, finish
from understudy.errors import InputError
from understudy.learn.recipe import Judged, Recipe, TrainingJob, TrainOptions
from understudy.learn.search_space import Tried, as_settings, space
from understudy.learn.settings import changed, settings_of
from understudy.pipeline.game import Game
from understudy.pipeline.pairings import to_tune
from understudy.pipeline.players import contender
from understudy.pipeline.record import play
from understudy.pipeline.tasks import Workers
from understudy.pipeline.train import asked_for, fitted


@dataclass(frozen=True)
class Trial:
    """One of the trainings."""

    number: int
    settings: dict[str, Any]
    """What was tried, by name."""
    value: float | None
    """Validation loss, or points; None: it could not be trained."""
    fault: str = ""
    """Why not."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is to be tried, and how it is judged."""

    game: Game
    run: Run
    recipe: str
    tried: tuple[Tried, ...]
    by: str
    """val: by the validation split (lowest loss); play: by matches (most points)."""
    chosen: Recipe
    """The recipe as it is, which the trials change."""
    field: tuple[Contender, ...] = ()
    """Whom everybody meets."""
    matches: int = 200
    """Against each of them."""
    trials: int = 20
    seed: int = 0
    device: str = "cpu"
    worker: Workers = None
    name: str | None = None

    @property
    def folder(self) -> TuningFolder:
        """Where everything of it lies."""
        return TuningFolder(self.run.tuning(self.name or self.recipe))

    @property
    def called(self) -> str:
        """As messages call it."""
        return f"{self.game.name} {self.recipe}"

    def settings(self) -> dict[str, Any]:
        """What decides the trials; how many there are may grow."""
        how = {"field": [one.name for one in self.field], "matches": self.matches}
        return {
            "game": self.game.name,
            "recipe": self.recipe,
            "tried": [asdict(one) for one in self.tried],
            "by": self.by,
            **(how if self.by == "play" else {}),
            "trials": self.trials,
            "seed": self.seed,
            **self.chosen.settings(),
        }


def plan(
    game: Game,
    run: Run,
    recipe: str,
    *,
    tried: Sequence[str] = (),
    settings: Sequence[str] = (),
    by: str | None = None,
    against: Sequence[str] = (),
    options: TrainOptions | None = None,
    **how: Any,
) -> Study:
    """A study of a recipe; InputError where it could not say which trial is better."""
    chosen = asked_for(game, run, recipe, settings, options or TrainOptions())
    called = f"{game.name} {recipe}"
    found = space(chosen, tried, called)
    by = by or ("play" if _plays(chosen) else "val")
    if by not in ("val", "play"):
        raise InputError(f"--by {by}: trials are judged by val (the validation split) or by play")
    if by == "val":
        _require_comparable(chosen, found, called)
        field: tuple[Contender, ...] = ()
    else:
        field = _field(game, run, chosen, against, called)
    return Study(
        game=game, run=run, recipe=recipe, tried=found, by=by, chosen=chosen, field=field, **how
    )


def _plays(recipe: Recipe) -> bool:
    from understudy.learn.rl.recipe import RLRecipe

    return isinstance(recipe, RLRecipe)


def _require_comparable(recipe: Recipe, tried: Sequence[Tried], called: str) -> None:
    """InputError unless the validation loss says which of two trials is better."""
    if not isinstance(recipe, Judged) or not getattr(recipe, "comparable", True):
        raise InputError(
            f"what '{called}' yields is not compared by the validation split: it learns from its "
            "own play. Try its settings with --set and let the models compete"
        )
    for one in tried:
        owner: Any = recipe
        for part in one.name.split("."):
            if part in getattr(owner, "measure", ()):
                raise InputError(
                    f"--try {one.name}: it changes what the validation loss of '{called}' "
                    "measures, so that trials would not compare. Let them play: --by play"
                )
            owner = owner.get(part) if isinstance(owner, Mapping) else getattr(owner, part, None)


def _field(
    game: Game, run: Run, recipe: Any, against: Sequence[str], called: str
) -> tuple[Contender, ...]:
    """Whom trials meet: those named, or the model all begin with and the scripted players."""
    if game.play is None or "opponent" not in {one.name for one in game.results.columns}:
        raise InputError(f"'{called}' is not judged by play: {game.name} is no game of two")
    if not _makes_players(recipe):
        raise InputError(f"'{called}' makes no player; judge its trials by the validation split")
    start = getattr(recipe, "start", None)
    names = list(against) or [*([start] if start else []), *game.players]
    refs = [contender(game, run, one) for one in names]
    return tuple(dict.fromkeys(refs))


def _makes_players(recipe: Recipe) -> bool:
    from understudy.learn.supervised.recipe import PolicyRecipe

    return _plays(recipe) or isinstance(recipe, PolicyRecipe)


# --- Trials --------------------------------------------------------------------------------------


def tune(
    study: Study,
    *,
    resume: bool = True,
    tell: Callable[[Trial], None] | None = None,
) -> dict[str, Any]:
    """Go through a study, or on with it; the best trial, beside the recipe as it is.

    `tell` hears of every trial, also of those that were done before.
    """
    optuna, tell = _optuna(), tell or (lambda trial: None)
    workers.parse(study.worker)
    folder, settings = study.folder, study.settings()
    begin(folder.folder, "tune", settings, resume=resume, growing=("trials",))
    done = read_trials(folder)[: study.trials]
    for trial in done:
        tell(trial)
    while len(done) < study.trials:
        trial = _tried(study, len(done), drawn(optuna, study, done))
        done.append(trial)
        write_text(folder.trials, "".join(json_line(asdict(one)) for one in done))
        tell(trial)
    summary = _summary(study, done)
    write_json(folder.summary, summary)
    finish(folder.folder, **summary)
    return summary


def _optuna() -> Any:
    extras.require(["optuna"], "understudy tune")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def read_trials(folder: TuningFolder) -> list[Trial]:
    """Those that are finished, in order."""
    path = folder.trials
    cure = "Start over with --fresh"
    with fitting_together(path, cure):
        found = [Trial(**line) for line in read_lines(path, TuningTrial, cure)]
    content = read_bytes(path) or b"\n"
    if [one.number for one in found] != list(range(len(found))) or not content.endswith(b"\n"):
        raise InputError(f"{path} is damaged (trials are missing or not in their order). {cure}")
    return found


def drawn(optuna: Any, study: Study, done: Sequence[Trial]) -> dict[str, Any]:
    """What to try next: the recipe as it is, then what Optuna makes of the trials before."""
    if not done and (as_it_is := _as_it_is(study)) is not None:
        return as_it_is
    distributions = {one.name: _distribution(optuna, one) for one in study.tried}
    sampler = optuna.samplers.TPESampler(seed=1_000_003 * study.seed % 2**32 + len(done))
    direction = "minimize" if study.by == "val" else "maximize"
    asked = optuna.create_study(sampler=sampler, direction=direction)
    for one in done:
        if one.value is not None:
            asked.add_trial(
                optuna.trial.create_trial(
                    params=one.settings, distributions=distributions, value=one.value
                )
            )
    found = asked.ask(distributions).params
    return {one.name: one.rounded(found[one.name]) for one in study.tried}


def _as_it_is(study: Study) -> dict[str, Any] | None:
    """The recipe's own values, if all of them are among those to be tried."""
    known = {one.name: one for one in settings_of(study.chosen)}
    own = {
        one.name: known[one.name].written if one.values else known[one.name].value
        for one in study.tried
    }
    return own if all(one.holds(own[one.name]) for one in study.tried) else None


def _distribution(optuna: Any, tried: Tried) -> Any:
    of = optuna.distributions
    if tried.values:
        return of.CategoricalDistribution(tried.values)
    if tried.whole:
        return of.IntDistribution(int(tried.low), int(tried.high), log=tried.by_factors)
    return of.FloatDistribution(tried.low, tried.high, log=tried.by_factors)


def _tried(study: Study, number: int, values: Mapping[str, Any]) -> Trial:
    """Train with these settings and judge what comes of it."""
    out = study.folder.trial(number)
    job = TrainingJob(
        run=study.run, out=out, seed=study.seed, device=study.device, workers=study.worker
    )
    try:
        recipe = changed(study.chosen, _told(study, values), study.called)
        evaluation = fitted(study.game, study.recipe, recipe, job, PART)
    except InputError as fault:  # settings that do not go together, or a loss that ran away
        return Trial(number, dict(values), None, str(fault))
    value = _loss(recipe, job, evaluation) if study.by == "val" else _points(study, job)
    if not math.isfinite(value):
        return Trial(number, dict(values), None, f"what it was judged by is {value}")
    return Trial(number, dict(values), value)


def _told(study: Study, values: Mapping[str, Any]) -> list[str]:
    """What differs from the recipe as it is, as `--set` takes it."""
    own = {one.name: one for one in settings_of(study.chosen)}
    changes = {
        name: value
        for name, value in values.items()
        if value != own[name].value and str(value) != own[name].written
    }
    return as_settings(changes)


def _loss(recipe: Any, job: TrainingJob, evaluation: Mapping[str, Any]) -> float:
    """On the validation split."""
    found = evaluation.get("val") or recipe.judge(job, "val")["val"]
    return float(found["loss"] if "loss" in found else found["log_loss"])


def _points(study: Study, job: TrainingJob) -> float:
    """Of the trial's player, on average over those it meets."""
    ref = PlayerRef("tried", job.out.resolve())
    schedule = to_tune(study.game, ref, study.field, matches=study.matches, seed=study.seed)
    folder = job.out / schedule.name
    play(study.game, folder, PART, schedule, study.worker, True, None, True)
    results = read_results(folder, study.game.results)
    columns = (results[name].to_pylist() for name in ("player", "opponent", "score"))
    rows = list(zip(*columns, strict=True))
    means = list[float]()
    for other in study.field:
        mine = [_point(score) for who, met, score in rows if (who, met) == ("tried", other.name)]
        means.append(sum(mine) / len(mine))
    return sum(means) / len(means)


def _point(score: float) -> float:
    return 0.5 if score == 0 else float(score > 0)


def _summary(study: Study, done: Sequence[Trial]) -> dict[str, Any]:
    """The best, beside the recipe as it is, and how to have it."""
    judged = [one for one in done if one.value is not None]
    if not judged:
        raise InputError(
            f"none of {len(done)} trials could be trained, the first because: {done[0].fault}"
        )
    sign = 1 if study.by == "val" else -1
    best = min(judged, key=lambda one: (sign * (one.value or 0.0), one.number))
    first = done[0] if _as_it_is(study) == done[0].settings else None
    return {
        "by": study.by,
        "trials": len(done),
        "failed": len(done) - len(judged),
        "best": asdict(best),
        "as_it_is": None if first is None else first.value,
        "set": _told(study, best.settings),
        "model": study.run.place(study.folder.trial(best.number)),
    }
