"""Cases as TOML: what is written is read again, bit by bit, and replays to the same verdict."""

import math
import tomllib

import numpy as np
import pytest
from faulty import Faulty, floats, found, program

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import SCALARS, dtype
from refmlc.lang.ir.equal import structural_equal
from refmlc.oracle.evidence import case_of, case_text, holds, read_case, recorded, replay
from refmlc.oracle.evidence.case_file import read_cases
from refmlc.oracle.evidence.literals import arguments_data, arguments_of, number_data, tensor_data, tensor_of
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.pairs import variants
from refmlc.oracle.parts import bits
from refmlc.oracle.toml_text import toml_value
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape

SCALE = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] * T.float32(3)
"""
ODD = floats([1.5, math.inf, math.nan, -0.0])


def scale() -> refmlc.oracle.finding.Finding:
    return found(program(SCALE, ODD, Tensor.empty((4,), SCALARS["float32"])), Faulty(3, 5))


def test_a_finding_is_a_toml_case_with_all_that_a_suite_wants() -> None:
    data = tomllib.loads(case_text(scale()))
    assert data["id"].startswith("rm701-")
    assert (data["features"], data["dialect"], data["implementation"]) == (["float32", "tensorir"], "0.27", "faulty")
    assert "RM701 in faulty" in data["provenance"]
    assert data["module"].endswith(SCALE)
    (call,) = data["calls"]
    assert call["args"] == [
        {"dtype": "float32", "shape": [4], "values": ["0x1.8000000000000p+0", "inf", "nan", "-0x0.0p+0"]},
        {"dtype": "float32", "shape": [4], "values": ["_"] * 4},
    ]
    assert call["assert"]["kind"] == "return"
    written = call["assert"]["parts"][1]
    assert (written["label"], written["rule"]) == ("`B`", "certified")
    assert written["values"] == ["0x1.2000000000000p+2", "inf", "nan", "-0x0.0p+0"]
    assert float.fromhex(written["low"][0]) == 4.5 == float.fromhex(written["high"][0])  # 1.5 * 3 is a float32
    assert written["specials"] == ["", "inf", "nan", ""]


def test_the_case_of_a_variant_has_the_text_of_the_variant() -> None:
    scaled = program(SCALE, ODD, Tensor.empty((4,), SCALARS["float32"]))
    made = list(variants(scaled))
    assert {"constants loaded from a buffer", "vectorised"} <= {variant.label for variant in made}
    for variant in made:
        case = recorded(variant, (0,), "a test")
        assert structural_equal(case.module, variant.module), variant.label
        (call,) = case.calls
        assert len(call.args) == len(variant.arguments(0)), variant.label
        assert call.assertion["kind"] == "return", variant.label


def test_a_case_replays_to_the_same_verdict() -> None:
    finding = scale()
    case = read_case(case_text(finding))
    again = replay(case, [Faulty(3, 5), Interp()])
    assert again.broken == ()
    assert [str(verdict) for verdict in again.examination.verdicts["faulty"]] == [str(finding.verdict)]
    assert [verdict.kind.value for verdict in again.examination.verdicts["interp"]] == ["equal"]


def test_text_is_read_to_the_same_case() -> None:
    case = case_of(scale())
    assert read_case(case.toml()) == case


def test_what_must_be_one_value_is_recorded_as_exact() -> None:
    body = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "bool"), C: T.Buffer((2,), "float32")):
    for i in range(2):
        with T.sblock("B"):
            vi = T.axis.spatial(2, i)
            B[vi] = A[vi] != A[vi]
            C[vi] = A[vi] / T.float32(3)
"""
    asked = program(body, floats([1, math.nan]), np.zeros(2, "bool"), floats([0, 0]))
    listed = recorded(asked, (0,), "by hand").calls[0].assertion["parts"]
    assert isinstance(listed, list)
    _, flags, thirds = listed
    assert isinstance(flags, dict)
    assert isinstance(thirds, dict)
    assert (flags["rule"], flags["values"]) == ("exact", [False, True])
    low, high = thirds["low"], thirds["high"]
    assert isinstance(low, list)
    assert isinstance(high, list)
    first, last = float.fromhex(str(low[0])), float.fromhex(str(high[0]))
    assert first < float(np.float32(1) / np.float32(3)) < last
    assert last - first < 1e-6
    assert thirds["specials"] == ["", "nan"]


def test_an_undefined_program_is_recorded_with_code_and_place() -> None:
    body = SCALE.replace("range(4)", "range(5)").replace("spatial(4, i)", "spatial(5, i)")
    case = recorded(program(body, floats([1, 2, 3, 4]), floats([0, 0, 0, 0])), (0,), "by hand")
    assert case.calls[0].assertion == {"kind": "undefined", "code": "RM304", "place": "9:21"}
    assert case.clauses == ("TIR-006",)
    assert replay(case, []).broken == ()


def test_an_assertion_is_asked_of_any_answer() -> None:
    case = case_of(scale())
    for implementation, word in ((Faulty(3, 3), ""), (Faulty(3, 5), "`B`: element 0 is 7.5, recorded is 4.5")):
        prepared = implementation.prepare(case.module)
        assert holds(case, 0, prepared.run("main", case.arguments())) == word


def test_a_case_whose_record_is_wrong_says_so() -> None:
    text = case_text(scale()).replace('rule = "certified"', 'rule = "exact"')
    text = text.replace('"0x1.2000000000000p+2"', '"0x1p+2"')
    assert replay(read_case(text), []).broken == ("call 1: `B`: element 0 is 4.5, recorded is 4.0",)


