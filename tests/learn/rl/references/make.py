"""A program: random cases, and what rlax and torchrl make of them, in float64.

    uv venv refs && VIRTUAL_ENV=refs uv pip install -r requirements.txt && refs/bin/python make.py

writes returns.npz beside this file, which `test_returns.py` reads. These two libraries are not
among the project's own dependencies: they would change the versions of others.
"""

import sys
from pathlib import Path

import jax
import numpy as np
import rlax
import torch
from torchrl.objectives.value import functional as torchrl

CASES, STEPS, TRUST, RHO_MAX, C_MAX = 40, 12, 0.8, 1.3, 0.7
FIELDS = ("log_ratio", "reward", "discount", "value", "bootstrap", "ended", "cut")


def cases(seed: int = 5) -> dict[str, np.ndarray]:
    """Time-major [STEPS, CASES]; in the second half of the cases some matches are cut short."""
    rng = np.random.default_rng(seed)
    shape = (STEPS, CASES)
    terminated = rng.random(shape) < 0.15
    truncated = (rng.random(shape) < 0.15) & ~terminated
    truncated[:, : CASES // 2] = False
    return {
        "log_ratio": rng.normal(0, 0.7, shape),
        "reward": rng.normal(size=shape) * (rng.random(shape) < 0.5),
        "discount": np.where(terminated, 0.0, 0.97),
        "value": rng.normal(size=shape),
        "bootstrap": rng.normal(size=CASES),
        "ended": terminated,
        "cut": truncated,
    }


def by_rlax(case: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """It knows no cuts: give it cases without. Lambda is 0 where it must not look on."""
    value, ratio = case["value"], np.exp(case["log_ratio"])
    states = np.concatenate([value, case["bootstrap"][None]])
    after = states[1:]
    reward, discount = case["reward"], case["discount"]
    good = reward + discount * after >= value
    upgoing = np.concatenate([good[1:], np.ones_like(good[:1])]).astype(float)
    vmap = lambda function: jax.vmap(function, in_axes=1, out_axes=1)  # noqa: E731
    traced = vmap(
        lambda v, n, r, d, p: rlax.vtrace_td_error_and_advantage(
            v, n, r, d, p, lambda_=TRUST, clip_rho_threshold=RHO_MAX, clip_pg_rho_threshold=RHO_MAX
        )
    )(value, after, reward, discount, ratio)
    return {
        "rlax/discounted": vmap(rlax.discounted_returns)(reward, discount, after),
        "rlax/lambda": vmap(lambda r, d, n: rlax.lambda_returns(r, d, n, TRUST))(
            reward, discount, after
        ),
        "rlax/gae": vmap(
            lambda r, d, s: rlax.truncated_generalized_advantage_estimation(r, d, TRUST, s)
        )(reward, discount, states),
        "rlax/upgo": vmap(rlax.lambda_returns)(reward, discount, after, upgoing),
        "rlax/vtrace_target": value + traced.errors,
        "rlax/vtrace_advantage": traced.pg_advantage,
    }


def by_torchrl(case: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Batch-major [CASES, STEPS, 1]."""
    rows = {
        name: torch.from_numpy(np.ascontiguousarray(case[name].T))[..., None]
        for name in FIELDS
        if name != "bootstrap"
    }
    value = rows["value"]
    after = torch.cat([value[:, 1:], torch.from_numpy(case["bootstrap"])[:, None, None]], 1)
    gamma = torch.tensor(0.97, dtype=torch.float64)
    terminated, done = rows["ended"], rows["ended"] | rows["cut"]
    advantage, target = torchrl.vtrace_advantage_estimate(
        gamma,
        rows["log_ratio"],
        torch.zeros_like(value),
        value,
        after,
        rows["reward"],
        done,
        terminated=terminated,
        rho_thresh=torch.tensor(RHO_MAX, dtype=torch.float64),
        c_thresh=torch.tensor(C_MAX, dtype=torch.float64),
    )
    found = {
        "torchrl/lambda": torchrl.td_lambda_return_estimate(
            gamma, TRUST, after, rows["reward"], done, terminated=terminated
        ),
        "torchrl/gae": torchrl.generalized_advantage_estimate(
            gamma, TRUST, value, after, rows["reward"], done, terminated=terminated
        )[0],
        "torchrl/vtrace_target": target,
        "torchrl/vtrace_advantage": advantage,
    }
    return {name: tensor[..., 0].numpy().T for name, tensor in found.items()}


def main(path: Path) -> None:
    """Write everything to one file."""
    jax.config.update("jax_enable_x64", True)
    case = cases()
    whole = {name: array[..., : CASES // 2] for name, array in case.items()}
    found = {**case, **by_rlax(whole), **by_torchrl(case)}
    np.savez_compressed(path, **{name: np.asarray(array) for name, array in found.items()})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("returns.npz"))
