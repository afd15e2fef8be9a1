"""A served policy under load, on this machine: answers a second, how long each takes, what is kept.

    python benchmarks/serve_load.py RUN/models/imitate --rate 200 --seconds 20
    python benchmarks/serve_load.py RUN/models/imitate --websocket --rate 1000
    python benchmarks/serve_load.py RUN/models/imitate --kill 5

Questions are sent at a fixed rate whatever the answers do (an open loop: who waits for an answer
before asking again does not see a queue). A time is from when a question was due to its answer.
With --kill the server is killed so often and started again; every step that was answered must then
be in the recordings.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MATCHES = 20


def start(model, folder, port, token):
    """A server in a process of its own; it is ready when it says so."""
    command = [sys.executable, "-m", "understudy", "serve", "arena", str(model)]
    command += ["--port", str(port), "--token", str(token), "--record", str(folder)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONHASHSEED": "0"}
    )
    said = process.stdout.readline()
    if not said:
        sys.exit(f"the server did not start (code {process.wait()})")
    return process, int(said.split(":")[3].split("/")[0])


class Line:
    """One connection that asks and is answered in order."""

    def __init__(self, port, token, websocket):
        self.port, self.token, self.websocket = port, token, websocket
        self.client = None

    async def ask(self, message):
        """The answer; None where the server is gone."""
        try:
            return await (self._by_socket(message) if self.websocket else self._by_http(message))
        except Exception:  # whatever way it broke
            await self.close()
            return None

    async def _by_http(self, message):
        if self.client is None:
            self.client = await asyncio.open_connection("127.0.0.1", self.port)
        reading, writing = self.client
        body = json.dumps(message).encode()
        writing.write(
            f"POST /act HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\nauthorization: Bearer "
            f"{self.token}\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = (await reading.readuntil(b"\r\n\r\n")).lower()
        size = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        return json.loads(await reading.readexactly(size))

    async def _by_socket(self, message):
        from websockets.asyncio.client import connect

        if self.client is None:
            self.client = await connect(f"ws://127.0.0.1:{self.port}/ws?token={self.token}")
        await self.client.send(json.dumps(message))
        return json.loads(await self.client.recv())

    async def close(self):
        """Forget the connection."""
        client, self.client = self.client, None
        if client is not None and not self.websocket:
            client[1].close()


async def load(told, port, token, between):
    """Ask at the rate; times and answers. `between` is done beside it."""
    lines = [Line(port, token, told.websocket) for _ in range(told.connections)]
    free = asyncio.Queue()
    for line in lines:
        free.put_nowait(line)
    times, answered, errors = [], [], 0
    rng = random.Random(0)

    async def one(number, due):
        nonlocal errors
        line = await free.get()
        message = {
            "match": f"m{number % MATCHES}",
            "step": number // MATCHES,
            "observation": {"position": [rng.uniform(-9, 9), 1.5], "health": 80},
        }
        answer = await line.ask(message)
        free.put_nowait(line)
        if answer is None or "error" in answer:
            errors += 1
        else:
            times.append(time.perf_counter() - due)
            answered.append((message["match"], message["step"]))

    beside = asyncio.create_task(between())
    began = time.perf_counter()
    tasks = []
    for number in range(int(told.rate * told.seconds)):
        due = began + number / told.rate
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(one(number, due)))
    await asyncio.gather(*tasks)
    spent = time.perf_counter() - began
    await beside
    for line in lines:
        await line.close()
    return np.array(times), answered, errors, spent


def main():
    """Load, kills if asked for, and what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--websocket", action="store_true")
    parser.add_argument("--kill", type=int, default=0, help="so many times")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        sys.exit(not measured(told, Path(place)))


def measured(told, place):
    """Whether nothing that was answered is lost, and without kills nothing went wrong."""
    token = "load-test-" + "x" * 20
    secret, served = place / "token", place / "served"
    secret.write_text(token)
    process, port = start(told.model, served, 0, secret)
    state = {"process": process, "cpu": 0.0}

    async def kills():
        for _ in range(told.kill):
            await asyncio.sleep(told.seconds / (told.kill + 1))
            state["process"].kill()
            state["process"].wait()
            again = await asyncio.to_thread(start, told.model, served, port, secret)
            state["process"] = again[0]

    asyncio.run(load_once(told, port, token)) if not told.kill else None
    start_up = cpu_ms(process.pid)
    before = os.times()
    times, answered, errors, spent = asyncio.run(load(told, port, token, kills))
    after = os.times()
    spent_by_server = cpu_ms(state["process"].pid) - (0 if told.kill else start_up)
    state["process"].send_signal(signal.SIGTERM)
    code = state["process"].wait(timeout=20)
    lost = missing(served, answered)
    p50, p99, worst = np.percentile(times * 1000, [50, 99, 100])
    how = "WebSocket" if told.websocket else "HTTP"
    print(
        f"{how}: {len(times):,} answers in {spent:.1f} s, {len(times) / spent:.0f}/s; "
        f"p50 {p50:.2f} ms, p99 {p99:.2f} ms, worst {worst:.1f} ms; errors {errors}"
    )
    print(f"kills {told.kill}; of {len(answered):,} answered steps {lost} are not recorded")
    print(f"server ended with {code}; load average {os.getloadavg()[0]:.1f}")
    print(f"CPU s of this client: {after.user - before.user + after.system - before.system:.1f}")
    print(
        f"CPU ms of the server an answer, its start taken out: {spent_by_server / len(times):.2f}"
    )
    return lost == 0 and (told.kill or not errors) and code == 0


def cpu_ms(pid):
    """CPU milliseconds of a process so far (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def load_once(told, port, token):
    """A few questions before it counts: the first compile and connect."""
    line = Line(port, token, told.websocket)
    for number in range(20):
        await line.ask(
            {"match": "warm", "step": number, "observation": {"position": [0, 0], "health": 1}}
        )
    await line.close()


def missing(served, answered):
    """How many answered steps are not in the streams."""
    there = set()
    for path in served.glob("*/feedback_stream.jsonl"):
        for line in path.read_bytes().splitlines():
            if line.endswith(b"}"):
                there.add((path.parent.name, json.loads(line)["t"]))
    return len(set(answered) - there)


if __name__ == "__main__":
    main()
