"""One way to learn by play, as one value."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from understudy.data.players import PlayerRef, code_stamps
from understudy.data.runs import Run
from understudy.data.samples import Decisions
from understudy.errors import InputError
from understudy.learn.rates import require_stages
from understudy.learn.recipe import Inputs, TrainingJob, TrainOptions, start_weights, started
from understudy.learn.rl.env import SELF, MakeEnv
from understudy.learn.rl.losses.common import OnlineObjective

START = "start"
"""The name of the opponent that is the policy refinement began with."""


CRITIC_PART = 4
"""A new critic learns alone for at most one in so many iterations: the policy is to learn as well,
however short the training."""


@dataclass(frozen=True, kw_only=True)
class RLRecipe:
    """One way to refine a policy. Derive a variant with `dataclasses.replace`."""

    description: str
    decisions: Decisions
    """What the policy decides."""
    make: MakeEnv
    """The game."""
    objective: OnlineObjective
    opponents: tuple[tuple[str | PlayerRef, float], ...] = ((SELF, 1.0),)
    """Whom to meet how often: "self", "start" (the policy it began with), scripted players by name,
    others with their weights or code."""
    start: str = "imitate"
    """The model to begin with, unless another is named; also the teacher."""
    iterations: int = 100
    """Up: longer training."""
    rollouts: int = 2
    """Per iteration; as many processes can act at once."""
    updates: int = 8
    """Per iteration, which share its sequences out. Up: smaller steps, but more of them."""
    ahead: bool = True
    """Play the next rollouts while learning from the last: both at once, but play is one iteration
    old. False: always by the newest policy, as PPO wants it."""
    matches: int = 512
    """Side by side in a rollout."""
    steps: int = 32
    """In a sequence. Up: less leans on the value, fewer updates for the same play."""
    uses: float = 1.0
    """How often each sequence is used on average. Up: more is made of the same play."""
    replay: int = 1
    """Iterations whose play is kept. Up: what was used least is used later, and older."""
    staleness_max: int = 64
    """Play of a policy that many updates ago is dropped."""
    discount: float = 0.997
    """Down: looks less far ahead, learns with less noise."""
    pseudo_reward: float = 0.0
    """Of the game's own pseudo-reward beside the score. 0: the score alone."""
    draw: float = 0.0
    """What a drawn match is worth, between a lost one, -1, and a won one, 1."""
    memory: int = 0
    """Units of a recurrent core to give to a policy without one; at first it plays as before."""
    plans: int = 0
    """Plans to give to a policy without any; one is drawn for each match."""
    critic: tuple[int, ...] | None = None
    """Hidden layers of a critic that sees what all players see. None: the policy's own value."""
    critic_first: int = 0
    """Iterations in which only a new critic learns: until it has, its advice would do harm."""
    critic_learning_rate: float = 1e-3
    """Of the critic. Up: it follows a changing policy sooner, with more noise."""
    learning_rate: float = 1e-4
    """Of the policy. Up: faster at first; soon each update throws over what the last learned."""
    betas: tuple[float, float] = (0.9, 0.99)
    """Adam's memory of gradients and of their squares. Up: smoother, slower to turn."""
    epsilon: float = 1e-5
    """Adam's least denominator. Up: smaller steps where gradients are tiny."""
    decay: float = 1.0
    """The part of the learning rate that is lost by the end, along a line. 1: it falls to 0."""
    rate_stages: tuple[float, ...] = ()
    """Instead of the fall along a line, by how much the learning rate is multiplied in each of so
    many equal parts of the training: 1,0.3,0.1. None: one part."""
    gradient_norm_max: float = 1.0
    """Down: a rare odd batch moves the weights less; far down, every batch does."""
    log_every: int = 10
    """Iterations between lines of the log. Changes nothing that is learnt."""
    checkpoint_every: int = 50
    """Iterations between checkpoints. Changes nothing that is learnt."""
    keep_every: int = 0
    """Iterations between weights that are kept for good, in kept/, each a model that can play. 0:
    none. Changes nothing that is learnt."""

    def __post_init__(self) -> None:
        counts = ("iterations", "rollouts", "updates", "matches", "steps", "replay")
        for name in (*counts, "log_every", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("uses", "learning_rate", "critic_learning_rate", "gradient_norm_max"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
        require_stages(self.rate_stages, self.keep_every)
        if not 0 < self.discount <= 1:
            raise ValueError(f"discount must lie in (0, 1], got {self.discount}")
        if self.uses > self.updates:
            raise ValueError(
                f"uses must be at most {self.updates}, the updates: none takes more than there is"
            )
        if self.memory < 0 or self.plans < 0:
            raise ValueError("memory and plans must not be negative")
        self._check_time()

    def _check_time(self) -> None:
        """ValueError where the policy would never learn, or play would be too old to be used."""
        if self.critic_first and self.critic is None:
            raise ValueError("critic_first needs a critic")
        if self.critic_first >= self.iterations:
            raise ValueError(
                f"critic_first is {self.critic_first} of {self.iterations} iterations, so the "
                "policy would never learn"
            )
        if self.staleness_max < 2 * self.updates - 1:
            raise ValueError(
                f"staleness_max must be at least {2 * self.updates - 1}: play arrives "
                f"{self.updates} updates old and waits for as many less one"
            )

    def lasting(self, iterations: int) -> "RLRecipe":
        """The same for so many iterations; a critic that learns first leaves most to the policy."""
        first = min(self.critic_first, iterations // CRITIC_PART)
        return replace(self, iterations=iterations, critic_first=first)

    def settings(self) -> dict[str, Any]:
        """Everything that decides what comes out, as plain values."""
        chosen = {name: getattr(self, name) for name in self.__dataclass_fields__}
        aside = ("description", "log_every", "checkpoint_every", "keep_every")
        for name in (*aside, "decay" if self.rate_stages else "rate_stages"):
            del chosen[name]
        return chosen | {
            "decisions": f"{self.decisions.table.full_name} version {self.decisions.table.version}",
            "features": self.decisions.features,
            "heads": self.decisions.heads,
            "make": getattr(self.make, "__qualname__", repr(self.make)),
            "opponents": {
                one if isinstance(one, str) else one.name: share for one, share in self.opponents
            },
            **({"code": stamps} if (stamps := code_stamps(self._brought())) else {}),
            "objective": {"name": type(self.objective).__name__, **asdict(self.objective)},
        }

    def with_options(self, name: str, options: TrainOptions) -> "RLRecipe":
        """Begin with another model, iterate more or less often, and the like."""
        told = ("start", "iterations", "rollouts", "updates", "pseudo_reward", "memory", "plans")
        changes = started(options.taken_by(name, *told, "init", "opponents"))
        iterations = changes.pop("iterations", None)
        try:
            recipe = self if iterations is None else self.lasting(iterations)
            return replace(recipe, **changes)
        except ValueError as mistake:
            raise InputError(f"'{name}' cannot be changed like that: {mistake}") from mistake

    def inputs(self, run: Run) -> Inputs:
        """The weights it begins with, and those of trained opponents; no samples are needed."""
        met = [ref.weights for ref in self._brought() if ref.weights is not None]
        return {
            "weights": start_weights(run, self.start),
            "opponents": [path for folder in met for path in start_weights(run, str(folder))],
        }

    def _brought(self) -> list[PlayerRef]:
        return [one for one, _ in self.opponents if isinstance(one, PlayerRef)]

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Refine the model `start`, or go on; returns how it fared in its last matches."""
        from understudy.learn.rl.train import refine  # which imports this module

        return refine(self, job.run.find_model(self.start), job)
