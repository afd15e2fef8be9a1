"""How quick the studio is, how large it becomes, and what it costs those whom it watches.

    python benchmarks/studio_load.py runs      200 runs, one of them with 10^6 lines of metrics
    python benchmarks/studio_load.py play      a match at ten decisions a second, end to end
    python benchmarks/studio_load.py league    a league alone, and with 20 pages that look on

Everything is on this machine, over loopback; bounded in time. CPU seconds where said: a machine
that others use makes wall times longer.
"""

import argparse
import contextlib
import http.client
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from websockets.sync.client import connect

from understudy.data.integrity.json_files import write_json
from understudy.data.runs import MANIFEST, ModelFolder, Run

MOMENT = "2026-11-18T12:00:00+00:00"
ECHO = [sys.executable, "-uc", "import sys\nfor line in sys.stdin: print(line, end='')"]
PROGRAM = [sys.executable, "-m", "understudy"]


class Studio:
    """One that was started as a person starts it, and a browser's way in."""

    def __init__(self, folder: Path) -> None:
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [*PROGRAM, "studio", str(folder), "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        link = re.search(r"http://([\d.]+):(\d+)/\?token=(\S+)", self.process.stdout.readline())
        assert link
        self.started = time.perf_counter() - began
        self.port = int(link[2])
        answer = self._ask(f"/?token={link[3]}", {})
        self.cookie = answer[1]["set-cookie"].partition(";")[0]

    def _ask(self, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str], str]:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as asked:
            asked.request("GET", path, headers=headers)
            answer = asked.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, told, answer.read().decode()

    def get(self, path: str) -> tuple[float, int, str]:
        """Seconds, status and text of an answer."""
        began = time.perf_counter()
        status, _, text = self._ask(path, {"Cookie": self.cookie})
        return time.perf_counter() - began, status, text

    def megabytes(self) -> tuple[float, float]:
        """Resident now and at most."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        now, most = (re.search(rf"{name}:\s+(\d+)", text) for name in ("VmRSS", "VmHWM"))
        assert now
        assert most
        return int(now[1]) / 1024, int(most[1]) / 1024

    def cpu(self) -> float:
        """CPU seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(20)


@contextlib.contextmanager
def studio(folder: Path) -> Iterator[Studio]:
    found = Studio(folder)
    try:
        yield found
    finally:
        found.close()


def manifest(folder: Path, kind: str, **settings: object) -> None:
    told = {"stage": kind, "settings": {"game": "arena", **settings}, "inputs": {}}
    told |= {"command": ["understudy"], "versions": {}, "begun": MOMENT, "finished": MOMENT}
    write_json(folder / MANIFEST, told)


def many_runs(folder: Path, runs: int, lines: int) -> None:
    """Runs with recordings, samples and three models each; the first with long metrics."""
    rng = random.Random(0)
    for number in range(runs):
        run = Run(folder / f"run-{number:03d}")
        manifest(run.recordings, "record", matches=100)
        manifest(run.samples, "encode")
        for name in ("imitate", "awr", "refine"):
            manifest(run.model(name), "train", recipe=name, steps=1000)
            count = lines if (number, name) == (0, "refine") else 200
            with ModelFolder(run.model(name)).metrics.open("w") as file:
                for step in range(count):
                    loss = 1 / (1 + step / count) + rng.random() / 50
                    file.write(
                        f'{{"step":{step},"train/loss":{loss:.6f},"val/loss":{loss + 0.1:.6f},'
                        f'"train/kl":{rng.random():.6f},"train/entropy":{2 - loss:.6f}}}\n'
                    )


def measure_runs(args: argparse.Namespace) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        many_runs(folder, args.runs, args.lines)
        with studio(folder) as here:
            print(f"link after {here.started:.2f} s")
            for name, path in (
                ("first page", "/"),
                ("again", "/"),
                ("a run's page", "/run/run-000/"),
            ):
                seconds, status, text = here.get(path)
                print(f"{name}: {seconds:.3f} s, {status}, {len(text) / 1000:.0f} kB")
            part = "/run/run-000/part?key=models/refine"
            seconds, status, text = here.get(part)
            size = f"{len(text) / 1e3:.0f} kB"
            print(f"curves of {args.lines:,} lines, first look: {seconds:.3f} s, {size}")
            began = time.perf_counter()
            while "A first look" in text and time.perf_counter() - began < 120:
                time.sleep(0.2)
                seconds, _, text = here.get(part)
            print(f"all lines read after {time.perf_counter() - began:.1f} s; then {seconds:.3f} s")
            print(f"once more: {here.get(part)[0]:.3f} s")
            print("memory now and at most: {:.0f}, {:.0f} MB".format(*here.megabytes()))
            print(f"CPU seconds of the studio: {here.cpu():.1f}")
    finally:
        shutil.rmtree(folder)


