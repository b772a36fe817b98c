"""Devices: the names of those that a module lists, devices of the runtime, and what they do to a run: nothing."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax
from refmlc.lang.ir.attrs import Device
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.vm import VirtualMachine, build

LISTED = """
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [
        I.vdevice({"kind": "llvm"}, 0, "global"),
        I.vdevice("cuda", 3, "global"),
        I.vdevice("cuda -arch=sm_50", 0, "shared"),
    ]})
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        a = VALUE
        return a
"""


def bound(value):
    """The call that `value` is read as, and the module."""
    module = read(LISTED.replace("VALUE", value), "devices.py")
    call = module.functions["main"].body.blocks[0].bindings[0].value
    assert isinstance(call, relax.Call)
    return call, module


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("llvm", "llvm:0:global"),
        ("llvm:0", "llvm:0:global"),
        ("cuda", "cuda:0:global"),
        ("cuda:1", "cuda:1:shared"),
        ("cuda:1:shared", "cuda:1:shared"),
        ("vdevice:2", "cuda:1:shared"),
    ],
)
def test_a_name_is_that_of_a_device_of_the_list(text, name):
    call, module = bound(f'R.to_vdevice(x, "{text}")')
    assert call.attrs == {"dst_vdevice": name}
    assert f'R.to_vdevice(x, dst_vdevice="{name}")' in show(module)


@pytest.mark.parametrize("name", ["cuda:2", "rocm", "llvm:1", "vdevice:3", "cuda:-1", ""])
def test_another_name_is_refused(name):
    with pytest.raises(RefmlcError, match="RM105"):
        bound(f'R.to_vdevice(x, "{name}")')


def test_an_annotation_names_a_device_of_the_list():
    text = LISTED.replace("VALUE", "x").replace('(2,), "float32")', '(2,), "float32", "cuda:1")')
    assert read(text, "devices.py").functions["main"].params[0].ty.vdevice == "cuda:1:shared"
    with pytest.raises(RefmlcError, match=r"RM105.*`cuda:7`"):
        read(text.replace("cuda:1", "cuda:7"), "devices.py")


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("R.device(1, 0)", Device(1, 0)),
        ("R.device(device_type=2, index=3)", Device(2, 3)),
        ('R.device("cuda", 1)', Device(2, 1)),
        ('R.device("rocm:2")', Device(10, 2)),
        ("tvm.cpu()", Device(1, 0)),
        ("tvm.cuda(3)", Device(2, 3)),
        ("tvm.hexagon(dev_id=1)", Device(16, 1)),
        ('"cpu"', Device(1, 0)),
    ],
)
def test_a_hint_names_a_device_of_the_runtime(text, device):
    call, module = bound(f"R.hint_on_device(x, {text})")
    assert call.attrs["memory_scope"] == "global"
    assert structural_equal(call.attrs["dst_vdevice"], device)
    shown = f'R.hint_on_device(x, R.device(device_type={device.device_type}, index={device.index}), "global")'
    assert shown in show(module)
    assert structural_equal(read(show(module), "again.py"), module)


@pytest.mark.parametrize(
    "text", ['R.device("abacus")', "R.device(True)", "R.device(x)", "3", "x", '"abacus"', "tvm.cpu(x)"]
)
def test_another_hint_is_refused(text):
    with pytest.raises(RefmlcError, match="RM105"):
        bound(f"R.hint_on_device(x, {text})")


@pytest.mark.parametrize(
    "value",
    ['R.hint_on_device(x, R.device("cuda", 1), "shared")', 'R.to_vdevice(x, "cuda:1")', 'R.to_vdevice(x, "llvm")'],
)
def test_a_run_has_one_device(value):
    _, module = bound(value)
    given = np.array([1.5, -2.0], "float32")
    assert VirtualMachine(build(module))["main"](given).numpy().tolist() == [1.5, -2.0]