@pytest.mark.parametrize("name", sorted(set(SCALARS) - {"handle", "void"}))
def test_every_dtype_is_written_bit_by_bit(name: str) -> None:
    kind = dtype(name)
    tensor = Tensor.empty((40,), kind)
    array = tensor.array
    array.view(f"u{array.itemsize}")[...] = np.arange(40) % (1 << min(kind.bits, 8)) if kind.kind != "bool" else 1
    tensor.mark_initialised()
    text = f"x = {toml_value(tensor_data(tensor), nested=True)}"
    assert bits(tensor_of(tomllib.loads(text)["x"])) == bits(tensor)


def test_large_tensors_are_packed_and_keep_what_was_not_written() -> None:
    tensor = Tensor.empty((30, 40), SCALARS["float64"])
    tensor.array[...] = np.random.default_rng(1).standard_normal((30, 40))
    tensor.storage.initialise(0, 800 * 8)
    data = tensor_data(tensor)
    assert set(data) == {"dtype", "shape", "packed", "written"}
    assert bits(tensor_of(data)) == bits(tensor)


def test_arguments_of_every_kind_come_back() -> None:
    first = Tensor.from_numpy(np.arange(12, dtype="int32").reshape(3, 4)[:, ::2])
    whole = Tensor.from_numpy(np.arange(6, dtype="float32"))
    late = Tensor(whole.storage, whole.dtype, (4,), None, 8)
    given = [first, first, late, 3, -(1 << 63), True, 0.1, Shape((2, 3)), (late, (1,)), None]
    text = f"x = {toml_value(arguments_data(given), nested=True)}"
    made = arguments_of(tomllib.loads(text)["x"])
    assert [bits(value) for value in made] == [bits(value) for value in given]
    assert made[0] is made[1]
    assert isinstance(made[0], Tensor)
    assert isinstance(made[2], Tensor)
    assert (made[0].strides, made[2].byte_offset) == ((4, 2), 8)


def test_what_cannot_be_written_down_is_refused() -> None:
    with pytest.raises(RefmlcError, match="RM111"):
        arguments_data([object()])


@pytest.mark.parametrize("value", [0.1, -0.0, math.inf, -math.inf, 5e-324, 1.7976931348623157e308])
def test_floats_are_hexadecimal(value: float) -> None:
    text = number_data(value)
    assert isinstance(text, str)
    assert (float(text) if "inf" in text else float.fromhex(text)) == value


TEXTS = ["a'''b\n", 'a"""b\n"', "tab\there\n\\n", "bell\a\n", "ünïcode\n\u2028", "end'\n'", "", "\r\n", "\n\n x"]


CALL = 'module = ""\nfunc = "f"\ncalls = [{ args = [] }]'


@pytest.mark.parametrize("text", TEXTS)
def test_texts_survive_toml(text: str) -> None:
    assert tomllib.loads(f"x = {toml_value(text)}")["x"] == text
    assert tomllib.loads(f"x = {toml_value([text], nested=True)}")["x"] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "x = ",
        'id = "a"',
        'id = "a"\nmodule = ""\nfunc = "f"\ncalls = []',
        'id = "a"\nmodule = ""\nfunc = "f"\n[[calls]]\nnothing = 1',
        'id = "a"\nmodule = ""\nfunc = "f"\n[[calls]]\nargs = []\nassert = {kind = "retrun"}',
        'id = "a"\nmodule = ""\nfunc = "f"\n[[calls]]\nargs = []\nassert.kind = "return"\nassert.parts=[{rule="x"}]',
    ],
)
def test_a_file_that_is_no_case_is_refused(text: str) -> None:
    with pytest.raises(RefmlcError, match="RM109"):
        read_case(text)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('clauses = "NUM-101"', "`clauses` is not a list of strings"),
        ("clauses = [101]", "`clauses` is not a list of strings"),
        ('features = "relax"', "`features` is not a list of strings"),
        ("dialect = 0.27", "`dialect` is not a string"),
        ("provenance = []", "`provenance` is not a string"),
    ],
)
def test_a_key_that_holds_something_else_is_told_with_its_place(line: str, words: str) -> None:
    text = f'[[case]]\nid = "x.first"\n{CALL}\n\n[[case]]\nid = "x.second"\n{line}\n{CALL}'
    with pytest.raises(RefmlcError) as caught:
        read_cases(text, "some.toml")
    assert caught.value.code.id == "RM109"
    assert caught.value.diagnostic.message == f"`some.toml`, line 8, `x.second`: {words}"


@pytest.mark.parametrize(
    "data",
    [
        {"dtype": "float33", "shape": [1], "values": [0]},
        {"dtype": "float32", "shape": [2], "values": ["0x1p0"]},
        {"dtype": "float32", "shape": [1], "values": ["one"]},
        {"dtype": "float16", "shape": [1], "values": ["0x1p0"], "bits": [0]},
        {"dtype": "int8", "shape": [1000], "packed": "AAAA"},
        {"same": 3},
        {"dtype": "int8", "shape": [2], "values": [1, 2], "strides": [1 << 40]},
        "text",
    ],
)
def test_an_argument_that_is_none_is_refused(data: object) -> None:
    with pytest.raises(RefmlcError, match="RM109"):
        arguments_of([data])  # type: ignore[list-item]
