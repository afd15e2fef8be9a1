"""Financial reports: every few days each factory's standing is published to all."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from scml.oneshot.common import FinancialReport

from understudy.games.scml.engine.factory import Factory

PERIOD = 5  # days


class Reports:
    """All reports so far, by factory and by day (SCMLBaseWorld.add_financial_report)."""

    def __init__(self) -> None:
        self._of: dict[str, dict[int, FinancialReport]] = defaultdict(dict)
        self._at: dict[int, dict[str, FinancialReport]] = {}

    def publish(self, day: int, factories: Mapping[str, Factory]) -> None:
        """Report on all factories, if this is a day for it."""
        if day % PERIOD:
            return
        for name, factory in factories.items():
            levels = factory.breach_levels
            report = FinancialReport(
                agent_id=name,
                step=day,
                cash=np.float64(factory.balance),
                assets=0,  # the league does not publish them
                breach_prob=(len(levels) - levels.count(0)) / len(levels),
                breach_level=sum(levels) / len(levels),
                is_bankrupt=factory.bankrupt,
                agent_name=name,
            )
            self._of[name][day] = report
            self._at.setdefault(day, {})[name] = report

    def of(self, name: str) -> dict[int, FinancialReport] | None:
        """A factory's reports by day; None before the first."""
        return self._of.get(name)

    def at(self, day: int) -> dict[str, FinancialReport] | None:
        """The reports of a day, or the latest before it."""
        earlier = [published for published in self._at if published <= day]
        return self._at[max(earlier)] if earlier else None
