"""A variable that leaves its dataflow block: let out of texts of 2022 with a warning, refused in all others."""

import warnings

import numpy as np
import pytest

from refmlc.diag import IllFormed
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.vm import VirtualMachine, build

BODY = """class Module:
    @R.function
    def main({0}):
        with R.dataflow():
            lv = R.add(x, x)
            out = R.add(lv, x)
            R.output(out)
        gv = R.add(out, lv)
        return gv
"""
OF_2022 = {
    "bare types": "@I.ir_module\n" + BODY.format('x: Tensor((2,), "float32")'),
    "the decorator": "@tvm.script.ir_module\n" + BODY.format('x: R.Tensor((2,), "float32")'),
}
LATER = {
    "2023": "@I.ir_module\n" + BODY.format('x: R.Tensor((2,), "float32")'),
    "0.27": "from tvm.script import tirx as T, relax as R, ir as I\n@I.ir_module\n"
    + BODY.format('x: Tensor((2,), "float32")'),
}


@pytest.mark.parametrize("name", OF_2022)
def test_a_text_of_2022_is_read_with_a_warning(name):
    with pytest.warns(UserWarning, match="`lv` of `main` is used after its dataflow block"):
        module = read(OF_2022[name])
    x = np.array([1.0, 2.0], "float32")
    assert VirtualMachine(build(module, tier="interp"))["main"](x).numpy().tolist() == [5.0, 10.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(show(module))  # an output of its block by now


@pytest.mark.parametrize("name", LATER)
def test_any_other_text_is_refused(name):
    with pytest.raises(IllFormed) as found:
        read(LATER[name])
    assert found.value.code.id == "RM204"


def test_what_else_is_wrong_in_a_text_of_2022_is_told():
    text = OF_2022["bare types"].replace("R.add(out, lv)", "R.add(out, nothing_like_it)")
    with pytest.raises(Exception, match="nothing_like_it"):
        read(text)
    with pytest.warns(UserWarning, match="`lv`"), pytest.raises(IllFormed) as found:
        read(OF_2022["bare types"].replace("gv = R.add", "gv: R.Tensor((3,), 'float32') = R.add"))
    assert found.value.code.id == "RM202"
