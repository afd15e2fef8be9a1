"""Squares are coloured by how far their value is from a half."""

import re

from tests.report.charts.drawn import found, parsed
from understudy.report.charts import heat_map


def test_heat_grows_away_from_a_half():
    html = heat_map(["a", "b"], [[0.5, 1.0], [0.25, None]], [[4, 8], [16, None]], title="t")
    heats = [
        re.search(r"--heat:(\d+)%", td.get("style"))[1]
        for td in parsed(html).iter("td")
        if td.get("style")
    ]
    assert heats == ["0", "100", "50"]
    assert len(found(html, "none")) == 1
    assert "".join(found(html, "high")[0].itertext()) == "100\u00a0%8"
