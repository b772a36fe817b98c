"""Rows that look like a finding: by the message of a failure, by the operators of another result."""

import pytest

from refmlc.lang.script import read
from refmlc.oracle.fuzz.likeness import like_row
from refmlc.oracle.fuzz.pattern import Pattern, failure_words, names_in_program

SAYS = {"name": "tvm 0.27.0.post1"}
REFUSED = "DiagnosticError: error: Data type T.{} not supported for isnan op. Skipping isnan."


def of_message(message, names=()):
    return like_row(SAYS, Pattern(failure_words(message, names)), message)


def test_a_failure_is_like_the_row_with_its_message():
    tir_vars = "DiagnosticError: error: call_tir() got an unexpected keyword argument 'tir_vars'"
    assert of_message(tir_vars) == "tir-vars"
    assert of_message(tir_vars.replace("tir_vars", "other")) == ""
    assert of_message("AttributeError: module 'tvm.topi.nn' has no attribute 'pixel_shuffle'") == "pixel-shuffle"
    check = (
        "InternalError: Check failed: (opt) is false: The type of Tuple must be TupleType, but expression y0 has type "
    )
    assert of_message(f'{check}R.Tensor((3,), dtype="bfloat16")', {"y0"}) == "split-in-one"
    assert of_message("the process was killed by SIGSEGV") == ""
    text = "InternalError: CodeGenVM cannot emit this Relax operator directly. Run the appropriate lowering pass, or"
    text += " route the operator to an external codegen before VM codegen. Offending call: R.ewise_fma(x2, x3, x4)"
    assert of_message(text, {"x2", "x3", "x4"}) == "ewise-fma"


@pytest.mark.parametrize(
    ("operator", "words", "row"),
    [
        ("exp10", "float value", "exp10-float64"),
        ("exp10", "narrow float value", ""),
        ("vision.roi_align", "half float value", "roi-align-float16"),
        ("nn.max_pool2d", "half float finite for inf", "max-pool-infinities"),
        ("vision.roi_align", "float finite for zero", ""),
        ("vision.roi_align", "the result is a tensor # of dtype", "roi-align-float16"),
        ("no such operator", "float value", ""),
    ],
)
def test_another_result_is_like_the_row_of_its_operator(operator, words, row):
    assert like_row(SAYS, Pattern(words, operators=frozenset({operator}))) == row


def test_nothing_is_like_a_result_without_an_operator_or_of_another_implementation():
    assert like_row(SAYS, Pattern("float value")) == ""
    assert like_row({"name": "mine 1"}, Pattern("float value", operators=frozenset({"exp10"}))) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Data type T.float8_e5m2 not supported", "Data type T.bfloat16 not supported"),
        ("LLVM: bitcast float %1 to i8", "LLVM: bitcast double %77 to half"),
        ("Check failed: (a == b) is false: loop i", "Check failed: (a == b) is false: loop j"),
        ("Offending call: R.f(x, i)", "Offending call: R.f(j, i)"),
    ],
)
def test_dtypes_and_names_of_the_program_are_no_part_of_a_message(one, other):
    assert failure_words(one, {"i", "j", "x"}) == failure_words(other, {"i", "j", "x"})


def test_the_condition_of_a_check_is_one_whatever_the_program_is_called():
    check = "Check failed: (i < j) is false: loop i"
    assert failure_words(check, {"i"}) == "Check failed: (i < j) is false: loop _"
    assert failure_words("InternalError: 3 is bad") == failure_words("DiagnosticError: error: 4 is bad") == "# is bad"
    assert failure_words("bitcast half to i8") == "bitcast half to i8"  # not of LLVM
    assert failure_words("power of boolean") == "power of boolean"


def test_names_of_a_program():
    text = "@T.prim_func\ndef main(A: T.Buffer((4,), 'int8'), n: T.int32):\n    for i in range(4):\n        A[i] = n\n"
    assert {"A", "n", "i"} <= names_in_program(read(text, "n.py"))
    graph = "@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    y = R.exp(x)\n    z = R.exp(y)\n    return z\n"
    assert {"x", "y", "z"} <= names_in_program(read(graph, "n.py"))
