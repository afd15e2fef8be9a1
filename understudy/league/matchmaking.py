"""Whom a learner meets in its next training job, as probabilities by name.

A learner's own name stands for itself as it learns; every other name is a version that stays as
it is during the training job. Plain and fictitious self-play, and PSRO, are other matchmakers of
the same league.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from understudy.league.analysis.nash import nash, shares_by_name
from understudy.league.payoff import Payoff
from understudy.league.population import Learner, Roster

Opponents = dict[str, float]
Weighting = Literal["hard", "variance", "even"]
"""Prioritised fictitious self-play (Vinyals et al. 2019): `hard` prefers those who beat us,
`variance` those who are our equals."""


@runtime_checkable
class Matchmaking(Protocol):
    """A way to choose opponents."""

    def __call__(self, learner: Learner, roster: Roster, payoff: Payoff) -> Opponents:
        """How often to meet whom; the probabilities sum to 1."""
        ...


@dataclass(frozen=True)
class ByRole:
    """The three roles of AlphaStar (Vinyals et al. 2019, methods: multi-agent learning)."""

    self_play: float = 0.35
    """A main agent's share against itself and the other main agents."""
    past: float = 0.5
    """A main agent's share against everybody frozen, the hard ones more."""
    self_play_at_first: float = 0.3
    """Instead of `self_play`, as long as no exploiter has been kept: one meets hardly anybody
    but oneself and one's past, which gets the rest."""
    power: float = 2.0
    """High: a main agent meets hardly anybody but those it loses to."""
    lost_below: float = 0.3
    """Against a main exploiter's snapshot with a lower win rate, a main agent practises."""
    forgotten_below: float = 0.7
    """Against its own past with a lower win rate than later ones had, it practises too."""
    too_strong_below: float = 0.3
    """Another main agent with a lower win rate against it is met through its past."""
    curriculum: float = 0.5
    """A main exploiter's share against the past of the main agents rather than themselves."""
    beaten_below: float = 0.2
    """Below this win rate against a main agent, a main exploiter meets its past only."""

    def __post_init__(self) -> None:
        if not (self.self_play >= 0 and self.past >= 0 and self.self_play + self.past <= 1):
            raise ValueError(f"shares {self.self_play} and {self.past} must not exceed 1 together")
        if not 0 <= self.self_play_at_first <= 1:
            raise ValueError(f"self_play_at_first is a share, not {self.self_play_at_first}")

    def __call__(self, learner: Learner, roster: Roster, payoff: Payoff) -> Opponents:
        """What the learner's role prescribes."""
        if learner.role == "main":
            return self._main(learner, roster, payoff)
        if learner.role == "main exploiter":
            return self._main_exploiter(learner, roster, payoff)
        return self._chosen(learner, roster.opponents(), payoff, "hard")

    def _main(self, learner: Learner, roster: Roster, payoff: Payoff) -> Opponents:
        """Itself, everybody's past, and whom it can no longer beat.

        What is left for practice is self-play where there is nobody to practise against. While no
        exploiter has been kept, the share of self-play is one of its own.
        """
        past = self._chosen(learner, roster.opponents(), payoff, "hard")
        rest = 1 - self.self_play - self.past
        hard = self.to_practise(learner, roster, payoff) if rest > 0 else []
        practice = self._chosen(learner, hard, payoff, "hard")
        others = [(self.past, past), (rest, practice)] if practice else [(1.0, past)]
        alone = self.self_play if practice else self.self_play + rest
        if not roster.exploiters():
            alone = self.self_play_at_first
        mains = self._mains(learner, roster, payoff)
        return mixed([(1 - alone, mixed(others)), (alone, mains)])

    def _mains(self, learner: Learner, roster: Roster, payoff: Payoff) -> Opponents:
        """Each main agent alike: itself, another one, or that one's past if it is too strong."""
        parts: list[tuple[float, Opponents]] = []
        for main in roster.mains():
            found: Opponents = {main.version: 1.0}
            if main.name == learner.name:
                found = {learner.name: 1.0}
            elif payoff.belief(learner.version, main.version).value < self.too_strong_below:
                found = self._chosen(learner, _past_of(main, roster), payoff, "variance")
            parts.append((1.0, found))
        return mixed(parts)

    def to_practise(self, learner: Learner, roster: Roster, payoff: Payoff) -> list[str]:
        """Main exploiters' snapshots that beat it, and past main agents it no longer can."""
        exploiters = [
            name
            for name in roster.snapshots("main exploiter")
            if payoff.belief(learner.version, name).value < self.lost_below
        ]
        forgotten = list[str]()
        for main in roster.mains():
            past = roster.snapshots(learner=main.name)
            rates = payoff.win_rates(learner.version, past).tolist()
            forgotten += [past[place] for place in forgotten_players(rates, self.forgotten_below)]
        return exploiters + forgotten

    def _main_exploiter(self, learner: Learner, roster: Roster, payoff: Payoff) -> Opponents:
        """The main agents; half of the time, or while they are too strong, what they were."""
        parts: list[tuple[float, Opponents]] = []
        for main in roster.mains():
            rate = payoff.belief(learner.version, main.version).value
            share = self.curriculum if rate >= self.beaten_below else 1.0
            past = self._chosen(learner, _past_of(main, roster), payoff, "variance")
            parts += [(share, past), (1 - share, {main.version: 1.0})]
        return mixed(parts)

    def _chosen(
        self, learner: Learner, names: Sequence[str], payoff: Payoff, weighting: Weighting
    ) -> Opponents:
        rates = payoff.win_rates(learner.version, names)
        shares = probabilities(rates, weighting, self.power)
        return dict(zip(names, shares.tolist(), strict=True))


