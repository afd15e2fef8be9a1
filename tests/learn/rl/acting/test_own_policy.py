"""A policy that somebody brings: asked in batches, held to what is legal, mistakes in one line."""

import numpy as np
import pytest

from understudy.data.own_code import refer
from understudy.errors import InputError
from understudy.learn.rl.acting.own_policy import OwnPolicy

HEADS = {"move": 3, "fire": 2}
SEEN = np.arange(8, dtype=np.float32).reshape(4, 2)
LEGAL = np.array([[1, 1, 0, 1, 1]] * 4, bool)
CHANCE = np.full((4, 2), 0.5, np.float32)


@pytest.fixture
def policy(tmp_path):
    def made(text, name="policy", heads=HEADS):
        path = tmp_path / "mine.py"
        path.write_text(f"import numpy as np\n{text}\n")
        return OwnPolicy(refer(f"{path}:{name}"), heads)

    return made


def answered(policy):
    return policy.choose(SEEN, LEGAL, CHANCE).tolist()


def test_a_function_is_asked_about_all_decisions_at_once(policy):
    found = policy("def policy(seen, masks):\n    return [[int(x[0] > 3), 1] for x in seen]")
    assert answered(found) == [[0, 1], [0, 1], [1, 1], [1, 1]]


def test_a_class_is_made_and_then_called(policy):
    found = policy(
        "class Mine:\n"
        "    def __init__(self): self.fire = 1\n"
        "    def __call__(self, seen, masks): return [[0, self.fire]] * len(seen)",
        "Mine",
    )
    assert answered(found) == [[0, 1]] * 4


def test_chance_is_given_to_whoever_wants_it(policy):
    found = policy("def policy(seen, masks, uniform):\n    return (uniform * 2).astype(int)")
    assert answered(found) == [[1, 1]] * 4


def test_with_one_head_a_list_will_do(policy):
    found = policy("def policy(seen, masks):\n    return masks[:, ::-1].argmax(1)", heads={"a": 3})
    legal = LEGAL[:, :3]
    told = found.choose(SEEN, legal, CHANCE[:, :1])
    assert told.tolist() == [[1]] * 4 and told.dtype == np.int64


def test_it_cannot_change_what_others_see(policy):
    found = policy("def policy(seen, masks):\n    seen[:] = masks[:] = 0\n    return [[0, 0]] * 4")
    seen, legal = SEEN.copy(), LEGAL.copy()
    found.choose(seen, legal, CHANCE)
    assert (seen == SEEN).all() and (legal == LEGAL).all()


def test_where_nothing_is_legal_anything_goes(policy):
    found = policy("def policy(seen, masks):\n    return [[2, 0]] * 4")
    legal = LEGAL & np.array([0, 0, 0, 1, 1], bool)
    assert found.choose(SEEN, legal, CHANCE).tolist() == [[2, 0]] * 4


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("[[2, 0]] * 4", "mine.py:policy chose option 2 of move, which is not legal there"),
        ("[[0, 7]] * 4", "chose option 7 of fire"),
        ("[[0, -1]] * 4", "chose option -1 of fire"),
        ("[0] * 4", r"whole numbers \[4, 2\], an option of each of move, fire.*int64 \[4\]"),
        ("[[0.5, 0.5]] * 4", r"it answered float64 \[4, 2\]"),
        ("1 / 0", r"fails: ZeroDivisionError: division by zero \(line 3\)"),
    ],
)
def test_a_wrong_answer_is_told_in_one_line(policy, answer, words):
    with pytest.raises(InputError, match=words):
        answered(policy(f"def policy(seen, masks):\n    return {answer}"))


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("policy = 3", "policy", "no policy: it cannot be called"),
        ("def policy(seen): pass", "policy", r"policy\(seen\) is no policy: it must take"),
        ("class A:\n    def __init__(self, x): pass", "A", "A fails in __init__: TypeError"),
        ("class A: pass", "A", "cannot be called"),
    ],
)
def test_what_cannot_be_a_policy_is_refused_at_once(policy, text, name, words):
    with pytest.raises(InputError, match=words):
        policy(text, name)


def test_where_one_option_alone_is_legal_nobody_is_asked(policy):
    """Whoever waits has nothing to choose: what is answered there does not count."""
    legal = LEGAL.copy()
    legal[2] = [1, 0, 0, 0, 1]
    found = policy("def policy(seen, masks):\n    return [[1, 0]] * 4")
    assert found.choose(SEEN, legal, CHANCE).tolist() == [[1, 0], [1, 0], [0, 1], [1, 0]]
