"""The documentation holds together: links lead somewhere, and the site builds."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import understudy

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(path):
    """Of every heading, as GitHub and mkdocs make them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings_that_are_there(page):
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", page.read_text())):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        assert there.exists(), f"{page.name}: {target}"
        if anchor and there.suffix == ".md":
            assert anchor in anchors(there), f"{page.name}: {target}"


def test_the_site_names_pages_that_are_there():
    told = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert len(told) > 15
    for name in told:
        assert (ROOT / "docs" / name).is_file(), name


def test_chinese_pages_are_in_the_first_lines_of_the_readme():
    assert "docs/zh/README.md" in "\n".join((ROOT / "README.md").read_text().splitlines()[:2])
    assert {page.stem for page in (ROOT / "docs/zh").glob("*.md")} >= {"README", "tour", "scml"}


def test_chinese_pages_tell_the_figures_of_the_english_tables():
    figure = re.compile(r"(?<![\d.])\.\d{3,4}")
    english = [(ROOT / name).read_text() for name in ("README.md", "docs/measured.md")]
    known = set(figure.findall("".join(english)))
    for page in (ROOT / "docs/zh").glob("*.md"):
        found = set(figure.findall(page.read_text()))
        assert found <= known, f"{page.name}: {sorted(found - known)} are not in the English"


def test_the_reference_has_every_public_name():
    page = (ROOT / "docs" / "api.md").read_text()
    for name in set(understudy.__all__) - {"__version__"}:
        assert re.search(rf"\b{name}\b", page), name


def test_nobody_is_sent_to_a_package_of_somebody_else():
    """`understudy` on PyPI is not ours: who has nothing yet installs from the folder."""
    for page in ("README.md", "docs/index.md", "docs/zh/README.md"):
        commands = re.findall(r"pip install [^\n#]+", (ROOT / page).read_text())
        assert any('".[scml,dota]"' in command for command in commands)
        assert not [command for command in commands if "understudy" in command], page


@pytest.mark.slow
def test_the_site_builds_without_a_broken_link(tmp_path):
    if find_spec("mkdocs") is None:
        pytest.skip("no mkdocs here: make docs installs it")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path / "site")]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=250, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    api = (tmp_path / "site" / "api.html").read_text()
    assert "Let players meet" in api and "HRLAgent" in api


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_pages_name_by_their_room_are_there(page):
    if page.name in ("log.md", "CHANGELOG.md"):  # both speak of what was
        pytest.skip("about the past")
    roots = [ROOT, ROOT / "understudy", *(ROOT / "understudy/games").iterdir()]
    rooms = "|".join(room.name for room in roots[1].iterdir() if room.is_dir())
    for named in re.findall(
        rf"`((?:{rooms}|tests|benchmarks|examples)/[\w/.]+)`", page.read_text()
    ):
        if not re.search(r"\b[A-Z]+\b", named):  # games/NAME/ is for the reader to fill in
            assert any((root / named).exists() for root in roots), named
