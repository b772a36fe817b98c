"""Every recorded deviation of TVM is proved again: refmlc gives what is expected, TVM what is recorded.

`REFMLC_TVM_PYTHON` may name another version of TVM: then the rows for that version are proved, and it is made sure that
the others do not hold for it.
"""

import json
import os
import re
import signal
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import known
import needs
import numpy as np
import pytest
from scalar_edges import differing

import refmlc
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import show
from refmlc.observe.sanitize import sanitize
from refmlc.oracle.fuzz.c_errors import c_error

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
RUN_MODULE = Path(__file__).parent / "tvm_side" / "run_module.py"
each = pytest.mark.parametrize("row", known.ROWS, ids=[row["id"] for row in known.ROWS])
IMPORTED = [row for row in known.ROWS if row.get("action") == "import"]
CALLED = [row for row in known.ROWS if row.get("action") == "torch"]
TVM_SIDE = Path(__file__).parent / "tvm_side"
LIMIT = 500  # seconds, for all rows


def numbers(module, arguments):
    """The arguments, those for parameters of TensorIR without a buffer as numbers."""
    function = module["main"]
    if not isinstance(function, tir.PrimFunc):
        return arguments
    pairs = zip(function.params, arguments, strict=True)
    return [array if param in function.buffer_map or array.ndim else float(array) for param, array in pairs]


def meaning(module, arguments, *, watched=False):
    """What refmlc computes: an array, or the code of what it finds; `watched`: under the sanitizer."""
    try:
        arguments = numbers(refmlc.read(module), arguments)
        if watched:
            report = sanitize(refmlc.read(module), "main", arguments)
            for finding in report.findings:
                if not finding.is_lint:
                    return finding.diagnostic.code.id
            result = report.result
        else:
            result = refmlc.VirtualMachine(refmlc.build(refmlc.read(module)))["main"](*arguments)
    except refmlc.RefmlcError as failure:
        return failure.code.id
    return result.numpy() if isinstance(result, refmlc.Tensor) else arguments[-1]


def slope(module, arguments):
    """The gradient of `main` by its first argument, in which it is linear: from one more and one less."""
    point, found = arguments[0], np.zeros_like(arguments[0])
    for place in np.ndindex(point.shape):
        more, less = point.copy(), point.copy()
        more[place] += 1
        less[place] -= 1
        found[place] = (meaning(module, [more, *arguments[1:]]) - meaning(module, [less, *arguments[1:]])) / 2
    return found


def outcome_of_model(row):
    """What refmlc computes for the first output of a model of ONNX: an array, or the code of its refusal."""
    onnx = needs.imported("onnx")
    from refmlc.frontends import onnx_backend as backend  # noqa: PLC0415 - ONNX is optional

    try:
        return backend.run_model(onnx.parser.parse_model(row["module"]), list(map(known.array, row["input"])))[0]
    except refmlc.RefmlcError as failure:
        return failure.code.id


def called(row):
    """The call of PyTorch of a row, and its tensors."""
    torch = needs.imported("torch")
    spec = spec_from_file_location("torch_call", TVM_SIDE / "torch_call.py")
    side = module_from_spec(spec)
    spec.loader.exec_module(side)
    return side, [torch.from_numpy(known.array(one)) for one in row["input"]]


def outcome_of_call(row):
    """What refmlc computes for a call of PyTorch, as `torch.export` writes it, or the code of its refusal."""
    side, tensors = called(row)
    from refmlc.frontends import from_exported_program  # noqa: PLC0415 - PyTorch is optional

    try:
        module = from_exported_program(side.exported(row["module"], tensors), unwrap_unit_return_tuple=True)
        return refmlc.VirtualMachine(refmlc.build(module))["main"](*(one.numpy() for one in tensors)).numpy()
    except refmlc.RefmlcError as failure:
        return failure.code.id


def outcome_of_layout(row):
    """The layout that refmlc makes of the expression, as text."""
    text = (
        "from tvm.script import tirx as T\nfrom tvm.tirx.layout import S, TileLayout\n\n"
        f"PART = {row['module'].strip()}\n\n@T.prim_func\ndef main():\n    T.device_entry()\n"
        '    A = T.alloc_buffer((2,), "float32", scope="shared", layout=PART)\n    T.evaluate(0)\n'
    )
    return re.search(r"layout=(.*)\)$", refmlc.read(text).script(), re.MULTILINE)[1]


