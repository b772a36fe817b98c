"""The eight models of PyTorch at small sizes: imported, read back, equal in both tiers, within the certified bound.

`python tests/e2e/torch_times.py` shows the same with times at real sizes.
"""

import pytest
from needs import need

need("torch")

import torch_times  # noqa: E402 - PyTorch may be missing
from torch_architectures import CASES  # noqa: E402 - the same


@pytest.mark.parametrize("name", [name for name in CASES if name != "resnet-18"])
def test_a_model_of_small_size(name) -> None:
    found = torch_times.small(name)
    assert found["text"], "the text reads back as another module"
    assert found["tiers"], "the tiers give different bits"
    assert found["within"], f"PyTorch is {found['error']} from the exact result, {found['bound']} is certified"


def test_resnet_18_of_small_size() -> None:
    found = torch_times.small("resnet-18")
    assert found["text"]
    assert found["tiers"]
    assert found["within"]
    assert found["ops"] > 60
