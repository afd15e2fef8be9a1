"""Layers that get better at what they drew: an iteration of learning from rollouts.

First the critic says what was to be expected of every decision, then the layers of a stage do more
of what went better and less of what went worse, but not much more at once (PPO), or weighed by how
much likelier it has become (V-trace). What L1 forbids was never drawn, and never gets likelier.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

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
from understudy.games.scml.learning.online.rollout import Rollout
from understudy.games.scml.learning.online.settings import LearnerSettings, Rates
from understudy.games.scml.learning.online.worth.credit import Credit, Judged
from understudy.games.scml.learning.online.worth.returns import explained, normalised, targets
from understudy.games.scml.view import features as f
from understudy.games.scml.view import inputs


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
        self.credit: Credit | None = None
        if settings.by_talk:
            self.credit = Credit(self.player, settings.critic_hidden, seed).to(device)
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
        if self.credit is not None:
            found["credit"] = self.credit
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
        on_policy = np.zeros_like(value)
        target = targets(played, worth, played.final, value, on_policy, self.settings.lambda_)
        advantage = self._normalised(target - value, played)
        if rates.learning_rates:
            guided = self._guided(rollouts) if rates.guide_weight else None
            if guided is not None:
                kept = torch.from_numpy(seen.kept).to(self.device)
                led = torch.isin(seen.group[kept], guided.group)
                seen = seen._replace(guided=led)
            metrics |= self._improve(
                played, worth, acted, seen, value, advantage, guided, rates, rng
            )
        lambda_ = self.settings.critic_lambda
        target = targets(played, worth, played.final, value, on_policy, lambda_)
        metrics["critic_loss"] = self._fit_critic(seen, target, rng)
        if self.credit is not None:
            metrics["credit_explains"] = self._fit_credit(seen, advantage[seen.kept], rng)
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

    def _fit_credit(self, seen: Experience, advantage: Floats, rng: np.random.Generator) -> float:
        """Share of what came that it had predicted; each batch before it learns from it."""
        assert self.credit is not None
        wanted, rest = self._there(advantage), list[Tensor]()
        for some in self._batches(len(advantage), self.settings.batch_size // 4, rng):
            error = wanted[torch.from_numpy(some).to(self.device)] - self.credit(seen.turns(some))
            self._descend(["credit"], Credit.loss(error))
            rest.append(error.detach())
        return float(1 - torch.cat(rest).var() / wanted.var()) if rest else 0.0

    # --- the layers

    def _improve(
        self,
        played: Course,
        worth: Floats,
        acted: Mapping[str, Mapping[str, Array]],
        seen: Experience,
        value: Floats,
        came: Floats,
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
        advantage, judged = came[seen.kept], self._judged(seen, actor, rng)
        for _ in range(self.settings.epochs):
            if self.settings.objective == "vtrace":
                moved = self._log_probs(self.player, seen, ordered) - before
                ratio[seen.kept] = moved.sum(1).double().cpu().numpy()
                corrected = targets(played, worth, played.final, value, ratio, lambda_)
                advantage = self._normalised(corrected - value, played)[seen.kept]
            scaled = self._there(advantage) * weight
            for some in self._batches(len(seen.kept), self.settings.batch_size, rng):
                example = None if guided is None else self._example(guided, len(some), rng)
                measured = self._update(seen, some, before, scaled, judged, rates, example)
                for name, found in measured.items():
                    sums.setdefault(name, []).append(found.detach())
        if rates.goal_noise and "l2" in rates.learning_rates:
            sums["goals"] = self._improve_goals(played, actor, came, rates, rng)
        return {name: float(torch.stack(found).mean()) for name, found in sums.items()}

    def _beginning(
        self, actor: Player, seen: Experience, ordered: bool
    ) -> tuple[Tensor, Tensor | float]:
        """What ratios are taken to, [kept, 2], and how much each decision counts: PPO is held near
        what it is now; near who played before it is dragged back (Hilton et al. 2021)."""
        if self.credit is not None and not ordered:  # it has its own
            return torch.zeros((len(seen.kept), 2), device=self.device), 1.0
        drawn = self._log_probs(actor, seen, ordered)
        if self.settings.objective == "vtrace":
            return drawn, 1.0
        now = self._log_probs(self.player, seen, ordered)
        return now, (now - drawn).sum(1).exp().clamp(max=1.0)

    def _judged(self, seen: Experience, actor: Player, rng: np.random.Generator) -> Judged | None:
        """What each negotiation's own draw was worth; None: all are judged together."""
        if self.credit is None:
            return None
        drawn = torch.Generator(self.device).manual_seed(int(rng.integers(2**31)))
        return self.credit.judge(seen, self.player, actor, drawn)

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
        judged: Judged | None,
        rates: Rates,
        example: Turns | None,
    ) -> dict[str, Tensor]:
        turns = seen.turns(some)
        evaluated = self.player.evaluate_actions(turns, ordered="l4" in rates.learning_rates)
        rows = torch.from_numpy(some).to(self.device)
        together = rates.learning_rates if judged is None else rates.learning_rates.keys() - {"l3"}
        learns = torch.tensor([name in together for name in ("l3", "l4")], device=self.device)
        now = torch.stack([evaluated.offers, evaluated.order], 1)
        # A layer that does not learn has not moved: its ratio is 1.
        log_ratio = torch.where(learns, now - before[rows], 0.0).sum(1)
        surrogate, clipped = self._surrogate(log_ratio, advantage[rows])
        if judged is not None and "l3" in rates.learning_rates:
            asked = turns.row[turns.asked]
            log_ratio = evaluated.talks - judged.before[asked]
            apart, clipped = self._surrogate(log_ratio, judged.advantage[asked])
            surrogate = surrogate + apart * (len(asked) / len(some))
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
            start = self._start.heads(turns)
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
            "credit": None if self.credit is None else self.credit.state_dict(),
            "optimizers": {name: one.state_dict() for name, one in self.optimizers.items()},
            "has_measured": self._has_measured,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        self.player.load_state_dict(state["player"])
        self.critic.load_state_dict(state["critic"])
        if self.credit is not None:
            self.credit.load_state_dict(state["credit"])
        for name, one in self.optimizers.items():
            one.load_state_dict(deepcopy(state["optimizers"][name]))
        self._has_measured = state["has_measured"]
