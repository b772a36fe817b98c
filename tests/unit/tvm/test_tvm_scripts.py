"""Names that TVM's own tutorials use: what they do here, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax as nodes
from refmlc.tvm import IRModule, contrib, cpu, ffi, relax, rpc, runtime, te, tirx
from refmlc.tvm.relax.base_py_module import BasePyModule
from refmlc.tvm.relax.expr_functor import PyExprMutator
from refmlc.tvm.relax.frontend import detach_params, onnx
from refmlc.tvm.relax.frontend.parameters import with_params
from refmlc.tvm.script import I, R, T
from refmlc.tvm.support import utils


@I.ir_module
class Dense:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = lv
            lv2 = R.nn.relu(lv1)
            gv = lv2
            R.output(gv)
        return gv


X, W = np.arange(-3, 3, dtype="float32").reshape(2, 3), np.eye(3, dtype="float32")


def operators(module):
    return [
        binding.value.op.name
        for block in module["main"].body.blocks
        for binding in block.bindings
        if isinstance(binding.value, nodes.Call)
    ]


def test_a_mutator_sees_names_of_operators_with_and_without_relax_before_them():
    class ToGelu(PyExprMutator):
        def visit_call_(self, call):
            seen.append(call.op.name in ("relax.nn.relu", "relax.matmul"))
            if call.op.name == "relax.nn.relu":
                return relax.op.nn.gelu(call.args[0])
            return super().visit_call_(call)

    seen = []
    work = ToGelu(Dense)
    work.builder_.update_func("main", work.visit_expr(Dense["main"]))
    assert operators(work.builder_.get()) == ["matmul", "nn.gelu"]
    assert all(seen)
    assert operators(Dense) == ["matmul", "nn.relu"]
    assert all(type(name) is str for name in operators(work.builder_.get()))


def test_weights_are_an_attribute_until_they_are_detached():
    module, params = detach_params(with_params(Dense, {"w": W}))
    assert "params" not in module["main"].attrs
    np.testing.assert_array_equal(params["main"][0].numpy(), W)
    with pytest.raises(RefmlcError, match="holds tensors"):
        detach_params(IRModule({"main": Dense["main"].with_attr("params", ("w",))}))


def test_a_size_outside_of_a_text_is_one_size_wherever_it_stands():
    n = T.int64()
    builder = relax.BlockBuilder()
    x, y = relax.Var("x", R.Tensor((n, 2), "float32")), relax.Var("y", R.Tensor((n, 2), "float32"))
    with builder.function("main", [x, y]):
        builder.emit_func_output(builder.emit(relax.op.add(x, y)))
    main = builder.get()["main"]
    assert main.ret_ty.shape[0] is main.params[0].ty.shape[0] is main.params[1].ty.shape[0]


def test_aliases_are_dropped_and_the_result_stays():
    module = relax.transform.CanonicalizeBindings()(Dense)
    assert "lv1" not in module.script()
    for each in (Dense, module):
        result = relax.VirtualMachine(relax.build(each), cpu())["main"](runtime.tensor(X), runtime.tensor(W))
        np.testing.assert_array_equal(result.numpy(), np.maximum(X, 0))


def added():
    a = te.placeholder((4,), name="A")
    return IRModule.from_expr(te.create_prim_func([a, te.compute((4,), lambda i: a[i] + 1.0, name="B")]))


def test_a_library_is_the_text_of_a_module_and_is_loaded_from_a_session(tmp_path):
    path = str(tmp_path / "lib.tar")
    tirx.build(added()).export_library(path)
    session = rpc.LocalSession()
    session.upload(path)
    built, out = session.load_module("lib.tar"), runtime.tensor(np.zeros(4, "float32"))
    built(runtime.tensor(np.arange(4, dtype="float32")), out)
    assert out.numpy().tolist() == [1, 2, 3, 4]
    assert built["stats"]() == "PrimFunc main"


def test_a_shared_object_is_not_loaded_and_a_session_has_one_folder(tmp_path):
    (tmp_path / "lib.so").write_bytes(b"\x7fELF")
    with pytest.raises(RefmlcError, match="not a library of refmlc"):
        runtime.load_module(tmp_path / "lib.so")
    with pytest.raises(RefmlcError, match="without a folder"):
        rpc.LocalSession().load_module("../lib.so")
    with pytest.raises(RefmlcError, match="cannot be read"):
        runtime.load_module(tmp_path / "absent.so")


def test_a_temporary_folder_is_removed():
    folder = utils.tempdir()
    path = folder.relpath("a")
    tirx.build(added()).export_library(path)
    assert folder.listdir() == ["a"]
    folder.remove()
    with pytest.raises(RefmlcError, match="cannot be written"):
        tirx.build(added()).export_library(path)


def test_classes_of_the_foreign_function_interface_are_for_isinstance():
    assert isinstance((1,), ffi.Array)
    assert not isinstance(1, ffi.Array)
    assert isinstance(ffi.Shape([1, 2]), ffi.Shape)
    assert ffi.structural_equal(Dense, Dense)


@pytest.mark.parametrize(
    ("module", "name", "says"),
    [
        (rpc, "connect", "no other machine"),
        (ffi, "register_object", "objects of C"),
    ],
)
def test_what_is_none_of_ours_is_refused_with_its_reason(module, name, says):
    with pytest.raises(AttributeError, match=says):
        getattr(module, name)


def test_modules_of_tvm_are_found_under_their_names():
    text = (
        "import refmlc; refmlc.install_tvm(anyway=True)\n"
        "import tvm_ffi, tvm.support.utils, tvm.contrib.utils, tvm.ir.transform\n"
        "from tvm.s_tir import dlight\nfrom tvm.support import utils\n"
        "assert tvm.support.utils is tvm.contrib.utils is utils and tvm_ffi.Shape([1])"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


@I.ir_module
class Mixed(BasePyModule):
    @T.prim_func(s_tir=True)
    def scale(var_x: T.handle, var_out: T.handle):
        n = T.int64()
        x = T.match_buffer(var_x, (n,), "float32")
        out = T.match_buffer(var_out, (n,), "float32")
        for i in T.serial(n):
            out[i] = x[i] * T.float32(2)

    @I.pyfunc
    def shifted(self, x):
        return x + 1

    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        y = R.call_py_func("shifted", (x,), out_ty=R.Tensor((3,), "float32"))
        return R.add(y, y)


def test_functions_of_python_are_external_in_the_module_and_are_not_read():
    assert Mixed.ir_mod["shifted"].symbol == "shifted"
    assert Mixed().list_functions() == {"tirx": ["scale"], "relax": ["main"], "extern": ["shifted"]}


@pytest.mark.needs("torch")
def test_python_tensorir_and_relax_call_each_other_with_tensors_of_pytorch():
    import torch  # noqa: PLC0415 - an extra

    module = Mixed(device=cpu())
    x = torch.tensor([1.0, 2.0, 3.0])
    n = T.int64()
    assert module.call_tir("scale", [x], relax.TensorType((n,), "float32")).tolist() == [2, 4, 6]
    assert module.call_py_func("shifted", [x]).tolist() == [2, 3, 4]
    assert module.main(x).tolist() == [4, 6, 8]
    for attempt, says in (
        (lambda: module.call_tir("main", [x], relax.TensorType((3,), "float32")), "no TensorIR function"),
        (lambda: module.call_py_func("main", [x]), "no Python function"),
        (lambda: module.call_tir("scale", [1], relax.TensorType((n,), "float32")), "no argument binds"),
    ):
        with pytest.raises(RefmlcError, match=says):
            attempt()


def test_all_elements_of_a_tensor_are_set_at_once():
    values = runtime.empty((2, 2))
    values[:] = np.eye(2)
    assert values.numpy(strict=True).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(RefmlcError, match="all its elements"):
        values[0] = 1


@pytest.mark.parametrize("option", [{"opset": 11}, {"dtype_dict": {"x": "float16"}}, {"sanitize_input_names": False}])
def test_options_that_an_import_would_ignore_are_refused(option) -> None:
    with pytest.raises(RefmlcError, match="from_onnx"):
        onnx.from_onnx(None, **option)


def test_constants_of_a_library_survive(tmp_path):
    x = relax.Var("x", relax.TensorType((2,), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(relax.op.add(x, relax.const(np.array([1.5, -2.25], "float32")))))
    relax.build(builder.get()).export_library(tmp_path / "lib.so")
    result = relax.VirtualMachine(runtime.load_module(tmp_path / "lib.so"), cpu())["main"](np.ones(2, "float32"))
    assert result.numpy().tolist() == [2.5, -1.25]


def test_a_library_that_is_not_utf_8_is_refused(tmp_path):
    path = tmp_path / "lib.so"
    tirx.build(added()).export_library(path)
    path.write_bytes(path.read_bytes() + b"# \xff\n")
    with pytest.raises(RefmlcError, match=r"not UTF-8: byte \d+ is 0xff") as refusal:
        runtime.load_module(path)
    assert refusal.value.code.id == "RM109"


def test_a_function_named_as_the_protocol_of_base_classes_is_no_part_of_it():
    @I.ir_module
    class Plain:
        @T.prim_func(s_tir=True)
        def of_module(a: T.Buffer((2,), "float32")):
            for i in T.serial(2):
                a[i] = T.float32(1)

    @I.ir_module
    class Derived(BasePyModule):
        @T.prim_func(s_tir=True)
        def of_module(a: T.Buffer((2,), "float32")):
            for i in T.serial(2):
                a[i] = T.float32(2)

    for module, value in ((Plain, 1), (Derived.ir_mod, 2)):
        out = runtime.tensor(np.zeros(2, "float32"))
        tirx.build(module)["of_module"](out)
        assert out.numpy().tolist() == [value, value]


def test_folders_of_both_generations_are_one_and_take_no_path(tmp_path):
    assert contrib.utils is utils
    folder = utils.tempdir()
    assert folder.relpath("a") == f"{folder.temp_dir}/a"
    with pytest.raises(RefmlcError, match="takes no path") as refusal:
        utils.tempdir(str(tmp_path / "mine"))
    assert refusal.value.code.id == "RM504"
    assert not (tmp_path / "mine").exists()


def test_formats_of_machine_code_are_refused_by_name(tmp_path):
    built = tirx.build(added())
    built.export_library(tmp_path / "lib.so")
    source = built.imported_modules[0]
    assert "refmlc generates no code" in source.get_source()
    for attempt in (lambda: source.get_source("ptx"), lambda: runtime.load_module(tmp_path / "lib.so", "ptx")):
        with pytest.raises(RefmlcError, match="fmt='ptx'") as refusal:
            attempt()
        assert refusal.value.code.id == "RM504"
