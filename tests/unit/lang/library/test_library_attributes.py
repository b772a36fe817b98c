"""Attributes of another kind than the operator's are refused with their names, in every operator."""

import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.library import OPERATORS
from refmlc.lang.library.attributes import attributes_of, takes

TEXT = """
@R.function
def main(x: R.Tensor((2, 4, 3), "float32"), g: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")):
    r = R.nn.group_norm(x, g, b, num_groups={groups}, channel_axis=1, axes={axes})
    return r
"""
LOOKED_AT = {object}


def code_of(**words):
    try:
        refmlc.read(TEXT.format(**words))
    except RefmlcError as failure:
        return failure.code.id, failure.diagnostic.message
    return "", ""


@pytest.mark.parametrize("axes", ["2", "[2]", "(-1,)"])
def test_an_axis_alone_stands_for_several(axes):
    assert code_of(groups=2, axes=axes) == ("", "")


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ("2.5", "`axes` is an integer or several integers, not 2.5"),
        ('"a"', "`axes` is an integer or several integers, not 'a'"),
        ("[[1]]", "`axes` is an integer or several integers, not ((1,),)"),
        ("-77", "axis -77 is not in -3 … 2"),
    ],
)
def test_what_is_no_axis_is_said(axes, said):
    code, message = code_of(groups=2, axes=axes)
    assert code == "RM105"
    assert said in message


@pytest.mark.parametrize("groups", [0, -2, 3])
def test_groups_that_do_not_divide_the_channels(groups):
    assert code_of(groups=groups, axes=2)[0] == "RM105"


def test_every_attribute_of_every_operator_refuses_what_it_is_not():
    asked = 0
    for op in OPERATORS.values():
        for name in op.attributes:
            if op.parameters[name].annotation in LOOKED_AT:
                continue
            with pytest.raises(RefmlcError, match=f"`{name}` is") as caught:
                attributes_of(op, {name: {"a": 1}})
            assert caught.value.code.id == "RM105"
            asked += 1
    assert asked > 300


def test_constants_are_taken_as_their_numbers():
    assert takes(int, True)
    assert not takes(int, 1.0)
    assert takes(float, 1)
    assert not takes(float, "1")
    assert takes(str | None, None)
    assert not takes(str, None)
    assert attributes_of(OPERATORS["nn.softmax"], {"axis": tir.IntImm(refmlc.lang.dtypes.INT32, 1)}) == {"axis": 1}
