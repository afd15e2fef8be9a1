import pytest
import torch

from tests.learn.toy_samples import TOY, write_toy
from understudy.learn.supervised.cloning import Cloning
from understudy.learn.supervised.recipe import PolicyRecipe


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    """300 rows in three unequal shards: 240 train, 30 val, 30 test."""
    folder = tmp_path_factory.mktemp("run") / "samples"
    write_toy(folder, (150, 50, 100))
    return folder


@pytest.fixture
def recipe():
    """Twelve small steps; looks and checkpoints at different times."""
    return PolicyRecipe(
        description="a toy",
        decisions=TOY,
        objective=Cloning(),
        steps=12,
        hidden=(8,),
        batch_size=32,
        learning_rate=0.01,
        warmup=3,
        evaluate_every=3,
        checkpoint_every=4,
    )
