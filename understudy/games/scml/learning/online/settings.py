"""How an iteration of learning by play learns, and what a stage lets learn."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Objective = Literal["ppo", "vtrace"]
Layer = Literal["l2", "l3", "l4"]


@dataclass(frozen=True, kw_only=True)
class LearnerSettings:
    """How an iteration learns."""

    objective: Objective = "ppo"
    """The loss: PPO's clipped ratios, or V-trace."""
    clip: float = 0.2
    """PPO: how far the ratio of a joint decision may move. Up: larger steps, less steady."""
    lambda_: float = 0.6
    """Of advantages, from one decision to the next. Down: less noise, more error of the critic."""
    critic_lambda: float = 0.995
    """Of what the critic learns. Far down it learns from what it says of the next decision, and
    takes as many iterations to be true as there are decisions."""
    epochs: int = 3
    """How often an iteration's decisions are learnt from."""
    batch_size: int = 4_096
    """Joint decisions."""
    critic_hidden: int = 256
    """Units of each of the critic's layers."""
    critic_rate: float = 5e-4
    """The critic's learning rate."""
    critic_epochs: int = 2
    """How often the critic learns from an iteration's decisions."""
    central: bool = True
    """The critic sees all factories; else what the player sees."""
    shaped: bool = True
    """Rewards come when a contract is signed; else with each day's profit."""
    by_field: bool = True
    """Advantages have the same spread in both fields; else champions alone hardly count."""
    by_talk: bool = False
    """Each negotiation of a joint decision is judged by what its own draw was worth (see
    `credit.py`); else all of them by what came of the whole."""
    memory: bool = True
    """The layers learn from what partners did on earlier days; else what they know of that stays
    what it was."""
    response_temperature: float = 1.0
    """At which responses are drawn to learn from; in play the likeliest one is given. Down: what is
    learnt from is what will be played, and fewer other responses are tried."""
    entropy_weight: float = 0.0
    """Up: keeps trying other offers."""
    gradient_norm_max: float = 0.5
    """Down: a rare odd batch moves the weights less; far down, every batch does."""

    def __post_init__(self) -> None:
        if self.by_talk and self.objective != "ppo":
            raise ValueError("`by_talk` is judged by PPO: set objective=ppo")


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What a stage lets learn, and how fast."""

    learning_rates: Mapping[Layer, float]
    """By layer; one that is not named stays as it is."""
    kl_weight: float = 0.0
    """Of the divergence of L3 from what it was when training began."""
    policy_weight: float = 1.0
    """Of what its own play brought; 0: it only imitates a guide and stays what it was elsewhere."""
    guide_weight: float = 0.0
    """Of the log-probability of what a guide decided; see `GuideBuffer`."""
    goal_noise: float = 0.0
    """L2's goals are drawn around what it says, so far apart; 0: it says what it says."""
    rate_end: float = 1.0
    """Share of the learning rates that is left when the stage ends. Below 1: it settles."""

    def at(self, done: float) -> "Rates":
        """When a share of the stage is done."""
        left = 1.0 - (1.0 - self.rate_end) * done
        rates = {layer: left * rate for layer, rate in self.learning_rates.items()}
        return replace(self, learning_rates=rates)
