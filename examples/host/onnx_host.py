"""A game that asks an exported policy what to do; needs onnxruntime and numpy alone.

python onnx_host.py policy.onnx < observations.jsonl
    a line per decision: {"observation": [...], "legal": [...]}; legal is left out where all is
"""

import json
import sys

import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
shape = json.loads(session.get_modelmeta().custom_metadata_map["understudy.policy"])
rng = np.random.default_rng(0)
given = {
    "memory": np.zeros((1, shape["memory"]), np.float32),  # at the beginning of a match
    "plan": np.zeros(1, np.int64),
}
for line in sys.stdin:
    asked = json.loads(line)
    given["observation"] = np.array([asked["observation"]], np.float32)
    given["legal"] = np.array([asked.get("legal", [True] * shape["borders"][-1])], bool)
    given["uniform"] = rng.random((1, len(shape["heads"])), np.float32)
    wanted = {one.name: given[one.name] for one in session.get_inputs()}
    names = [one.name for one in session.get_outputs()]
    told = dict(zip(names, session.run(None, wanted), strict=True))
    given["memory"] = told.get("memory_after", given["memory"])
    chosen = {head: int(told[head][0]) for head in shape["heads"]}
    print(json.dumps({"action": chosen, "value": round(float(told["value"][0]), 4)}), flush=True)
