"""A policy as one ONNX file: observations and masks in, options, probabilities and value out.

    inputs    observation [B F]   legal [B O] bool   uniform [B H]   plan [B] int64   memory [B M]
    outputs   HEAD [B] int64, HEAD.probabilities [B options] for each head; value [B]; memory_after

`plan` and `memory` are there only for a policy that has them; a match begins with a memory of
zeros, and each decision's `memory_after` is the `memory` of the next. The metadata says under
`understudy.policy` which number of `observation` is which feature, and which options of `legal`
belong to which head. All of it is written here, operation by operation, so that the file does not
depend on how torch or an exporter of the day would write it.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from understudy.data.arrays import Array
from understudy.export.numpy_policy import ILLEGAL, LEAST, NumpyPolicy
from understudy.learn.policy_shape import SHAPE_KEY

OPSET = 17
_IR = 9  # of 2023: what hosts read that are not of yesterday


def onnx_policy(policy: NumpyPolicy, about: dict[str, Any]) -> bytes:
    """The file; `about` is added to its metadata."""
    from onnx import helper

    graph = _Graph()
    hidden = _hidden(graph, policy)
    logits = graph.linear("options", hidden, policy)
    outputs = list[Any]()
    for head, (name, size) in enumerate(policy.shape.heads.items()):
        outputs += _head(graph, policy, logits, head, name, size)
    flat = graph.linear("outcome", hidden, policy)
    graph.add("Squeeze", [flat, graph.constant(np.array([1], np.int64))], "value")
    outputs.append(_told("value", "FLOAT", ["B"]))
    if policy.shape.memory:
        outputs.append(_told("memory_after", "FLOAT", ["B", policy.shape.memory]))
    made = helper.make_graph(
        graph.nodes, "policy", _inputs(policy), outputs, initializer=graph.constants
    )
    model = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="understudy"
    )
    model.ir_version = _IR
    shape = {**json.loads(policy.shape.to_json()), "borders": policy.borders}
    helper.set_model_props(
        model, {SHAPE_KEY: json.dumps(shape), **{k: str(v) for k, v in about.items()}}
    )
    return bytes(model.SerializeToString(deterministic=True))


class _Graph:
    """Operations and constants as they are added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._number = 0

    def add(self, kind: str, given: Sequence[str], name: str | None = None, **told: Any) -> str:
        """One operation; the name of its result."""
        from onnx import helper

        result = name or self._name(kind)
        self.nodes.append(helper.make_node(kind, list(given), [result], **told))
        return result

    def constant(self, values: Array, name: str | None = None) -> str:
        """A tensor that is part of the file; its name."""
        from onnx import numpy_helper

        name = name or self._name("constant")
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def linear(self, name: str, x: str, policy: NumpyPolicy) -> str:
        """A linear layer of the policy."""
        given = [
            self.constant(policy.weights[f"{name}.{part}"], f"{name}.{part}")
            for part in ("weight", "bias")
        ]
        return self.add("Gemm", [x, *given], transB=1)

    def columns(self, x: str, first: int, last: int) -> str:
        """Some columns."""
        numbers = (self.constant(np.array([n], np.int64)) for n in (first, last, 1))
        return self.add("Slice", [x, *numbers])

    def _name(self, kind: str) -> str:
        self._number += 1
        return f"{kind.lower()}_{self._number}"


def _inputs(policy: NumpyPolicy) -> list[Any]:
    shape = policy.shape
    found = [
        _told("observation", "FLOAT", ["B", len(shape.features)]),
        _told("legal", "BOOL", ["B", policy.borders[-1]]),
        _told("uniform", "FLOAT", ["B", len(shape.heads)]),
    ]
    if shape.plans:
        found.append(_told("plan", "INT64", ["B"]))
    if shape.memory:
        found.append(_told("memory", "FLOAT", ["B", shape.memory]))
    return found


