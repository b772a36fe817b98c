"""Tensors on meshes of devices: read, shown as TVM shows them, and refused where they are executed."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.equal import first_difference
from refmlc.lang.ir.types import DTensorType
from refmlc.lang.script import show
from refmlc.lang.wellformed.module import check_module
from refmlc.lang.wellformed.reader_checks import read
from refmlc.vm import VirtualMachine, build

MODULE = """
@I.ir_module
class Module:
    I.module_global_infos({"mesh": [R.device_mesh((2,), I.Range(0, 2)), R.device_mesh((2, 2), [0, 1, 2, 4])]})
    @T.prim_func(s_tir=True)
    def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("copy"):
                v = T.axis.spatial(4, i)
                y[v] = x[v]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = VALUE
        return y
"""
SPREAD = '"mesh[0]", "S[0]"'


def bound(value):
    """What `value` is read as, and the module."""
    module = read(MODULE.replace("VALUE", value), "meshes.py")
    return module.functions["main"].body.blocks[0].bindings[0].value, module


def test_a_mesh_has_the_numbers_of_its_devices():
    _, module = bound("x")
    first, second = module.global_infos["mesh"]
    assert (first.shape, first.devices, first.consecutive) == ((2,), (0, 1), True)
    assert (second.shape, second.devices, second.consecutive) == ((2, 2), (0, 1, 2, 4), False)


@pytest.mark.parametrize(
    ("text", "placement", "shown"),
    [
        ('R.DTensor((4, 8), "float32", "mesh[1]", "S[1], R")', (1, None), None),
        ('R.DTensor((4, 8), dtype="float32", device_mesh="mesh[1]", placement=" S[ 0 ],R")', (0, None), "S[0], R"),
        ('R.DTensor((4,), "float32", R.device_mesh((1,), [7]), "R")', (None,), None),
        ('R.DTensor((4,), "float32", R.device_mesh((2,), T.Range(0, 2)), "R")', (None,), '"mesh[0]"'),
        ('R.DTensor((4,), device_mesh="mesh[0]", placement="R")', (None,), None),
        ('R.DTensor("float16", device_mesh="mesh[0]", placement="S[1]", ndim=2)', (1,), 'dtype="float16", device'),
        ("R.DTensor()", (), 'R.DTensor(device_mesh=R.device_mesh((), I.Range(0, 1)), placement="")'),
    ],
)
def test_a_type_says_the_mesh_and_the_placement(text, placement, shown):
    value, module = bound(f"R.foo(x, ty_args=({text},))")
    ty = value.ty_args[0]
    assert isinstance(ty, DTensorType)
    assert ty.placement == placement
    assert (shown or text) in show(module)
    assert first_difference(read(show(module), "again.py"), module) is None


def test_dimensions_of_a_signature_are_declared():
    text = MODULE.replace('x: R.Tensor((4,), "float32")', 'x: R.DTensor(("n", 4), "float32", "mesh[0]", "S[0]")')
    ty = read(text.replace("VALUE", "x"), "meshes.py").functions["main"].params[0].ty
    assert isinstance(ty.tensor.shape[0], tir.Var)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (f'R.dist.call_tir(cls.copy, (x,), out_ty=R.DTensor((4,), "float32", {SPREAD}))', "call_tir"),
        (
            f'R.dist.call_tir_local_view(cls.copy, (x,), out_ty=R.DTensor((4,), "float32", {SPREAD}))',
            "dist.call_tir_local_view",
        ),
        ('R.dist.annotate_sharding(x, device_mesh="mesh[1]", placement="S[0], R")', "dist.annotate_sharding"),
        ('R.dist.redistribute(x, device_mesh="mesh[0]", placement="R")', "dist.redistribute"),
        ("R.dist.redistribute_replica_to_shard(x, num_workers=2, axis=0)", "dist.redistribute_replica_to_shard"),
        ('R.dist.const(1.0, R.DTensor((), "float32", "mesh[0]", "R"))', "dist.const"),
        ('R.dist.const([1.0, 2.5], R.DTensor((2,), "float32", "mesh[0]", "S[0]"))', "dist.const"),
    ],
)
def test_a_call_is_shown_and_refused_where_it_is_executed(value, name):
    call, module = bound(value)
    assert isinstance(call, relax.Call)
    assert call.op.name == name
    assert f"y = {value}\n" in show(module)
    assert first_difference(read(show(module), "again.py"), module) is None
    assert not check_module(module)
    with pytest.raises(RefmlcError, match=r"RM50[14]"):
        VirtualMachine(build(module))["main"](np.ones(4, "float32"))


def test_a_parameter_on_a_mesh_takes_no_argument():
    text = MODULE.replace('R.Tensor((4,), "float32")', 'R.DTensor((4,), "float32", "mesh[0]", "R")')
    module = read(text.replace("VALUE", "R.add(x, x)"), "meshes.py")
    assert not check_module(module)
    with pytest.raises(RefmlcError, match=r"RM504.*`x` of `main` is a distributed tensor"):
        VirtualMachine(build(module))["main"](np.ones(4, "float32"))


@pytest.mark.parametrize(
    "value",
    [
        'R.dist.annotate_sharding(x, "mesh[2]", "R")',
        'R.dist.annotate_sharding(x, "net[0]", "R")',
        'R.dist.annotate_sharding(x, "mesh", "R")',
        'R.dist.annotate_sharding(x, 3, "R")',
        'R.dist.annotate_sharding(x, "mesh[0]", "R, R")',
        'R.dist.annotate_sharding(x, "mesh[0]", "Q")',
        'R.dist.annotate_sharding(x, "mesh[0]", "S[0")',
        'R.dist.annotate_sharding(x, "mesh[0]", 0)',
        'R.foo(x, ty_args=(R.DTensor((4,), "float32", "mesh[0]", "S[1]"),))',
        'R.foo(x, ty_args=(R.DTensor(dtype="float32", device_mesh="mesh[0]", placement="S[0]"),))',
        'R.dist.const(1.0, R.Tensor((), "float32"))',
        'R.foo(x, ty_args=(R.DTensor((4,), "float32", R.device_mesh((2,), [0]), "R"),))',
        'R.foo(x, ty_args=(R.DTensor((4,), "float32", R.device_mesh((2,), I.Range(0, 9999999)), "R"),))',
        'R.foo(x, ty_args=(R.DTensor((4,), "float32", R.device_mesh(2, [0, 1]), "R"),))',
        'R.foo(x, ty_args=(R.DTensor((4,), "float32", R.device_mesh((2,), [0, True]), "R"),))',
        'R.foo(x, ty_args=(R.DTensor((4,), "float32", R.device_mesh((2,), [0, -1]), "R"),))',
    ],
)
def test_what_names_no_mesh_or_placement_is_refused(value):
    with pytest.raises(RefmlcError, match="RM105"):
        bound(value)


def test_tensors_of_another_shape_do_not_fit():
    text = MODULE.replace("y = VALUE", 'y: R.DTensor((5,), "float32", "mesh[0]", "R") = z').replace(
        'x: R.Tensor((4,), "float32")', 'z: R.DTensor((4,), "float32", "mesh[0]", "R")'
    )
    with pytest.raises(RefmlcError, match=r'RM202.*R.Tensor\(\(5,\), "float32"\) on a mesh \(2,\) as "R"'):
        read(text, "meshes.py")
