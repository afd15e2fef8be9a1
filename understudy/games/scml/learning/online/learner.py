"""Layers that get better at what they drew: an iteration of learning from rollouts.

First the critic says what was to be expected of every decision, then the layers of a stage do more
of what went better and less of what went worse, but not much more at once (PPO), or weighed by how
much likelier it has become (V-trace). What L1 forbids was never drawn, and never gets likelier.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from understudy.data.arrays import Array, Floats, Ints
from understudy.games.scml.agent.l3_offers import Scheme
from understudy.games.scml.batch.learnt import choices as c
from understudy.games.scml.domain import REJECT
from understudy.games.scml.learning.online.experience import (
    Course,
    Experience,
    experience_of,
    joined,
)
from understudy.games.scml.learning.online.player import (
    ActionEvaluation,
    Critic,
    Layers,
    Player,
    Turns,
    divergence,
)
from understudy.games.scml.learning.online.returns import explained, normalised, targets
from understudy.games.scml.learning.online.rollout import Rollout
from understudy.games.scml.view import features as f
from understudy.games.scml.view import inputs

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


class Learner:
    """The layers, their critic, and what both remember."""

    def __init__(
        self,
        settings: LearnerSettings,
        weights: Mapping[str, Mapping[str, Array]],
        scheme: Scheme,
        seed: int,
        device: torch.device,
        anchor: Mapping[str, Mapping[str, Array]] | None = None,
    ) -> None:
        """`anchor` is what it is to stay near; None: what it begins with."""
        self.settings, self.device = settings, device
        self._scheme: Scheme = scheme
        self.player = self._played_by(weights)
        near = self._played_by(weights if anchor is None else anchor)
        self._start = near.requires_grad_(False)
        drawn = Critic(self.player, settings.critic_hidden, seed, central=settings.central)
        self.critic = drawn.to(device)
        self._has_measured = False
        if not settings.memory:
            self._leave_memory()
        self.optimizers: dict[str, torch.optim.Optimizer] = {
            name: torch.optim.Adam(
                module.parameters(), lr=settings.critic_rate, eps=1e-5, fused=True
            )
            for name, module in self._modules().items()
        }

    def _played_by(self, weights: Mapping[str, Mapping[str, Array]]) -> Player:
        temperature = self.settings.response_temperature
        return Player(Layers(weights, self._scheme, temperature)).to(self.device)

    def _modules(self) -> dict[str, nn.Module]:
        found: dict[str, nn.Module] = {"l3": self.player.l3, "l4": self.player.l4}
        if self.player.l2 is not None:
            found["l2"] = self.player.l2
        return {**found, "critic": self.critic}

    def _leave_memory(self) -> None:
        """What the layers read of partners' earlier days moves no weight."""
        known = {f"thread.{name}" for name in f.MEMORY}
        first = {"l3": self.player.l3.torso[0], "l4": self.player.l4.each[0]}
        for layer, module in first.items():
            weight = module.get_parameter("weight")
            learns = torch.ones(weight.shape[1], device=self.device)
            learns[[k for k, name in enumerate(inputs.READ[layer]) if name in known]] = 0.0
            weight.register_hook(learns.mul)  # type: ignore[no-untyped-call]

    def learn(
        self,
        rollouts: Sequence[Rollout],
        acted: Mapping[str, Mapping[str, Array]],
        rates: Rates,
        rng: np.random.Generator,
    ) -> dict[str, float]:
        """One iteration from what the layers `acted` have played; what was measured."""
        played = joined(rollouts)
        worth = played.booked if self.settings.shaped else played.money
        seen = experience_of([one.played for one in rollouts], self.device)
        if not self._has_measured:
            self.critic.measure(self._there(played.final - worth), seen.group)
            self._has_measured = True
        value = self._values(seen)
        metrics = explained(played.final - worth, value, played.level)
        if rates.learning_rates:
            guided = self._guided(rollouts) if rates.guide_weight else None
            if guided is not None:
                kept = torch.from_numpy(seen.kept).to(self.device)
                led = torch.isin(seen.group[kept], guided.group)
                seen = seen._replace(guided=led)
            metrics |= self._improve(played, worth, acted, seen, value, guided, rates, rng)
        on_policy, lambda_ = np.zeros_like(value), self.settings.critic_lambda
        target = targets(played, worth, played.final, value, on_policy, lambda_)
        metrics["critic_loss"] = self._fit_critic(seen, target, rng)
        return metrics

    def _normalised(self, advantage: Floats, played: Course) -> Floats:
        return normalised(advantage, played.group if self.settings.by_field else played.level)

    def _there(self, values: Array) -> Tensor:
        return torch.from_numpy(np.asarray(values, np.float32)).to(self.device)

    # --- the critic

    @torch.no_grad()
    def _values(self, seen: Experience) -> Floats:
        rows = torch.arange(len(seen.group), device=self.device)
        parts = [
            (seen.state[some], seen.central[some], seen.group[some])
            for some in torch.tensor_split(rows, len(rows) // 65_536 + 1)
        ]
        found = torch.cat([self.critic(*part) for part in parts])
        return found.double().cpu().numpy()

    def _fit_critic(self, seen: Experience, target: Floats, rng: np.random.Generator) -> float:
        wanted, losses = self._there(target), []
        for _ in range(self.settings.critic_epochs):
            for some in self._batches(len(target), 2 * self.settings.batch_size, rng):
                rows = torch.from_numpy(some).to(self.device)
                group = seen.group[rows]
                value = self.critic(seen.state[rows], seen.central[rows], group)
                error = (value - wanted[rows]) / self.critic.scale[group, 1]
                loss = torch.nn.functional.smooth_l1_loss(error, torch.zeros_like(error))
                self._descend(["critic"], loss)
                losses.append(loss.detach())
        return float(torch.stack(losses).mean()) if losses else 0.0

    # --- the layers

    def _improve(
        self,
        played: Course,
        worth: Floats,
        acted: Mapping[str, Mapping[str, Array]],
        seen: Experience,
        value: Floats,
        guided: Experience | None,
        rates: Rates,
        rng: np.random.Generator,
    ) -> dict[str, float]:
        ordered = "l4" in rates.learning_rates
        actor = self._played_by(acted)
        before, weight = self._beginning(actor, seen, ordered)
        for layer, rate in rates.learning_rates.items():
            for group in self.optimizers[layer].param_groups:
                group["lr"] = rate
        sums: dict[str, list[Tensor]] = {}
        ratio, lambda_ = np.zeros(len(value)), self.settings.lambda_
        target = targets(played, worth, played.final, value, ratio, lambda_)
        advantage = self._normalised(target - value, played)[seen.kept]
        for _ in range(self.settings.epochs):
            if self.settings.objective == "vtrace":
                moved = self._log_probs(self.player, seen, ordered) - before
                ratio[seen.kept] = moved.sum(1).double().cpu().numpy()
                corrected = targets(played, worth, played.final, value, ratio, lambda_)
                advantage = self._normalised(corrected - value, played)[seen.kept]
            scaled = self._there(advantage) * weight
            for some in self._batches(len(seen.kept), self.settings.batch_size, rng):
                example = None if guided is None else self._example(guided, len(some), rng)
                measured = self._update(seen, some, before, scaled, rates, example)
                for name, found in measured.items():
                    sums.setdefault(name, []).append(found.detach())
        if rates.goal_noise and "l2" in rates.learning_rates:
            sums["goals"] = self._improve_goals(played, actor, target - value, rates, rng)
        return {name: float(torch.stack(found).mean()) for name, found in sums.items()}

    def _beginning(
        self, actor: Player, seen: Experience, ordered: bool
    ) -> tuple[Tensor, Tensor | float]:
        """What ratios are taken to, [kept, 2], and how much each decision counts: PPO is held near
        what it is now; near who played before it is dragged back (Hilton et al. 2021)."""
        drawn = self._log_probs(actor, seen, ordered)
        if self.settings.objective == "vtrace":
            return drawn, 1.0
        now = self._log_probs(self.player, seen, ordered)
        return now, (now - drawn).sum(1).exp().clamp(max=1.0)

    def _guided(self, rollouts: Sequence[Rollout]) -> Experience:
        """What the guide decided."""
        theirs = [one.guided for one in rollouts if one.guided is not None]
        return experience_of(theirs, self.device)

    def _example(self, guided: Experience, decisions: int, rng: np.random.Generator) -> Turns:
        """Some of them, a quarter of what is learnt from beside."""
        return guided.turns(rng.choice(len(guided.kept), min(decisions // 4, len(guided.kept))))

    def _update(
        self,
        seen: Experience,
        some: Ints,
        before: Tensor,
        advantage: Tensor,
        rates: Rates,
        example: Turns | None,
    ) -> dict[str, Tensor]:
        turns = seen.turns(some)
        evaluated = self.player.evaluate_actions(turns, ordered="l4" in rates.learning_rates)
        rows = torch.from_numpy(some).to(self.device)
        learns = torch.tensor(
            [name in rates.learning_rates for name in ("l3", "l4")], device=self.device
        )
        now = torch.stack([evaluated.offers, evaluated.order], 1)
        # A layer that does not learn has not moved: its ratio is 1.
        log_ratio = torch.where(learns, now - before[rows], 0.0).sum(1)
        surrogate, clipped = self._surrogate(log_ratio, advantage[rows])
        loss = rates.policy_weight * surrogate
        measured = {
            "policy": surrogate,
            "clipped": clipped,
            "moved": log_ratio.abs().mean(),
            "entropy": evaluated.entropy.mean(),
        }
        if rates.kl_weight and "l3" in rates.learning_rates:
            free = seen.guided[rows][turns.decision[turns.asked]]
            measured["kl"] = self._kl(evaluated, turns, free, len(some))
            loss = loss + rates.kl_weight * measured["kl"]
        if example is not None:
            measured["guide"] = self.player.evaluate_actions(example, ordered=False).offers.mean()
            loss = loss - rates.guide_weight * measured["guide"]
        loss = loss - self.settings.entropy_weight * measured["entropy"]
        self._descend([name for name in ("l3", "l4") if name in rates.learning_rates], loss)
        return measured

    def _surrogate(self, log_ratio: Tensor, advantage: Tensor) -> tuple[Tensor, Tensor]:
        settings, ratio = self.settings, log_ratio.exp()
        if settings.objective == "vtrace":
            weight = ratio.detach().clamp(max=1.0)
            return -(weight * advantage * log_ratio).mean(), (ratio > 1).float().mean()
        bounded = ratio.clamp(1 - settings.clip, 1 + settings.clip)
        found = torch.minimum(ratio * advantage, bounded * advantage)
        return -found.mean(), (ratio != bounded).float().mean()

    def _kl(
        self, evaluated: ActionEvaluation, turns: Turns, free: Tensor, decisions: int
    ) -> Tensor:
        """From what it was when training began, but where a guide leads."""
        with torch.no_grad():
            start = self._start._heads(turns)
        offers = turns.drawn[turns.asked, c.DRAWN_RESPONSE] == REJECT
        apart = divergence(evaluated.heads, start, offers)
        return torch.where(free, 0.0, apart).sum() / decisions

    def _improve_goals(
        self,
        played: Course,
        actor: Player,
        advantage: Floats,
        rates: Rates,
        rng: np.random.Generator,
    ) -> list[Tensor]:
        """The manager's gradient, a decision a day: by how the whole day and what followed went."""
        scaled = self._normalised(advantage, played)[played.day_decision]
        weighed, losses = self._there(scaled), list[Tensor]()
        start, said = self._there(played.day_start), self._there(played.goals)
        for group in self.optimizers["l2"].param_groups:
            group["lr"] = rates.learning_rates["l2"]
        with torch.no_grad():
            before = actor.goals_log_prob(start, said, rates.goal_noise)
        for some in self._batches(len(scaled), self.settings.batch_size, rng):
            rows = torch.from_numpy(some).to(self.device)
            now = self.player.goals_log_prob(start[rows], said[rows], rates.goal_noise)
            loss, _ = self._surrogate(now - before[rows], weighed[rows])
            self._descend(["l2"], loss)
            losses.append(loss.detach())
        return losses or [torch.zeros(())]

    @torch.no_grad()
    def _log_probs(self, player: Player, seen: Experience, ordered: bool) -> Tensor:
        """[kept, 2]: of what L3 drew and of L4's order."""
        found = []
        for start in range(0, len(seen.kept), 16_384):
            some = np.arange(start, min(start + 16_384, len(seen.kept)))
            evaluated = player.evaluate_actions(seen.turns(some), ordered=ordered)
            found.append(torch.stack([evaluated.offers, evaluated.order], 1))
        return torch.cat(found)

    def _descend(self, names: Sequence[str], loss: Tensor) -> None:
        modules = self._modules()
        for name in names:
            self.optimizers[name].zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for name in names:
            clip_grad_norm_(modules[name].parameters(), self.settings.gradient_norm_max)
            self.optimizers[name].step()

    def _batches(self, rows: int, size: int, rng: np.random.Generator) -> Iterator[Ints]:
        order = rng.permutation(rows)
        yield from (order[start : start + size] for start in range(0, rows, size))

    # --- to be put away

    def state(self) -> dict[str, Any]:
        """Everything needed to go on."""
        return {
            "player": self.player.state_dict(),
            "critic": self.critic.state_dict(),
            "optimizers": {name: one.state_dict() for name, one in self.optimizers.items()},
            "has_measured": self._has_measured,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        self.player.load_state_dict(state["player"])
        self.critic.load_state_dict(state["critic"])
        for name, one in self.optimizers.items():
            one.load_state_dict(deepcopy(state["optimizers"][name]))
        self._has_measured = state["has_measured"]
