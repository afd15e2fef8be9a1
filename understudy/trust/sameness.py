"""Whether two folders hold the same work: bytes, but for what tells the time."""

import json
from pathlib import Path
from typing import Any

from understudy.data.integrity.seals import KEY

_TIMES = {"begun", "finished", "seconds", "samples_per_second", "command", KEY, "crc"}
_TIMES |= {"agent_steps_per_second", "versions", "hash_seed"}


def differences(one: Path, other: Path) -> list[str]:
    """In words; none where they are the same."""
    mine, theirs = _files(one), _files(other)
    found = [f"{name} is only in one of them" for name in sorted(mine.keys() ^ theirs.keys())]
    return found + [
        f"{name} differs"
        for name in sorted(mine.keys() & theirs.keys())
        if mine[name] != theirs[name]
    ]


def _files(folder: Path) -> dict[str, Any]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): content_of(path)
        for path in paths
        if "tensorboard" not in path.parts
    }


def content_of(path: Path) -> Any:
    """What can be compared: bytes, or values without what tells the time."""
    if path.suffix == ".json":
        return _timeless(json.loads(path.read_text()))
    if path.suffix == ".jsonl":
        return [_timeless(json.loads(line)) for line in path.read_text().splitlines()]
    if path.suffix == ".pt":
        return _checkpoint(path)
    return path.read_bytes()


def _checkpoint(path: Path) -> Any:
    """All tensors and values of a checkpoint but the time it took."""
    import torch

    return _plain(torch.load(path, weights_only=True))


def _plain(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return tuple(value.shape), value.cpu().contiguous().numpy().tobytes()
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items() if name not in _TIMES}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(one) for name, one in value.items() if name not in _TIMES}
    return [_timeless(one) for one in value] if isinstance(value, list) else value
