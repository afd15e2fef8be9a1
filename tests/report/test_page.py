"""A page stands alone: well put together, escaped, and asking nobody for anything."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from tests.browser import silent_tab
from understudy.report.charts import line_chart, table
from understudy.report.page import Panel, asset, page

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


def test_only_the_head_may_run_or_style_anything():
    slipped = "<script>slipped()</script><style>b{}</style>"
    html = page("a", "b", [Panel("c", slipped, head="<script>wanted()</script>")])
    policy = re.search(r'Security-Policy" content="([^"]*)"', html)[1]
    assert "unsafe" not in policy
    hashes = set(re.findall(r"'sha256-([^']*)'", policy))
    parts = dict.fromkeys(re.findall(r"<(?:style|script)>(.*?)</", html, re.DOTALL))
    allowed = [
        text for text in parts if b64encode(sha256(text.encode()).digest()).decode() in hashes
    ]
    assert len(hashes) == len(allowed) == 4  # page.css, page.js, the panel's, and styles set apart
    assert set(parts) - set(allowed) == {"slipped()", "b{}"}


def test_a_style_becomes_a_class_that_others_share():
    html = page(
        "a", "b", [Panel("c", '<i style="left:1%" class="dot"></i><i style="left:1%"></i><p>x</p>')]
    )
    assert '<i class="s-0 dot"></i><i class="s-0"></i><p>x</p>' in html
    assert ".s-0.s-0.s-0.s-0{left:1%}" in html
    assert " style=" not in html.partition("<body>")[2]


def contrast(one, other):
    """As WCAG 2 defines it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color):
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def themes(*sheets):
    """Colours by name in the light theme, and in the dark one."""
    light, dark = {}, {}
    for sheet in sheets:
        first, _, rest = sheet.partition("prefers-color-scheme: dark")
        for found, text in ((light, first), (dark, rest.split("\n}\n", 1)[0])):
            found |= dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", text))
    return light, dark


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(theme):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    sheets = asset("page.css"), asset("viewer.css", "understudy.games.arena.viewer")
    colors = themes(*sheets)[theme]
    for text in ("ink", "soft", "accent", "good", "bad", "gold", "p0-ink", "p1-ink"):
        for behind in ("card", "well", "bg"):
            assert contrast(colors[f"--{text}"], colors[f"--{behind}"]) >= 4.5, (text, behind)


@pytest.mark.browser
def test_a_hovered_dot_lies_on_its_line(browser, tmp_path):
    path = tmp_path / "page.html"
    flat = [(float(x), 2.0) for x in range(5)]
    chart = line_chart({"flat": flat, "other": [(0.0, 0.0), (4.0, 4.0)]}, title="One")
    path.write_text(page("Page", "", [Panel("Lines", chart)]))
    with silent_tab(browser, path) as tab:
        field = tab.locator(".field").bounding_box()
        tab.mouse.move(field["x"] + field["width"] / 2, field["y"] + 5)
        share = tab.evaluate("JSON.parse(document.querySelector('.line').dataset.points)[2][1]")
        spot = tab.locator(".spot").first.bounding_box()
        middle = spot["y"] + spot["height"] / 2
        assert middle == pytest.approx(field["y"] + field["height"] * (1 - share), abs=1)


def test_findings_stand_at_the_top_before_anything_else():
    panels = [Panel(str(k), "", finding=f"<{k}> won" if k else "") for k in range(6)]
    made = page("t", "s", panels)
    header = made[made.index("<header>") : made.index("</header>")]
    assert [f"&lt;{k}&gt; won" in header for k in range(1, 6)] == [True] * 3 + [False] * 2
