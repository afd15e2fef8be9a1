"""Messages in, answers out: many at once, each written down before it is answered."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from understudy.serve.codecs import Codec, by_head
from understudy.serve.decider import Decider, Question
from understudy.serve.messages import Asked, MessageError, id_of, read, refusal, written
from understudy.serve.metrics import Metrics
from understudy.serve.streams import Streams, match_name, score

MOST_AT_ONCE = 64


class Arrived(NamedTuple):
    """A message, and when it came by `time.perf_counter`."""

    raw: bytes | str
    at: float


class _Open(NamedTuple):
    """A question that waits for the others of its batch."""

    place: int
    asked: Asked
    question: Question
    at: float


@dataclass
class Service:
    """One policy that is asked by running games."""

    game: str
    name: str
    """The model's, and so the player's."""
    codec: Codec
    decider: Decider
    streams: Streams | None = None
    """None: nothing is written down."""
    metrics: Metrics = field(default_factory=Metrics)
    _steps: dict[tuple[str, int], int] = field(default_factory=dict)
    """The last step of each match that is going on."""

    @property
    def matches(self) -> int:
        """How many are going on."""
        return len(self._steps)

    def answer(self, arrived: Sequence[Arrived]) -> list[bytes]:
        """An answer to each message, in their order."""
        answers: list[dict[str, Any]] = [{} for _ in arrived]
        waiting = list[_Open]()
        self.metrics.add("messages", len(arrived))
        for place, (raw, at) in enumerate(arrived):
            try:
                asked = read(raw)
            except MessageError as mistake:
                answers[place] = self._refused(mistake, id_of(raw))
                continue
            try:
                if asked.end or len(waiting) == MOST_AT_ONCE:
                    waiting = self._decide(waiting, answers)
                if asked.end:
                    answers[place] = self._end(asked)
                else:
                    waiting.append(_Open(place, asked, self._question(asked), at))
            except MessageError as mistake:
                answers[place] = self._refused(mistake, asked.id)
        self._decide(waiting, answers)
        now = time.perf_counter()
        for one in arrived:
            self.metrics.took(now - one.at)
        return [written(answer) for answer in answers]

    def _refused(self, mistake: MessageError, marked: Any) -> dict[str, Any]:
        self.metrics.add("errors")
        return refusal(str(mistake), marked)

    # --- one question ----------------------------------------------------------------------------

    def _question(self, asked: Asked) -> Question:
        match, slot = match_name(asked.match), asked.slot
        step = self._step(match, slot, asked.step)
        features, legal = self.codec.see(asked, step)
        question = Question(match, slot, step, features, legal, self._uniform(asked))
        if self.decider.remembers and not self.decider.knows(match, slot):
            self._recall(match, slot)
        self._steps[match, slot] = step
        return question

    def _step(self, match: str, slot: int, told: int | None) -> int:
        if told is not None:
            return told
        last = self._steps.get((match, slot))
        if last is None:
            last = -1 if self.streams is None else self.streams.last(match, slot)
        return last + 1

    def _uniform(self, asked: Asked) -> Any:
        if asked.uniform is None:
            return None
        heads = len(self.decider.policy.shape.heads)
        if len(asked.uniform) != heads or not all(0 <= one < 1 for one in asked.uniform):
            raise MessageError(f"uniform is not {heads} numbers from 0 to below 1")
        return np.array(asked.uniform, np.float32)

    def _recall(self, match: str, slot: int) -> None:
        """What the policy remembered of a match before this process, from what was written."""
        for line in () if self.streams is None else self.streams.lines(match, slot):
            seen = line.get("observation", line.get("features"))
            asked = Asked(match=match, slot=slot, observation=seen, legal=line.get("legal"))
            step = int(line.get("t", line.get("step", 0)))
            self.decider.decide([Question(match, slot, step, *self.codec.see(asked, step))])

    # --- all questions that wait -----------------------------------------------------------------

    def _decide(self, waiting: list[_Open], answers: list[dict[str, Any]]) -> list[_Open]:
        """Answer them; none are left."""
        timely = [one for one in waiting if not self._is_late(one, answers)]
        if not timely:
            return []
        found = self.decider.decide([one.question for one in timely])
        self.metrics.add("batches")
        for row, one in enumerate(timely):
            options, chances = found.action[row], found.probabilities[row]
            try:
                answers[one.place] = self._told(one, options, chances, float(found.value[row]))
            except MessageError as mistake:  # it could not be written down
                answers[one.place] = self._refused(mistake, one.asked.id)
        return []

    def _is_late(self, one: _Open, answers: list[dict[str, Any]]) -> bool:
        within = one.asked.within_ms
        waited = 1000 * (time.perf_counter() - one.at)
        if within is None or waited <= within:
            return False
        self.metrics.add("late")
        words = f"late: it has waited {waited:.1f} ms of {within:g}"
        answers[one.place] = self._refused(MessageError(words), one.asked.id)
        return True

    def _told(self, one: _Open, options: Any, chances: Any, value: float) -> dict[str, Any]:
        """The answer, once the decision is on disk."""
        question, heads = one.question, self.decider.policy.shape.heads
        action = self.codec.say(options)
        if self.streams is not None:
            seen = one.asked.observation
            if self.codec.live:
                line = {"observation": seen, "action": action, "value": round(value, 6)}
            else:
                line = {
                    "features": question.features.astype(float).tolist(),
                    "actions": options.tolist(),
                    "legal": question.legal.astype(int).tolist(),
                }
            self.streams.add(
                *(question.match, question.slot, question.step, line),
                one.asked.player or self.name,
            )
            self.metrics.add("recorded")
        self.metrics.add("decisions")
        answer = {
            "match": question.match,
            "slot": question.slot,
            "step": question.step,
            "action": action,
            "options": dict(zip(heads, options.tolist(), strict=True)),
            "probabilities": by_head(chances, heads),
            "value": round(value, 6),
        }
        return answer if one.asked.id is None else {**answer, "id": one.asked.id}

    def _end(self, asked: Asked) -> dict[str, Any]:
        """A match is over for a slot."""
        match, slot = match_name(asked.match), asked.slot
        if asked.outcome is not None:
            score(asked.outcome)  # or it is refused
            if self.streams is not None:
                self.streams.end(match, slot, asked.outcome, asked.player or self.name)
        self._steps.pop((match, slot), None)
        self.decider.forget(match, slot)
        self.metrics.add("ended")
        answer = {"match": match, "slot": slot, "ended": True}
        return answer if asked.id is None else {**answer, "id": asked.id}

    def close(self) -> None:
        """Let go of all files."""
        if self.streams is not None:
            self.streams.close()
