"""The pictures of docs/studio.md, taken of a studio that serves a folder of runs.

    python docs/studio/pictures.py RUNS OUT --arena RUN --beside RUN --worlds RUN

RUN of --arena has a league, two trained models among them; --worlds is of the supply chain.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
LARGEST = 100_000
"""Bytes of a picture."""


def steps(tab: Page, address: str, told: argparse.Namespace) -> dict[str, None]:
    """Go from page to page; a picture of each."""
    taken = dict[str, None]()

    def take(name: str, height: int = 620) -> None:
        tab.set_viewport_size({"width": 980, "height": height})
        tab.wait_for_timeout(700)
        path = told.out / f"{name}.png"
        tab.screenshot(path=path)
        if path.stat().st_size > LARGEST:
            sys.exit(f"{path} is {path.stat().st_size:,} bytes")
        taken[name] = None

    def go(path: str, wait: str) -> None:
        tab.goto(address + path)
        tab.locator(wait).first.wait_for()

    go("/", "table.runs")
    take("runs", 470)
    go(f"/run/{told.arena}/", ".chart.lines")
    tab.locator(f"[id^=part-]:has-text('{told.model}: loss')").first.scroll_into_view_if_needed()
    take("run")
    tab.locator("h2:has-text('Ratings')").first.scroll_into_view_if_needed()
    take("league")
    go(f"/compare?run={told.arena}&run={told.beside}", "h2:has-text('How they ended')")
    take("compare")
    go(f"/start?verb=train&game=arena&run={told.arena}", "form#asked")
    take("start")
    go(f"/run/{told.worlds}/look", "table.looks a")
    tab.locator("table.looks a").first.click()
    tab.locator("main").wait_for()
    take("world", 400)
    go("/play", "form.seats")
    tab.click("text=Sit down")
    tab.locator("canvas").wait_for()
    tab.locator("#match").scroll_into_view_if_needed()
    tab.keyboard.down("KeyD")
    tab.keyboard.down("KeyS")
    tab.keyboard.down("Space")
    tab.wait_for_timeout(1700)
    take("play", 700)
    return taken


def main() -> None:
    """Serve, look, take."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--arena", required=True)
    parser.add_argument("--beside", required=True)
    parser.add_argument("--worlds", required=True)
    parser.add_argument("--model", default="imitate-quick")
    told = parser.parse_args()
    command = [sys.executable, "-m", "understudy", "studio", str(told.runs), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdout is not None
        link = re.search(r"(http://127.0.0.1:\d+)/\?token=\S+", studio.stdout.readline())
        assert link
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox", "--headless", "--disable-gpu"]
            )
            tab = browser.new_page(color_scheme="light")
            tab.set_default_timeout(90_000)
            tab.goto(link[0])
            print(*steps(tab, link[1], told))
            browser.close()
        studio.terminate()


if __name__ == "__main__":
    main()
