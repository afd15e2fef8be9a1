"""Against rlax and torchrl (`references/make.py`), the definitions, and identities; in float64."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.learn.rl.returns import discounted_returns, gae, lambda_returns, upgo, vtrace

REFERENCES = Path(__file__).parent / "references"
TRUST, RHO_MAX, C_MAX = 0.8, 1.3, 0.7
STEPS, MATCHES = 6, 4


def same(one, other):
    torch.testing.assert_close(one, other, rtol=0, atol=1e-10)


@pytest.fixture(scope="module")
def reference():
    with np.load(REFERENCES / "returns.npz") as file:
        return {name: torch.from_numpy(file[name]) for name in file.files}


def whole(reference):
    """The cases in which nothing is cut short."""
    names = ("reward", "discount", "value", "bootstrap")
    half = len(reference["bootstrap"]) // 2
    return {name: reference[name][..., :half] for name in names}


def with_cuts(reference):
    names = {name: name for name in ("reward", "discount", "value", "bootstrap")}
    return {name: reference[kept] for name, kept in (names | {"truncated": "cut"}).items()}


def random_play(seed, terminated=0.2, truncated=0.0):
    """Arguments of the functions below, but for `log_ratio`."""
    rng = np.random.default_rng(seed)
    shape = (STEPS, MATCHES)
    over = rng.random(shape) < terminated
    play = {
        "reward": rng.normal(size=shape),
        "discount": np.where(over, 0.0, rng.uniform(0.5, 1.0, shape)),
        "value": rng.normal(size=shape),
        "bootstrap": rng.normal(size=MATCHES),
    }
    if truncated:
        play["truncated"] = (rng.random(shape) < truncated) & ~over
    return {name: torch.from_numpy(array) for name, array in play.items()}


def random_ratio(seed):
    return torch.from_numpy(np.random.default_rng((seed, 1)).normal(size=(STEPS, MATCHES)))


plays = st.builds(random_play, st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
plays_with_cuts = st.builds(random_play, st.integers(0, 10**6), st.just(0.2), st.just(0.3))


# --- others' numbers -----------------------------------------------------------------------------


def test_rlax_finds_the_same(reference):
    play = whole(reference)
    log_ratio = reference["log_ratio"][:, : len(play["bootstrap"])]
    plain = {name: play[name] for name in ("reward", "discount", "bootstrap")}
    same(lambda_returns(**play, lambda_=TRUST), reference["rlax/lambda"])
    same(gae(**play, lambda_=TRUST), reference["rlax/gae"])
    same(upgo(**play), reference["rlax/upgo"])
    same(discounted_returns(**plain), reference["rlax/discounted"])
    traced = vtrace(log_ratio, **play, lambda_=TRUST, rho_max=RHO_MAX)
    same(traced.target, reference["rlax/vtrace_target"])
    same(traced.advantage, reference["rlax/vtrace_advantage"])


def test_torchrl_finds_the_same_also_where_matches_are_cut_short(reference):
    play = with_cuts(reference)
    assert play["truncated"].any() and (play["discount"] == 0).any()
    same(lambda_returns(**play, lambda_=TRUST), reference["torchrl/lambda"])
    same(gae(**play, lambda_=TRUST), reference["torchrl/gae"])
    traced = vtrace(reference["log_ratio"], **play, rho_max=RHO_MAX, c_max=C_MAX)
    same(traced.target, reference["torchrl/vtrace_target"])
    same(traced.advantage, reference["torchrl/vtrace_advantage"])


@pytest.mark.slow
def test_the_references_can_be_made_again(tmp_path, reference):
    """In an environment of their own; needs the package index."""
    uv = shutil.which("uv") or pytest.skip("there is no uv here")
    place = {**os.environ, "VIRTUAL_ENV": str(tmp_path / "env")}
    wanted = ["-r", str(REFERENCES / "requirements.txt")]
    subprocess.run([uv, "venv", "-q", place["VIRTUAL_ENV"]], check=True)
    made = subprocess.run([uv, "pip", "install", "-q", *wanted], env=place, capture_output=True)
    if made.returncode:
        pytest.skip(f"cannot install: {made.stderr.decode()[-200:]}")
    python, target = tmp_path / "env/bin/python", tmp_path / "again.npz"
    subprocess.run([python, REFERENCES / "make.py", target], check=True)
    with np.load(target) as again:
        assert set(again.files) == set(reference)
        for name in again.files:
            np.testing.assert_allclose(again[name], reference[name].numpy(), rtol=0, atol=1e-12)


# --- the definitions, term by term ---------------------------------------------------------------


@given(plays)
@settings(max_examples=20, deadline=None)
def test_a_discounted_return_is_the_sum_of_what_comes(play):
    expected = torch.zeros(STEPS, MATCHES, dtype=torch.float64)
    for s in range(STEPS):
        for t in range(s, STEPS):
            expected[s] += play["discount"][s:t].prod(0) * play["reward"][t]
        expected[s] += play["discount"][s:].prod(0) * play["bootstrap"]
    same(discounted_returns(play["reward"], play["discount"], play["bootstrap"]), expected)


def n_step(play, s, n):
    """The return from step s that looks n steps ahead and then asks the value."""
    states = torch.cat([play["value"], play["bootstrap"][None]])
    total = play["discount"][s : s + n].prod(0) * states[s + n]
    for t in range(s, s + n):
        total = total + play["discount"][s:t].prod(0) * play["reward"][t]
    return total


@given(plays)
@settings(max_examples=20, deadline=None)
def test_a_lambda_return_is_a_mean_of_n_step_returns(play):
    found = lambda_returns(**play, lambda_=TRUST)
    for s in range(STEPS):
        left = STEPS - s
        expected = TRUST ** (left - 1) * n_step(play, s, left)
        for n in range(1, left):
            expected = expected + (1 - TRUST) * TRUST ** (n - 1) * n_step(play, s, n)
        same(found[s], expected)


@given(plays, st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_vtrace_targets_follow_equation_1_of_the_paper(play, seed):
    log_ratio = random_ratio(seed)
    ratio = log_ratio.exp()
    states = torch.cat([play["value"], play["bootstrap"][None]])
    gain = play["reward"] + play["discount"] * states[1:] - states[:-1]
    expected = play["value"].clone()
    for s in range(STEPS):
        for t in range(s, STEPS):
            passed_on = (play["discount"][s:t] * ratio[s:t].clamp(max=C_MAX)).prod(0)
            expected[s] += passed_on * ratio[t].clamp(max=RHO_MAX) * gain[t]
    same(vtrace(log_ratio, **play, rho_max=RHO_MAX, c_max=C_MAX).target, expected)


@given(plays)
@settings(max_examples=20, deadline=None)
def test_an_upgoing_return_follows_what_was_good_and_else_asks_the_value(play):
    states = torch.cat([play["value"], play["bootstrap"][None]])
    one_step = play["reward"] + play["discount"] * states[1:]
    found = upgo(**play)
    for b in range(MATCHES):
        follow = states[STEPS, b]
        for t in reversed(range(STEPS)):
            if t < STEPS - 1 and one_step[t + 1, b] < states[t + 1, b]:
                follow = states[t + 1, b]
            follow = play["reward"][t, b] + play["discount"][t, b] * follow
            same(found[t, b], follow)


@pytest.mark.parametrize(("ratio", "target", "advantage"), [(2.0, 4.0, 3.0), (0.5, 2.5, 1.5)])
def test_worked_example_of_vtrace(ratio, target, advantage):
    # gain = 2 + 0.5 * 4 - 1 = 3; a ratio of 2 is clipped to 1, one of 0.5 halves the gain
    one = torch.ones(1, 1, dtype=torch.float64)
    found = vtrace(one * np.log(ratio), 2 * one, 0.5 * one, one, 4 * one[0])
    assert found.target.item() == pytest.approx(target)
    assert found.advantage.item() == pytest.approx(advantage)


def test_worked_example_of_upgo():
    # Step 1 turned out worse than foreseen (0 + 1 < 2): step 0 asks its value. Step 2 did better.
    reward, discount, value = torch.tensor(
        [[[0.0], [0.0], [3.0]], [[1.0], [1.0], [0.0]], [[0.0], [2.0], [1.0]]]
    )
    found = upgo(reward, discount, value, torch.ones(1))
    assert found[:, 0].tolist() == [2.0, 3.0, 3.0]


# --- identities ----------------------------------------------------------------------------------


@given(st.one_of(plays, plays_with_cuts), st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_on_policy_vtrace_is_the_lambda_return(play, lambda_):
    found = vtrace(torch.zeros(STEPS, MATCHES, dtype=torch.float64), **play, lambda_=lambda_)
    same(found.target, lambda_returns(**play, lambda_=lambda_))
    same(found.advantage, gae(**play, lambda_=lambda_))


@given(st.one_of(plays, plays_with_cuts), st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_an_advantage_is_what_the_lambda_return_adds_to_the_value(play, lambda_):
    same(gae(**play, lambda_=lambda_), lambda_returns(**play, lambda_=lambda_) - play["value"])


@given(plays)
@settings(max_examples=20, deadline=None)
def test_with_lambda_0_a_target_looks_one_step_ahead(play):
    states = torch.cat([play["value"], play["bootstrap"][None]])
    one_step = play["reward"] + play["discount"] * states[1:]
    same(lambda_returns(**play, lambda_=0.0), one_step)
    same(gae(**play, lambda_=0.0), one_step - play["value"])


@given(plays)
@settings(max_examples=20, deadline=None)
def test_with_lambda_1_only_the_bootstrap_is_left_of_the_values(play):
    plain = (play["reward"], play["discount"], play["bootstrap"])
    same(lambda_returns(**play, lambda_=1.0), discounted_returns(*plain))


FUNCTIONS = {
    "lambda": lambda play: lambda_returns(**play, lambda_=TRUST),
    "gae": lambda play: gae(**play, lambda_=TRUST),
    "upgo": lambda play: upgo(**play),
    "vtrace target": lambda play: vtrace(**_off(play), c_max=C_MAX).target,
    "vtrace advantage": lambda play: vtrace(**_off(play), c_max=C_MAX, lambda_=0.9).advantage,
}


def _off(play):
    """The same, played by somebody else."""
    return {"log_ratio": random_ratio(3)[: len(play["value"])], **play}


def first_steps(play, count, bootstrap):
    return {k: bootstrap if k == "bootstrap" else v[:count] for k, v in play.items()}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_nothing_flows_across_the_end_of_a_match(function):
    play = random_play(1, terminated=0.0)
    play["discount"][2] = 0.0
    short = first_steps(play, 3, torch.full((MATCHES,), 99.0, dtype=torch.float64))
    same(function(play)[:3], function(short))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_match_cut_short_ends_in_the_value_of_its_last_state(function):
    play = random_play(2, terminated=0.0)
    play["truncated"] = torch.zeros(STEPS, MATCHES, dtype=torch.bool)
    play["truncated"][2] = True
    short = first_steps(play, 3, play["value"][3])
    del short["truncated"]
    same(function(play)[:3], function(short))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_matches_do_not_know_of_each_other(function):
    play = random_play(4)
    changed = {name: array.clone() for name, array in play.items()}
    changed["reward"][:, 1] += 1
    left = [0, 2, 3]
    same(function(play)[:, left], function(changed)[:, left])
    assert (function(play)[:, 1] != function(changed)[:, 1]).any()


def test_no_gradient_flows_through_targets():
    play = random_play(5)
    play["value"].requires_grad_()
    for function in FUNCTIONS.values():
        assert not function(play).requires_grad
