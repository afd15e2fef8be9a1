"""Pages in a real browser, which may neither complain nor ask for anything."""

import contextlib
from pathlib import Path

import pytest

CHROMIUM = Path("/usr/bin/chromium")
_FLAGS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@contextlib.contextmanager
def chromium():
    """A browser without a window; who needs one is skipped where there is none."""
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield found
        found.close()


@contextlib.contextmanager
def silent_tab(browser, path, **settings):
    """An open page; in the end, it may not have complained or asked for anything."""
    tab = browser.new_page(**{"viewport": {"width": 1200, "height": 800}} | settings)
    said, asked = [], []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(path.as_uri())
    yield tab
    tab.close()
    assert said == []
    assert asked == [path.as_uri()]
