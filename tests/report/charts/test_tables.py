"""Tables take rows of any kind."""

from tests.report.charts.drawn import found, parsed
from understudy.report.charts import table


def test_columns_of_numbers_stand_right():
    html = table(["name", "won", "mixed"], [["a", 1, "x"], ["b", None, 2]])
    heads = [e.get("class") for e in parsed(html).iter("th")]
    assert heads == [None, "number", None]
    assert [e.get("data-value") for e in found(html, "number")[1:]] == ["1.0", None]


def test_rows_of_any_length_fit():
    html = table(["a"], [[1, 2, 3], []], highlight={1})
    assert [len(list(row)) for row in parsed(html).iter("tr")] == [3, 3, 3]
    assert len(found(html, "stress")) == 1
