"""An exported policy beside the one it was made of: size, time, and whether they agree.

    python benchmarks/export_speed.py RUN imitate

Observations and masks are those of the run's samples. Every way gets the same random numbers, one
thread and the same batches, in turn; a time is the median of many rounds.
"""

import argparse
import io
import time
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from understudy.data import shards
from understudy.data.runs import WEIGHTS, Run
from understudy.data.samples import unpack_legal
from understudy.export.numpy_policy import read_policy
from understudy.export.onnx_policy import onnx_policy
from understudy.export.torch_policy import torch_policy
from understudy.learn.policy import load_policy
from understudy.pipeline.game import load

BATCHES = (1, 64)


def main():
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("model")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=300)
    told = parser.parse_args()
    torch.set_num_threads(1)
    folder = Run(told.run).model(told.model)
    policy, network = read_policy(folder), load_policy(folder)
    made = onnx_policy(policy, {})
    program = torch_policy(network, {})
    print(f"{folder}: safetensors {(folder / WEIGHTS).stat().st_size:,} bytes, ", end="")
    print(f"ONNX {len(made):,}, torch program {len(program):,}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(made, options, providers=["CPUExecutionProvider"])
    exported = torch.export.load(io.BytesIO(program)).module()
    seen, legal = recorded(told.run, policy, told.rows)
    uniform = np.random.default_rng(0).random((len(seen), len(policy.shape.heads)), np.float32)
    ways = {
        "numpy": lambda rows: policy.decide(seen[rows], legal[rows], uniform[rows]),
        "onnxruntime": lambda rows: session.run(
            None, {"observation": seen[rows], "legal": legal[rows], "uniform": uniform[rows]}
        ),
        "torch": lambda rows: by_torch(network, seen[rows], legal[rows], uniform[rows]),
        "torch program": lambda rows: exported(
            *(torch.from_numpy(part[rows]) for part in (seen, legal, uniform)),
            torch.zeros(len(seen[rows]), dtype=torch.int64),  # no plan, no memory
            torch.zeros(len(seen[rows]), 0),
        ),
    }
    agree(policy, session, network, seen, legal, uniform)
    for size in BATCHES:
        times = timed(ways, size, told.rounds, len(seen))
        print(f"batch {size}:", ", ".join(f"{name} {1e6 * t:.0f} µs" for name, t in times.items()))


def by_torch(network, seen, legal, uniform):
    """What learners do: probabilities, value and a choice."""
    with torch.no_grad():
        observation, mask = torch.from_numpy(seen), torch.from_numpy(legal)
        output = network(observation)
        shares = network.layout.distribution(output.logits, mask).probabilities()
        return network.sample(observation, mask, torch.from_numpy(uniform)), shares, output.value


def agree(policy, session, network, seen, legal, uniform):
    """Largest differences in probabilities and value, and how many choices differ."""
    action, shares, value = (part.numpy() for part in by_torch(network, seen, legal, uniform))
    names = [one.name for one in session.get_outputs()]
    told = session.run(None, {"observation": seen, "legal": legal, "uniform": uniform})
    told = dict(zip(names, told, strict=True))
    heads = list(policy.shape.heads)
    onnx = (
        np.stack([told[head] for head in heads], axis=1),
        np.concatenate([told[f"{head}.probabilities"] for head in heads], axis=1),
        told["value"],
    )
    for name, found in (("ONNX", onnx), ("numpy", policy.decide(seen, legal, uniform)[:3])):
        print(
            f"{name} beside torch on {len(seen):,} recorded observations: probabilities within "
            f"{np.abs(found[1] - shares).max():.1e}, value within "
            f"{np.abs(found[2] - value).max():.1e}, "
            f"{(found[0] != action).any(axis=1).sum()} choices differ"
        )


def timed(ways, size, rounds, rows):
    """Seconds of a call, the median; one way after another in every round."""
    times = {name: [] for name in ways}
    for number in range(rounds):
        first = (number * size) % (rows - size)
        part = slice(first, first + size)
        for name, call in ways.items():
            began = time.perf_counter()
            call(part)
            times[name].append(time.perf_counter() - began)
    return {name: float(np.median(values[5:])) for name, values in times.items()}


def recorded(run, policy, most):
    """Observations and masks of a run's samples."""
    table = load("arena").samples[0]
    rows = shards.read_shard(next(iter(shards.shard_paths(Run(run).samples, table))), table)
    rows = rows.slice(0, most)
    seen = np.stack([rows[name].to_numpy() for name in policy.shape.features], axis=1)
    legal = unpack_legal(rows["legal"], sum(policy.shape.heads.values()))
    return seen.astype(np.float32), legal


if __name__ == "__main__":
    main()
