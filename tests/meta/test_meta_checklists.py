"""docs/how-to: every scalar operator, intrinsic and dtype has each place of its checklist; what is missing is named."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from refmlc.lang.dtypes import FLOAT_FORMATS, SCALARS, DType
from refmlc.lang.dtypes.formats import FloatFormat
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir.matrix_units import OF_PART, OF_THREAD
from refmlc.lang.ir.threads import IN_PART
from refmlc.lang.ops.contract import Contract
from refmlc.lang.ops.intrinsics import INTRINSICS, Intrinsic
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.spec import clauses
from refmlc.native import kernels
from refmlc.oracle.implementations.loops.operators import NotTaken, operator_source
from refmlc.run.interp.tensorir.calls import EXECUTED

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to"
KERNELS = ROOT / "kernels_c"
WITNESS = "refmlc/oracle/implementations/loops/expressions.py"
PLACES = {
    "add-a-scalar-operator.md": (
        *("conformance/spec/num-float.toml", "refmlc/lang/ops/scalar/floating.py", "kernels_c/rm_floating.h"),
        *("refmlc/oracle/implementations/loops/operators.py", "refmlc/oracle/implementations/loops/arithmetic.py"),
        *("conformance/spec/operators.md", "conformance/cases/scalar/scalar-copysign.toml"),
    ),
    "add-an-intrinsic.md": (
        *("conformance/spec/tir-intrinsics.toml", "refmlc/lang/ops/intrinsics/table.py", WITNESS),
        *("refmlc/run/interp/tensorir/intrinsics.py", "tests/unit/lang/ops/test_ops_signatures.py"),
    ),
    "add-a-dtype.md": (
        *("conformance/spec/num-formats.toml", "refmlc/lang/dtypes/formats.py"),
        *("kernels_c/rm_types.h", "kernels_c/rm_dtypes.h"),
    ),
}
"""The files that a checklist names, beside others."""

IN_PLACE_OF_A_CALL = {
    "likely": "its operand stands for it",
    "reinterpret": "a helper per pair of dtypes, in rm_convert.h",
}
NO_WITNESS = {
    **dict.fromkeys(("undef",), "its value must not be used: no program with a meaning has it"),
    **dict.fromkeys(("ret",), "a statement: refmlc/oracle/implementations/loops/statements.py"),
    **dict.fromkeys(
        ("tvm_stack_make_shape", "tvm_stack_make_array", "tvm_stack_alloca", "tvm_struct_get", "tvm_struct_set"),
        "structures of the C interface",
    ),
    **dict.fromkeys(
        ("call_packed_lowered", "call_cpacked_lowered", "call_packed", "call_cpacked", "call_ffi_kernel"),
        "functions of the registry, which a witness has none of",
    ),
    **dict.fromkeys(
        ("call_extern", "call_pure_extern", "call_llvm_intrin", "call_llvm_pure_intrin"), "functions of C and LLVM"
    ),
    **dict.fromkeys(("tvm_storage_sync", "tvm_thread_allreduce", *IN_PART), "threads that wait for each other"),
    **dict.fromkeys(
        ("cuda.thread_rank", "cuda.ffs_u32", "cuda.thread_fence", "ptx.applypriority", "ptx.mapa", "ptx.getctarank"),
        "threads of a kernel, which the witness does not execute",
    ),
    **dict.fromkeys(
        (
            "cuda.func_call",
            "cuda.cvta_generic_to_shared",
            "cuda.ldg",
            "cuda.wgmma.encode_matrix_descriptor",
            "cuda.tcgen05.encode_matrix_descriptor",
            "cuda.get_tmem_addr",
            "cuda.tcgen05.encode_instr_descriptor",
            "cuda.tcgen05.encode_instr_descriptor_block_scaled",
            "cuda.runtime_instr_desc",
            "cuda.wgmma.noop_barrier",
        ),
        "addresses, which a witness has as arrays only",
    ),
    **dict.fromkeys(
        ("cuda.atomic_add", "cuda.atomic_cas", "ptx.atom", "ptx.red"), "threads that change one element together"
    ),
    **dict.fromkeys((*OF_PART, *OF_THREAD), "matrices that the threads of a warp hold together"),
    **dict.fromkeys(("reinterpret",), "handles under another type"),
    **dict.fromkeys(
        ("tensormap_encode_tiled",), "a description for copies of threads, which the witness does not execute"
    ),
}
"""Intrinsics that the NumPy witness declines by name, with the reason."""

UNCHECKED = {
    **dict.fromkeys(("undef",), "it takes nothing, and texts give it anything"),
    **dict.fromkeys(("tvm_storage_sync", "tvm_thread_allreduce"), "the interpreter checks them where threads wait"),
}
"""Intrinsics whose arguments the row does not say."""

NAMING_FORMATS = {
    "refmlc/lang/dtypes/formats.py": "the row",
    "kernels_c/rm_types.h": "the types",
    "kernels_c/rm_dtypes.h": "the codes",
    **dict.fromkeys(
        (
            *("refmlc/frontends/onnx/arrays.py", "refmlc/frontends/onnx/casting.py"),
            *("refmlc/frontends/onnx/quantization.py", "refmlc/run/memory/files/safetensors_files.py"),
            *("refmlc/lang/script/reader/tir_operands.py", "refmlc/lang/ops/matrix/forms.py"),
            *("refmlc/lang/ops/matrix/tensor_products.py", "refmlc/run/interp/tirx/tensor_gemm.py"),
            "refmlc/run/interp/threads/matrix/tensor_memory/descriptors.py",
        ),
        "names, numbers and rules of others: ONNX, safetensors, texts of older TVM, PTX",
    ),
    **dict.fromkeys(
        (
            *("refmlc/lang/dtypes/rounding.py", "refmlc/lang/ops/promote.py", "refmlc/observe/bounds/roundoff.py"),
            "refmlc/oracle/implementations/loops/arithmetic.py",
        ),
        "float8_e8m0fnu, which has neither signs nor a zero",
    ),
    **dict.fromkeys(
        ("refmlc/lang/ops/scalar/arith.py", "refmlc/lang/ops/scalar/floating.py", "refmlc/lang/ops/scalar/integral.py"),
        "hand-worked examples",
    ),
    "refmlc/run/memory/tensor_maps.py": "names of others: the driver's interface of CUDA",
    "refmlc/diag/codes/malformed.py": "an explanation",
}
"""Files that name formats of 8 bits, with the reason. A new format is in the first three."""


@cache
def text_of(place: str) -> str:
    return (ROOT / place).read_text(encoding="utf-8")


@cache
def code_of(header: str) -> str:
    """A header without its comments."""
    return re.sub(r"/\*.*?\*/", "", (KERNELS / header).read_text(encoding="utf-8"), flags=re.DOTALL)


# ------------------------------------------------------------------------------------------------ scalar operators


def operator_lacks(row: Contract, header_text: str | None = None) -> list[str]:
    """The places of the checklist in which a scalar operator is missing."""
    lacks = []
    if row.clause not in clauses():
        lacks.append(f"the clause {row.clause} of `{row.name}` in conformance/spec")
    if not row.examples:
        lacks.append(f"hand-worked examples of `{row.name}` in refmlc/lang/ops/scalar")
    header = kernels.header_of(row.name) if row.name in SCALAR_OPS else f"rm_{row.name}.h"
    if header_text is None:
        header_text = code_of(header) if (KERNELS / header).is_file() else ""
    if row.name not in IN_PLACE_OF_A_CALL and not re.search(rf"\brm_{row.name}_|\({row.name}\b", header_text):
        lacks.append(f"a helper rm_{row.name}_<dtype> in kernels_c/{header}")
    if not witnessed(row):
        lacks.append(f"`{row.name}` in refmlc/oracle/implementations/loops")
    if f"\n| `{row.name}` |" not in text_of("conformance/spec/operators.md"):
        lacks.append(f"the row of `{row.name}` in conformance/spec/operators.md: tests/meta/write_operator_table.py")
    return lacks


def witnessed(row: Contract) -> bool:
    """Whether the NumPy witness has the operator on some dtype that the row accepts."""
    for first in (dtype for dtype in SCALARS.values() if row.accepts_dtype(dtype)):
        others = first if row.rest is None else SCALARS["int32"]
        operands = (first, *(others,) * (row.arity - 1))
        if takes(row.name, operands, row.result_dtype(operands)):
            return True
    return False


def takes(name: str, operands: Sequence[DType], result: DType) -> bool:
    try:
        operator_source(name, operands, result, [f"x{number}" for number in range(len(operands))], lambda word, _: word)
    except NotTaken:
        return False
    return True


@pytest.mark.parametrize("name", SCALAR_OPS)
def test_an_operator_has_every_place(name):
    assert operator_lacks(SCALAR_OPS[name].contract) == []


def test_what_an_operator_lacks_is_named(monkeypatch):
    row = SCALAR_OPS["copysign"].contract
    assert operator_lacks(replace(row, clause="NUM-999")) == ["the clause NUM-999 of `copysign` in conformance/spec"]
    assert operator_lacks(replace(row, examples=())) == ["hand-worked examples of `copysign` in refmlc/lang/ops/scalar"]
    without = code_of("rm_floating.h").replace("copysign", "")
    assert operator_lacks(row, without) == ["a helper rm_copysign_<dtype> in kernels_c/rm_floating.h"]
    monkeypatch.setattr(f"{__name__}.takes", lambda *_: False)
    assert operator_lacks(row) == ["`copysign` in refmlc/oracle/implementations/loops"]


def test_a_row_alone_lacks_every_other_place():
    row = Contract("fdim", 2, "a - b where a > b, else 0", "NUM-505", SCALAR_OPS["fmod"].contract.accepts)
    named = ["examples of `fdim`", "rm_fdim_<dtype>", "`fdim` in refmlc/oracle", "operators.md"]
    assert [word for word, part in zip(named, operator_lacks(row), strict=True) if word not in part] == []


# ------------------------------------------------------------------------------------------------------ intrinsics


def intrinsic_lacks(row: Intrinsic) -> list[str]:
    """The places of the checklist in which an intrinsic that is executed is missing."""
    lacks = []
    if row.clause not in clauses():
        lacks.append(f"the clause {row.clause} of `{row.name}` in conformance/spec")
    if row.takes is None and row.name not in UNCHECKED:
        lacks.append(f"`takes` of `{row.name}` in refmlc/lang/ops/intrinsics/table.py")
    if row.name not in EXECUTED:
        lacks.append(f"`{row.name}` in an EXECUTED of refmlc/run/interp/tensorir")
    if f'"{row.name}"' not in text_of(WITNESS) and row.name not in NO_WITNESS:
        lacks.append(f"`{row.name}` in {WITNESS}, or in NO_WITNESS of this test")
    return lacks


@pytest.mark.parametrize("name", [name for name, row in INTRINSICS.items() if row.supported])
def test_an_intrinsic_has_every_place(name):
    assert intrinsic_lacks(INTRINSICS[name]) == []


def test_what_an_intrinsic_lacks_is_named(monkeypatch):
    row = INTRINSICS["get_active_lane_mask"]
    assert intrinsic_lacks(replace(row, takes=None)) == [
        "`takes` of `get_active_lane_mask` in refmlc/lang/ops/intrinsics/table.py"
    ]
    monkeypatch.delitem(EXECUTED, row.name)
    assert intrinsic_lacks(row) == ["`get_active_lane_mask` in an EXECUTED of refmlc/run/interp/tensorir"]
    new = Intrinsic("saturate", "its argument between 0 and 1", "TIR-999")
    named = ["TIR-999", "`takes`", "EXECUTED", "NO_WITNESS"]
    assert [word for word, part in zip(named, intrinsic_lacks(new), strict=True) if word not in part] == []


def test_what_is_executed_has_a_row_and_reasons_have_an_intrinsic():
    supported = {name for name, row in INTRINSICS.items() if row.supported}
    assert set(EXECUTED) - supported == set()
    assert {*NO_WITNESS, *UNCHECKED} - supported == set()


def test_a_reason_for_no_witness_is_not_kept_beside_a_witness():
    assert [name for name in NO_WITNESS if f'"{name}"' in text_of(WITNESS)] == []


# ---------------------------------------------------------------------------------------------------------- dtypes


def dtype_lacks(row: FloatFormat) -> list[str]:
    """The places of the checklist in which a float format is missing."""
    name, types, codes = row.name, code_of("rm_types.h"), code_of("rm_dtypes.h")
    lacks = []
    if name not in SCALARS or storage_dtype(SCALARS[name]).name != name:
        lacks.append(f"a dtype {name} of NumPy or ml_dtypes for refmlc/lang/dtypes/storage.py")
    if not re.search(rf"^RM_TYPES\({name}, ", types, re.MULTILINE):
        lacks.append(f"RM_TYPES({name}, …) in kernels_c/rm_types.h")
    if not re.search(rf"^#define RM_KIND_{name} ", types, re.MULTILINE):
        lacks.append(f"RM_KIND_{name} in kernels_c/rm_types.h")
    if types.count(f"RM_IF_USED({name}, F({name}))") != 1:
        lacks.append(f"{name} in one family RM_EACH_… of kernels_c/rm_types.h")
    if not re.search(rf"^RM_IF_USED\({name},", codes, re.MULTILINE):
        lacks.append(f"the codes of {name} in kernels_c/rm_dtypes.h")
    return lacks


@pytest.mark.parametrize("name", FLOAT_FORMATS)
def test_a_dtype_has_every_place(name):
    assert dtype_lacks(FLOAT_FORMATS[name]) == []


def test_what_a_dtype_lacks_is_named(monkeypatch):
    new = FloatFormat("float8_e2m5", 8, 2, 5, 1)
    named = ["ml_dtypes", "RM_TYPES(float8_e2m5", "RM_KIND_float8_e2m5", "RM_EACH_…", "rm_dtypes.h"]
    assert [word for word, part in zip(named, dtype_lacks(new), strict=True) if word not in part] == []
    whole = code_of("rm_types.h")
    monkeypatch.setattr(
        f"{__name__}.code_of", lambda name: whole.replace("F(float8_e3m4)", "") if name == "rm_types.h" else code(name)
    )
    code = cache(lambda name: (KERNELS / name).read_text(encoding="utf-8"))
    assert dtype_lacks(FLOAT_FORMATS["float8_e3m4"]) == ["float8_e3m4 in one family RM_EACH_… of kernels_c/rm_types.h"]


def test_nothing_else_names_a_narrow_format():
    """So a dtype touches three files; a table of names anywhere else fails here, with its file."""
    narrow = re.compile(rf"(?:{'|'.join(name for name in FLOAT_FORMATS if name.startswith('float8_'))})\b")
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "refmlc").rglob("*.py")}
    texts |= {path: code_of(path.name) for path in KERNELS.glob("*.h")}
    naming = {str(path.relative_to(ROOT)) for path, text in texts.items() if narrow.search(text)}
    assert naming - set(NAMING_FORMATS) == set()
    assert set(NAMING_FORMATS) - naming == set()


# ----------------------------------------------------------------------------------------------------------- pages


@pytest.mark.parametrize("page", PLACES)
def test_a_page_names_its_places_and_they_exist(page):
    text = (HOW_TO / page).read_text(encoding="utf-8")
    assert [place for place in PLACES[page] if place not in text] == []
    named = re.findall(r"`((?:refmlc|kernels_c|conformance|tests)/[\w./-]+)`", text)
    assert [place for place in named if not (ROOT / place).exists()] == []
    assert "test_meta_checklists.py" in text
