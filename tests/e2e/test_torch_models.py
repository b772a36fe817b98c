"""The layers of the population of models: `python tests/e2e/torch_models.py` runs it whole."""

import numpy as np
import pytest
from needs import need

need("torch", "compiler")

import torch_models  # noqa: E402 - PyTorch may be missing
from torch_population import LAYERS  # noqa: E402 - the same


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_of_torch_nn(name) -> None:
    found = torch_models.outcome(name)
    assert found["is"] == "right", found["why"]


def test_a_wrong_result_is_seen() -> None:
    wanted = [np.array([1.0, np.inf], np.float32)]
    assert torch_models.judged(wanted, wanted)["is"] == "right"
    for other in ([1.001, np.inf], [1.0, -np.inf], [1.0, 2.0]):
        assert torch_models.judged([np.array(other, np.float32)], wanted)["is"] == "wrong"
    assert torch_models.judged([wanted[0][:1]], wanted)["is"] == "wrong"