def _told(name: str, kind: str, size: list[Any]) -> Any:
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, getattr(TensorProto, kind), size)


def _hidden(graph: _Graph, policy: NumpyPolicy) -> str:
    """What the heads read; as `NumpyPolicy._hidden`."""
    x = "observation"
    if policy.shape.plans:
        table = graph.constant(policy.weights["table"], "table")
        x = graph.add("Concat", [x, graph.add("Gather", [table, "plan"], axis=0)], axis=1)
    x = graph.add("Sub", [x, graph.constant(policy.weights["mean"], "mean")])
    x = graph.add("Div", [x, graph.constant(policy.weights["std"], "std")])
    for number in range(len(policy.shape.hidden)):
        x = graph.add("Relu", [graph.linear(f"torso.{2 * number}", x, policy)])
    if not policy.shape.memory:
        return x
    after = _remembered(graph, policy, x)
    return graph.add("Add", [x, graph.linear("recalled", after, policy)])


def _remembered(graph: _Graph, policy: NumpyPolicy, x: str) -> str:
    """One step of the GRU, as `learn/networks.py` has it; it is written out as `memory_after`."""
    units = policy.shape.memory
    seen = graph.linear("core.seen", x, policy)
    old = graph.linear("core.kept", "memory", policy)
    parts = [
        [graph.columns(side, n * units, (n + 1) * units) for n in range(3)] for side in (seen, old)
    ]
    (seen_reset, seen_update, seen_new), (old_reset, old_update, old_new) = parts
    reset = graph.add("Sigmoid", [graph.add("Add", [seen_reset, old_reset])])
    update = graph.add("Sigmoid", [graph.add("Add", [seen_update, old_update])])
    recalled = graph.add("Mul", [reset, old_new])
    candidate = graph.add("Tanh", [graph.add("Add", [seen_new, recalled])])
    kept = graph.add("Mul", [update, graph.add("Sub", ["memory", candidate])])
    return graph.add("Add", [candidate, kept], "memory_after")


def _head(
    graph: _Graph, policy: NumpyPolicy, logits: str, head: int, name: str, size: int
) -> list[Any]:
    """The distribution over one head's legal options, and the one that is drawn."""
    first, last = policy.borders[head], policy.borders[head + 1]
    mine, legal = (graph.columns(x, first, last) for x in (logits, "legal"))
    masked = graph.add("Where", [legal, mine, graph.constant(np.array(ILLEGAL))])
    log_share = graph.add("LogSoftmax", [masked], axis=1)
    some = graph.add("Greater", [log_share, graph.constant(np.array(LEAST))])
    nothing = graph.constant(np.array(0, np.float32))
    share = graph.add(
        "Where", [some, graph.add("Exp", [log_share]), nothing], f"{name}.probabilities"
    )
    reached = graph.add("CumSum", [share, graph.constant(np.array(1, np.int64))])
    passed = graph.add("LessOrEqual", [reached, graph.columns("uniform", head, head + 1)])
    axis = graph.constant(np.array([1], np.int64))
    count = graph.add("ReduceSum", [graph.add("Cast", [passed], to=7), axis], keepdims=0)
    graph.add("Min", [count, _last_legal(graph, legal, size)], name)
    return [
        _told(name, "INT64", ["B"]),
        _told(f"{name}.probabilities", "FLOAT", ["B", size]),
    ]


def _last_legal(graph: _Graph, legal: str, size: int) -> str:
    """The number of the last legal option; where none is legal, of the last one."""
    numbers = graph.constant(np.arange(size, dtype=np.int64)[None])
    none = graph.constant(np.array(-1, np.int64))
    last = graph.add(
        "ReduceMax", [graph.add("Where", [legal, numbers, none])], axes=[1], keepdims=0
    )
    zero, end = (graph.constant(np.array(n, np.int64)) for n in (0, size - 1))
    return graph.add("Where", [graph.add("Less", [last, zero]), end, last])