def type_of(array):
    """The type of a tensor as TVMScript has it."""
    return f'R.Tensor({array.shape}, dtype="{array.dtype}")'


def assert_is(found, stated):
    """A result is what a row states: an array to the bit, NaN as one class, or a word."""
    if isinstance(stated, str):
        assert isinstance(found, str)
        assert found.startswith(stated)
        return
    array = known.array(stated)
    assert isinstance(found, np.ndarray), found
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert not differing(found, array).any(), found


@each
def test_refmlc_gives_what_is_expected(row):
    if row["expected"] == "text":
        module = refmlc.read(row["module"])
        assert structural_equal(refmlc.read(show(module, show_meta=True)), module)
        return
    if row.get("action") == "type":
        assert type_of(meaning(row["module"], list(map(known.array, row["input"])))) == row["expected"]
        return
    special = {"import": outcome_of_model, "torch": outcome_of_call, "layout": outcome_of_layout}
    if row.get("action") in special:
        assert_is(special[row["action"]](row), row.get("refmlc", row["expected"]))
        return
    means = slope if row.get("action") == "gradient" else meaning
    assert_is(means(row["module"], list(map(known.array, row["input"]))), row.get("refmlc", row["expected"]))


@pytest.mark.needs("onnx")
@pytest.mark.parametrize("row", IMPORTED, ids=[row["id"] for row in IMPORTED])
def test_onnx_itself_gives_what_is_expected(row):
    """Its evaluator, to the last places; where the row names another witness, ONNX's own inference of types."""
    import onnx  # noqa: PLC0415 - an optional package
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415 - as above

    model = onnx.parser.parse_model(row["module"])
    expected, inputs = known.array(row["expected"]), list(map(known.array, row["input"]))
    onnx.checker.check_model(model)
    if "witness" in row:
        (output,) = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph.output
        sizes = [dim.dim_value for dim in output.type.tensor_type.shape.dim]
        assert len(sizes) == expected.ndim
        assert all(size in (0, extent) for size, extent in zip(sizes, expected.shape, strict=True))  # 0: not known
        return
    names = [item.name for item in model.graph.input]
    (found,) = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("row", CALLED, ids=[row["id"] for row in CALLED])
def test_pytorch_itself_gives_what_is_expected(row):
    side, tensors = called(row)
    found, expected = side.TorchCall(row["module"])(*tensors).numpy(), known.array(row["expected"])
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.fixture(scope="module")
def told(request):
    """The version of TVM, and what it does with each row that a test asks for, by id."""
    tests = [item for item in request.session.items if item.path == request.path]
    asked = [item.callspec.params["row"]["id"] for item in tests if "told" in item.fixturenames]
    rows = [row for row in known.ROWS if row["id"] in asked]
    requests = [
        {
            "module": row["module"],
            "action": row.get("action", "run"),
            "steps": row.get("steps", []),
            "arguments": [[a[0], known.array(a).shape, known.array(a).tobytes().hex()] for a in row["input"]],
        }
        for row in rows
    ]
    command = [PYTHON, str(RUN_MODULE)]
    done = subprocess.run(
        command, input=json.dumps(requests), capture_output=True, text=True, check=True, timeout=LIMIT
    )
    version, *answers = json.loads(done.stdout)
    return version["version"], dict(zip([row["id"] for row in rows], answers, strict=True))


def said(answer, row):
    """TVM's answer as a row states it. The text of a rewritten module is run by refmlc, under the sanitizer."""
    match answer:
        case {"signal": number}:
            return signal.Signals(number).name
        case {"error": text} | {"type": text}:
            return text
        case {"text": text}:
            return meaning(text, list(map(known.array, row["input"])), watched=True)
        case {"array": [name, shape, raw]}:
            array = np.frombuffer(bytes.fromhex(raw), known.array([name, []]).dtype).reshape(shape)
            return "runs" if row["got"] == "runs" else array
    raise AssertionError(answer)


@pytest.mark.needs("tvm")
@each
def test_tvm_does_what_is_recorded(row, told):
    if row in IMPORTED:
        needs.need("onnx_importer")
    if row in CALLED:
        needs.need("importers")
    version, answers = told
    if version in row["versions"]:
        assert_is(said(answers[row["id"]], row), row["got"])
        if "c_error" in row:  # of GCC, which TVM asks
            assert c_error(said(answers[row["id"]], row)) == row["c_error"][0]
        return
    with pytest.raises(AssertionError):
        assert_is(said(answers[row["id"]], row), row["got"])
