"""A page stands alone: well put together, escaped, and asking nobody for anything."""

import re
from html.parser import HTMLParser

import pytest

from tests.browser import silent_tab
from understudy.report.charts import line_chart, table
from understudy.report.page import Panel, page

VOID = {"meta", "link", "input", "br"}


class Outline(HTMLParser):
    """Collects tags and attributes, and fails on a tag that is not closed in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag):
        return [attrs for seen, attrs in self.seen if seen == tag]


def example():
    head = "<style>.extra {}</style>"
    return page(
        "Arena <1>",
        "A & B",
        [
            Panel("Loss", line_chart({"a": [(0, 1), (1, 2)]}, title="loss"), note="5 < 6"),
            Panel("Loss", table(["x"], [[1]]), head=head),
            Panel("<script>", "", head=head, wide=True),
        ],
    )


def test_a_page_is_closed_tag_by_tag():
    assert len(Outline(example()).all("section")) == 3


def test_titles_and_notes_are_escaped():
    html = example()
    for text in ("Arena &lt;1&gt;", "A &amp; B", "5 &lt; 6", "<h2>&lt;script&gt;</h2>"):
        assert text in html


def test_every_link_of_the_contents_leads_to_its_own_card():
    outline = Outline(example())
    targets = [link["href"] for link in outline.all("a")]
    assert targets == [f"#{card['id']}" for card in outline.all("section")]
    assert len(set(targets)) == 3


def test_panels_with_the_same_head_share_it():
    assert example().count(".extra") == 1


def test_a_page_names_no_place_outside_itself():
    html = example()
    outline = Outline(html)
    assert not re.search(
        r"https?:|//[a-z]|@import|url\(", re.sub(r"^\s*//.*$", "", html, flags=re.M)
    )
    assert all(not attrs.get("src") for _, attrs in outline.seen)
    assert [link["href"] for link in outline.all("link")] == ["data:,"]


def test_a_page_forbids_loading():
    (policy,) = [m["content"] for m in Outline(example()).all("meta") if "http-equiv" in m]
    assert "default-src 'none'" in policy


def test_a_page_without_panels_says_so():
    assert "Nothing to show yet" in page("t", "s", [])


@pytest.mark.browser
def test_hovering_shows_values_and_a_click_sorts(browser, tmp_path):
    lines = line_chart({"a": [(0, 1), (1, 2)], "b": [(0, 3), (1, 4)]}, title="t", x_label="step")
    rows = table(["name", "won"], [["x", 9], ["y", 10], ["z", 8]])
    path = tmp_path / "report.html"
    path.write_text(page("t", "s", [Panel("Chart", lines), Panel("Table", rows)]), "utf-8")
    with silent_tab(browser, path) as tab:
        tab.locator(".field").hover()
        assert re.split(r"\s+", tab.locator(".tip").inner_text()) == [
            "step",
            "0",
            "a",
            "1",
            "b",
            "3",
        ]
        tab.get_by_role("button", name="b").click()
        tab.locator(".field").hover()
        assert "b" not in tab.locator(".tip").inner_text()
        for names in ("yxz", "zxy"):
            tab.get_by_text("won").click()
            assert "".join(tab.locator("tbody td:first-child").all_inner_texts()) == names
