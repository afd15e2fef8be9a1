"""Data laid into a page comes out again, whatever is in it, beside one copy of its scripts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.games.arena import viewer
from understudy.report.embed import Viewer, data_script
from understudy.report.page import asset, page

HOSTILE = "</script><script>alert(1)</script><!-- &lt; ]]>"
BARE = Viewer(viewer.__name__, "replay.html", "viewer.css", ("replay.js", "scene.js"), "d", "box")


def embedded(html):
    return html.split('class="d">')[1].split("</script>")[0]


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.just(HOSTILE)))
def test_data_comes_out_as_it_went_in_and_holds_no_sign_of_markup(data):
    html = data_script("d", data)
    assert json.loads(embedded(html)) == data
    assert not set("<>&") & set(embedded(html))
    assert html.count("<script") == html.count("</script>") == 1


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_json_cannot_say_is_refused(number):
    with pytest.raises(ValueError, match="JSON"):
        data_script("d", {"x": number})


def test_a_page_of_its_own_escapes_its_title_and_holds_the_data():
    html = BARE.page(HOSTILE, {"match": HOSTILE})
    assert "<title>&lt;/script&gt;" in html
    assert html.count("<script>alert") == 0
    assert json.loads(embedded(html)) == {"match": HOSTILE}


def test_panels_of_one_viewer_share_its_scripts_but_not_its_data():
    panel = BARE.panel("t", [{"n": 1}, {"n": 2}], "note")
    assert panel.wide
    assert panel.html.startswith('<div class="box">')
    html = page("t", "", [panel, panel])
    assert html.count(BARE.head()) == 1
    assert html.count('{"n":2}') == 2


def test_scripts_stand_in_one_scope_in_their_order():
    script = BARE.head().split("<script>\n")[1]
    first, second = (asset(name, viewer.__name__) for name in ("replay.js", "scene.js"))
    assert script == f'"use strict";\n{{\n{first}\n{second}}}\n</script>\n'
