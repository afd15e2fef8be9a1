"""What an `evaluation.json` must look like, whatever was trained."""

from typing import NotRequired, TypedDict

from understudy.data.integrity.shapes import Between, Named


class Met(TypedDict):
    """The last matches against one opponent."""

    matches: int
    won: float
    drawn: float
    lost: float


class Stage(TypedDict):
    """What one stage of learning by play was worth."""

    mean: float
    places: dict[str, float]
    bankrupt: float
    habits: dict[str, dict[str, float | None]]
    gain: NotRequired[float]
    standard_error: NotRequired[float]


class Compared(TypedDict):
    """A value model in a comparison."""

    log_loss: float
    beside_bar: Between
    auc: float
    log_loss_by_match: float
    dgold_rmse: float
    dxp_rmse: float


class Drift(TypedDict):
    """Is it still right on one patch?"""

    patch: str
    matches: int
    log_loss: float
    slope: float
    slope_low: float
    slope_high: float
    calibrating: NotRequired[float]
    calibrating_error: NotRequired[float]
    out_of_range: float
    verdict: str


class Reliability(TypedDict):
    """Chances that were said, and how often they came true."""

    said: float
    seen: float


class Head(TypedDict):
    """How one choice of a policy fares, beside what needs no network."""

    accuracy: float
    majority: float
    majority_legal: float
    log_loss: float


class Scored(TypedDict):
    """What a model is worth on one split; what has no name here is its recipe's own."""

    rows: NotRequired[int]
    loss: NotRequired[float]
    heads: NotRequired[dict[str, Head]]
    recall: NotRequired[dict[str, float]]
    raw: NotRequired[dict[str, dict[str, float | dict[str, float]]]]


class Evaluation(TypedDict):
    """What a training left to say; which parts there are depends on what was trained."""

    steps: int
    seconds: float
    train: NotRequired[Named]
    val: NotRequired[Scored]
    test: NotRequired[Scored]
    layers: NotRequired[dict[str, "Evaluation"]]
    agent_steps: NotRequired[int]
    match_steps: NotRequired[int]
    met: NotRequired[dict[str, Met]]
    worlds: NotRequired[int]
    chosen: NotRequired[str]
    stages: NotRequired[dict[str, Stage]]
    line_up: NotRequired[dict[str, Compared]]
    reliability: NotRequired[list[Reliability]]
    drift: NotRequired[list[Drift]]
    few_shot: NotRequired[list[Named]]
    bands: NotRequired[dict[str, Named]]
    split: NotRequired[dict[str, Named]]
    policy: NotRequired[dict[str, Named]]
    counts: NotRequired[str]