def measure_play(args: argparse.Namespace) -> None:
    with (
        studio(args.folder) as here,
        connect(
            f"ws://127.0.0.1:{here.port}/play/table",
            additional_headers={"Cookie": here.cookie, "Origin": f"http://127.0.0.1:{here.port}"},
        ) as socket,
    ):
        times, floor = list[float](), list[float]()
        echo = subprocess.Popen(ECHO, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def way() -> float:
            """Seconds for a word to another process and back: what this machine takes at least."""
            assert echo.stdin is not None
            assert echo.stdout is not None
            began = time.perf_counter()
            echo.stdin.write(b"x\n")
            echo.stdin.flush()
            echo.stdout.readline()
            return time.perf_counter() - began

        def ask(message: dict[str, object]) -> dict[str, object]:
            socket.send(json.dumps(message))
            answer: dict[str, object] = json.loads(socket.recv())
            assert "error" not in answer, answer
            return answer

        seats = {"game": "arena", "west": "@you", "east": args.against, "person": "nobody"}
        while len(times) < args.decisions:
            ask({"open": seats})
            over = False
            while not over and len(times) < args.decisions:
                began = time.perf_counter()
                side = 1 if len(times) % 20 < 10 else -1
                over = bool(ask({"do": {"move": [0, side], "aim": [1, 0]}})["over"])
                times.append(time.perf_counter() - began)
                time.sleep(max(0.0, 0.05 - times[-1]))
                floor.append(way())
                time.sleep(max(0.0, 0.05 - floor[-1]))
            if over:
                json.loads(socket.recv())  # where it was written to
        echo.kill()
        print(f"{len(times)} decisions against {args.against}, ms at 50, 95, 99, 100 %:")
        for name, found in (("a decision", times), ("a word to a process and back", floor)):
            found.sort()
            told = [1000 * found[int(share * (len(found) - 1))] for share in (0.5, 0.95, 0.99, 1)]
            print(f"{name}: {', '.join(f'{ms:.1f}' for ms in told)}")


LEAGUE = ("--from imitate-quick --recipe demo --set rounds={rounds} --set agent_steps={steps} "
          "--set exploiter_steps=0 --set matches=4 --workers 1 --quiet")  # fmt: skip


def league_seconds(run: Path, rounds: int, steps: int) -> float:
    """CPU seconds of a small league and its processes."""
    shutil.rmtree(Run(run).leagues, ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = LEAGUE.format(rounds=rounds, steps=steps).split()
    subprocess.run(
        [*PROGRAM, "league", "arena", "--out", str(run), *words],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def look_on(here: Studio, run: str, over: threading.Event, count: list[int]) -> None:
    """What an open page does: hear what has changed, and ask for those parts anew."""
    asked = http.client.HTTPConnection("127.0.0.1", here.port, timeout=20)
    asked.request("GET", f"/events/{run}", headers={"Cookie": here.cookie})
    with contextlib.closing(asked), asked.getresponse() as answer, contextlib.suppress(OSError):
        while not over.is_set():
            line = answer.readline()
            if line.startswith(b"data:"):
                count[0] += 1
                for what in json.loads(line[5:]):
                    if what == "stages":
                        here.get(f"/run/{run}/stages")
                    elif what.startswith("leagues/"):
                        here.get(f"/run/{run}/part?key={what}")


def measure_league(args: argparse.Namespace) -> None:
    folder = Path(tempfile.mkdtemp())
    ratios, own, heard = list[float](), list[float](), [0]
    try:
        run = folder / "watched"
        shutil.copytree(args.folder / args.run, run, ignore=shutil.ignore_patterns("leagues"))
        for pair in range(args.pairs):
            found = dict[bool, float]()
            for watched in (pair % 2 == 0, pair % 2 == 1):
                if not watched:
                    found[False] = league_seconds(run, args.rounds, args.steps)
                    continue
                over = threading.Event()
                with studio(folder) as here:
                    for _ in range(args.pages):
                        threading.Thread(
                            target=look_on, args=(here, "watched", over, heard), daemon=True
                        ).start()
                    time.sleep(2)
                    before = here.cpu()
                    found[True] = league_seconds(run, args.rounds, args.steps)
                    own.append(here.cpu() - before)
                    over.set()
            ratios.append(found[True] / found[False])
            print(
                f"alone {found[False]:.2f}, watched {found[True]:.2f} CPU s, studio {own[-1]:.2f}"
            )
        print(
            f"ratio: median {statistics.median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}"
        )
        print(f"{heard[0]} events heard by {args.pages} pages")
    finally:
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["runs", "play", "league"])
    parser.add_argument("--folder", type=Path, default=Path("runs"), help="of runs: play, league")
    parser.add_argument("--run", default="arena", help="league: the run that has imitate-quick")
    parser.add_argument("--against", default="expert", help="play: a bot, or RUN/models/NAME")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--decisions", type=int, default=600)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100_000)
    args = parser.parse_args()
    {"runs": measure_runs, "play": measure_play, "league": measure_league}[args.what](args)


if __name__ == "__main__":
    main()