@dataclass(frozen=True)
class SelfPlay:
    """Always oneself, as one is now."""

    def __call__(self, learner: Learner, roster: Roster, payoff: Payoff) -> Opponents:
        """Nobody else."""
        return {learner.name: 1.0}


@dataclass(frozen=True)
class FictitiousSelfPlay:
    """Everything one has been, each alike, and oneself (Brown 1951; Heinrich et al. 2015)."""

    def __call__(self, learner: Learner, roster: Roster, payoff: Payoff) -> Opponents:
        """The beginning, all own snapshots, and itself unless just kept."""
        names = [roster.start, *roster.snapshots(learner=learner.name)]
        if learner.version not in names:
            names.append(learner.name)
        return {name: 1 / len(names) for name in names}


@dataclass(frozen=True)
class NashResponse:
    """The Nash mixture of all that is frozen: policy-space response oracles (Lanctot et al. 2017).

    Each life of a learner is a best response to what a population would send at best, and joins it.
    """

    def __call__(self, learner: Learner, roster: Roster, payoff: Payoff) -> Opponents:
        """Everybody frozen who has a share in the mixture; never itself."""
        names = roster.opponents()
        return mixed([(1.0, dict(shares_by_name(names, nash(payoff.matrix(names)))))])


def forgotten_players(win_rates: Sequence[float], below: float) -> list[int]:
    """Places of the past selves one has forgotten how to beat; `win_rates` oldest first.

    One's past should be the easier the older it is. From the newest backwards, as long as that
    holds, a low win rate only says that the newest are strong; beyond, it says that something was
    forgotten.
    """
    last = len(win_rates) - 1
    while last > 0 and win_rates[last - 1] >= win_rates[last]:
        last -= 1
    if last <= 0:
        return []
    return [place for place in range(last + 1) if win_rates[place] < below]


def mixed(parts: Sequence[tuple[float, Opponents]]) -> Opponents:
    """One distribution from several by weight; those without anybody leave theirs to the rest."""
    total = sum(weight * sum(found.values()) for weight, found in parts)
    names = dict.fromkeys(name for weight, found in parts if weight > 0 for name in found)
    shares = {name: sum(weight * found.get(name, 0.0) for weight, found in parts) for name in names}
    return {name: share / total for name, share in shares.items() if share > 0}


def likeliest(opponents: Opponents, most: int) -> Opponents:
    """The `most` likely opponents, in the order they had; they take over what the others had."""
    chosen = {*sorted(opponents, key=lambda name: -opponents[name])[:most]}
    return mixed([(1.0, {name: share for name, share in opponents.items() if name in chosen})])


def entropy(opponents: Opponents) -> float:
    """How many opponents there are in effect: 1 for always the same, N for N alike."""
    shares = np.array([share for share in opponents.values() if share > 0])
    return float(np.exp(-(shares * np.log(shares)).sum()))


def _past_of(main: Learner, roster: Roster) -> list[str]:
    return [roster.start, *roster.snapshots(learner=main.name)]


def weights(
    win_rate: Float[np.ndarray, " N"], weighting: Weighting, power: float = 2.0
) -> Float[np.ndarray, " N"]:
    """How much each opponent is worth meeting; `power` sharpens `hard`."""
    if not ((win_rate >= 0) & (win_rate <= 1)).all():
        raise ValueError(f"win rates lie between 0 and 1, got {win_rate}")
    if weighting == "hard":
        return (1 - win_rate) ** power
    if weighting == "variance":
        return win_rate * (1 - win_rate)
    return np.ones(len(win_rate))


def probabilities(
    win_rate: Float[np.ndarray, " N"], weighting: Weighting = "hard", power: float = 2.0
) -> Float[np.ndarray, " N"]:
    """How often to meet each of N opponents; they sum to 1, or are none where N is 0.

    Where nobody is worth meeting, everybody is alike.
    """
    found = weights(win_rate, weighting, power)
    top = found.max(initial=0.0)
    found = found / top if top > 0 else np.ones(len(win_rate))
    return found / max(found.sum(), 1.0)  # the greatest is 1, so the sum is not below
