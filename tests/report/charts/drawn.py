"""What charts are looked at with: their HTML as a tree, and values that are hard to draw."""

import math
import re
from xml.etree import ElementTree

from hypothesis import strategies as st

NASTY = '<b onclick="x">\'&</b>'
NAN, INF = math.nan, math.inf
anything = st.one_of(st.none(), st.floats(), st.integers())
texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"]), max_size=40
)


def parsed(html):
    return ElementTree.fromstring(f"<div>{html}</div>")


def found(html, kind):
    return [e for e in parsed(html).iter() if kind in e.get("class", "").split()]


def percent(element, side):
    return float(re.search(rf"{side}:(-?[\d.]+)%", element.get("style"))[1]) / 100
