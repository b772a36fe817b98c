"""A sample of PyTorch's own samples of its operators: `python tests/e2e/torch_opinfo.py` runs them all."""

import warnings

import pytest
from needs import need

need("torch")

import torch  # noqa: E402 - it may be missing
import torch_opinfo  # noqa: E402 - the same

OPERATORS = (
    *("add", "pow", "remainder", "floor_divide", "amax", "argmin", "cumsum", "sort", "topk", "gather", "index_put"),
    *("scatter_add", "select_scatter", "nn.functional.interpolate", "nn.functional.grid_sample", "expm1", "clamp"),
    *("nn.functional.relu6", "nn.functional.embedding_bag", "bitwise_left_shift", "std", "linalg.vector_norm"),
)


@pytest.fixture(scope="module")
def infos():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        return torch_opinfo.op_infos()


@pytest.mark.parametrize("name", OPERATORS)
def test_samples_of_an_operator(name, infos) -> None:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        for info in (one for one in infos if one.name == name):
            for dtype in torch_opinfo.supported(info, (torch.float32, torch.int64)):
                torch.manual_seed(20_260)
                for call, inputs in torch_opinfo.calls(info, dtype, 2):
                    found.append(torch_opinfo.outcome(call, inputs, name))
    assert not [one for one in found if one.is_ in torch_opinfo.BAD]
    assert any(one.is_ == "right" for one in found)


def test_a_wrong_value_is_seen() -> None:
    wanted = [torch.tensor([1.0, float("nan"), 3.0])]
    assert torch_opinfo.compared(wanted, wanted).is_ == "right"
    for other in ([1.0, float("nan"), 3.001], [1.0, 2.0, 3.0], [1.0, float("nan")], [1.0, float("nan"), float("inf")]):
        assert torch_opinfo.compared([torch.tensor(other)], wanted).is_ == "wrong"
    assert torch_opinfo.compared([torch.tensor([1, 2])], [torch.tensor([1, 2], dtype=torch.int32)]).is_ == "wrong"
