"""One short world with a person in it, then the same world with HRL in that factory."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.scml.agent.policy import HRL
from understudy.games.scml.engine.random_state import random_state_kept
from understudy.games.scml.live.person import Desk, PersonAgent, wishes_of
from understudy.games.scml.reference.scml_simulator import quiet
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play_one
from understudy.pipeline.game import Live, Seats
from understudy.report.page import asset
from understudy.workers.attempt import line_of

SIZES, STEPS, PERSON = (2, 2, 2), 8, 2
"""Factories by level, days, and the factory of the person: the first that buys and sells."""
SEEDS = 2**31


def live() -> Live:
    """How the supply chain is played."""
    return Live(
        about=f"A world of {STEPS} days and {sum(SIZES)} factories. You sit in the middle and "
        "negotiate with two suppliers and two customers; everybody else is the player in the "
        "second seat. HRL advises, L2 says its goals for the day, L1 cuts what would not be safe. "
        "In the end HRL plays the same world in your factory.",
        head=_head,
        begin=ScmlLive,
        watched=False,
    )


def _head() -> str:
    package = "understudy.games.scml.live"
    style, script = asset("live.css", package), asset("live.js", package)
    return f'<style>\n{style}</style>\n<script>\n"use strict";\n{{\n{script}}}\n</script>\n'


class ScmlLive:
    """One world."""

    def __init__(self, seats: Seats) -> None:
        one, other = seats.players
        if one is not None or other is None:
            raise InputError("take the first seat; who sits in the second plays all the others")
        seed = seats.seed % SEEDS
        players = [other] * sum(SIZES)
        players[PERSON] = PlayerRef(seats.person)
        self.plan = WorldPlan(
            match=f"{seats.person}-{other.name}-{seed}",
            field=f"a person among {other.name}",
            track="std",
            factories_per_level=SIZES,
            steps=STEPS,
            seed=seed,
            run=0,
            players=tuple(players),
            slots=(PERSON,),
            watched=frozenset({seats.person}),
        )
        self.over = False
        self._desk = Desk()
        self._tables = dict[str, pa.Table]()
        self._beside = dict[str, pa.Table]()
        self._failure: str | None = None
        self._asked = 0
        threading.Thread(target=self._play, daemon=True).start()
        self._wait()

    def _play(self) -> None:
        """In a thread of its own, which waits at the desk."""
        kind = type("Person", (PersonAgent,), {"desk": self._desk})
        others = replace(self.plan, watched=frozenset())
        players = list(self.plan.players)
        players[PERSON] = PlayerRef(HRL)
        try:
            with quiet(), random_state_kept():
                self._tables = play_one(self.plan, instead={PERSON: kind})
                self._beside = play_one(replace(others, players=tuple(players)))
        except Exception as failure:  # an agent's world may end in anything
            self._failure = line_of(failure)
        finally:
            self._desk.questions.put(None)

    def _wait(self) -> None:
        self._question = self._desk.questions.get()
        self.over = self._question is None
        if self._failure is not None:
            raise InputError(f"the world could not be played: {self._failure}")

    def scene(self) -> dict[str, Any]:
        """Who plays where."""
        plan = self.plan
        return {
            "players": [ref.name for ref in plan.players[PERSON :: len(plan.players) - 1 - PERSON]],
            "person": plan.players[PERSON].name,
            "steps": plan.steps,
        }

    def now(self) -> dict[str, Any]:
        """What is asked; in the end how it compares with HRL."""
        told: dict[str, Any] = {"step": self._asked, "question": self._question}
        return told | (self._compared() if self.over else {})

    def _compared(self) -> dict[str, Any]:
        mine, theirs = (_profits(tables) for tables in (self._tables, self._beside))
        score, other = (_score(tables) for tables in (self._tables, self._beside))
        days = [
            {"day": day, "mine": one, "hrl": two}
            for day, (one, two) in enumerate(zip(mine, theirs, strict=False))
        ]
        better = [str(one["day"]) for one in days if one["mine"] > one["hrl"]]
        where = f"better on day {', '.join(better)}" if better else "better on no day"
        outcome = f"your score {score:.3f}, HRL's {other:.3f} in the same factory: {where}"
        return {"outcome": outcome, "days": days}

    def step(self, done: Any) -> None:
        """One joint decision, up to the next question."""
        assert self._question is not None
        wishes = wishes_of(done, self._question)
        self._asked += 1
        self._desk.answers.put(wishes)
        self._wait()

    def recorded(self) -> dict[str, pa.Table]:
        """The person's world, with the decisions of the person alone."""
        return {name: rows for name, rows in self._tables.items() if name != "results"}


def _score(tables: Mapping[str, pa.Table]) -> float:
    return float(tables["results"]["score"][PERSON].as_py())


def _profits(tables: Mapping[str, pa.Table]) -> list[float]:
    rows = tables["days"].select(["factory", "day", "profit"]).to_pylist()
    return [round(row["profit"], 1) for row in rows if row["factory"] == PERSON]
