"""Counts and times of a server, in the text form that Prometheus reads."""

import bisect
import time
from collections import Counter
from dataclasses import dataclass, field

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0)
"""Seconds; how many answers took at most so long."""
_HELP = {
    "messages": "messages that came",
    "decisions": "decisions that were answered",
    "errors": "messages that were answered with an error",
    "late": "decisions that would have come too late and were not made",
    "recorded": "steps that were written down",
    "batches": "times that waiting decisions were made together",
    "ended": "matches that have ended",
}


@dataclass
class Metrics:
    """What has happened since the start."""

    began: float = field(default_factory=time.monotonic)
    counts: Counter[str] = field(default_factory=Counter)
    _times: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    _seconds: float = 0.0

    def add(self, name: str, count: int = 1) -> None:
        """Count something."""
        self.counts[name] += count

    def took(self, seconds: float) -> None:
        """An answer was given after so long."""
        self._times[bisect.bisect_left(BUCKETS, seconds)] += 1
        self._seconds += seconds

    @property
    def uptime(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    def text(self, **gauges: float) -> str:
        """All of it."""
        lines = [
            line
            for name, words in _HELP.items()
            for line in (
                f"# HELP understudy_{name}_total {words}",
                f"# TYPE understudy_{name}_total counter",
                f"understudy_{name}_total {self.counts[name]}",
            )
        ]
        lines += ["# TYPE understudy_answer_seconds histogram"]
        total = 0
        for border, count in zip(BUCKETS, self._times, strict=False):
            total += count
            lines.append(f'understudy_answer_seconds_bucket{{le="{border}"}} {total}')
        total += self._times[-1]
        lines.append(f'understudy_answer_seconds_bucket{{le="+Inf"}} {total}')
        lines += [f"understudy_answer_seconds_sum {self._seconds:.6f}"]
        lines += [f"understudy_answer_seconds_count {total}"]
        for name, value in {"uptime_seconds": self.uptime, **gauges}.items():
            lines += [f"# TYPE understudy_{name} gauge", f"understudy_{name} {value:g}"]
        return "\n".join(lines) + "\n"
