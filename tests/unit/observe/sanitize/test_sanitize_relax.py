"""What the detectors of Relax and of uninitialised values say, worked out by hand."""

import numpy as np

from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.memory.registry import FunctionRegistry

HEAD = """
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
"""
CALL = """
    @R.function
    def main(x: R.Tensor((4,), "{dtype}")):
        with R.dataflow():
            y = R.call_dps_packed("f", (x,), out_ty=R.Tensor((4,), "{dtype}"))
            R.output(y)
        return y
"""


def report_of(text, *arguments, **packed):
    registry = FunctionRegistry()
    for name, function in packed.items():
        registry.register(name, function)
    given = arguments or (np.arange(4, dtype="float32"),)
    return sanitize(read(HEAD + text, "case.py"), "main", given, registry=registry)


def found(report):
    return {code for code, count in report.counts.items() if count}


def call(function, dtype="float32"):
    return report_of(CALL.format(dtype=dtype), np.arange(4).astype(dtype), f=function)


def copy(x, y):
    y.numpy()[...] = x.numpy()


def test_a_function_that_writes_all_of_its_output_is_called_once():
    calls = []

    def counting(x, y):
        calls.append(1)
        copy(x, y)

    report = call(counting)
    assert found(report) == set()
    assert len(calls) == 1
    assert report.result.numpy().tolist() == [0.0, 1.0, 2.0, 3.0]


def test_bytes_that_happen_to_be_those_that_mark_are_written():
    def marks(_x, y):
        y.numpy()[...] = 0xA5

    report = call(marks, "uint8")
    assert found(report) == set()
    assert report.result.numpy().tolist() == [0xA5] * 4
    assert report.result.initialised


def test_what_is_left_is_counted_and_not_initialised():
    def odd(x, y):
        y.numpy()[1::2] = x.numpy()[1::2]

    for dtype in ("float32", "uint8", "float16", "int64"):
        report = call(odd, dtype)
        assert found(report) == {"RM324"}
        assert "writes 2 of 4 elements of output 0" in report.text()
        assert [report.result.shadow[n] for n in range(4)] == [0, 1, 0, 1]
        assert report.result.array.tolist() == [0, 1, 0, 3]


def test_reading_what_was_left_is_undefined():
    text = CALL.format(dtype="float32").replace(
        "            R.output(y)\n        return y\n",
        '            z = R.call_tir(Module.g, (y,), out_ty=R.Tensor((4,), "float32"))\n'
        "            R.output(z)\n        return z\n",
    )
    text += """
    @T.prim_func
    def g(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i]
"""

    def rest(x, y):
        y.numpy()[1:] = x.numpy()[1:]

    report = report_of(text, f=rest)
    assert report.verdict == "undefined"
    assert found(report) == {"RM305", "RM324"}
    assert "3 of the 4 elements of `A` were written" in report.text()
    assert "nothing in `g` writes to `A`" in report.text()


def test_outputs_of_functions_of_the_module_are_looked_at():
    text = """
    @T.prim_func
    def g(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(3):
            B[i] = A[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir(Module.g, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
"""
    report = report_of(text)
    assert found(report) == {"RM324"}
    assert "`g` writes 3 of 4 elements of output 0" in report.text()
    assert found(report_of(text.replace("range(3)", "range(4)"))) == set()


def test_writing_in_place_is_said_by_call_tir_inplace():
    text = """
    @T.prim_func
    def g(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = A[i] + T.float32(1)
            B[i] = A[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = {call}
            R.output(y)
        return y
"""
    plain = 'R.call_tir(Module.g, (x,), out_ty=R.Tensor((4,), "float32"))'
    both = 'out_ty=[R.Tensor((4,), "float32"), R.Tensor((4,), "float32")]'
    in_place = f"R.call_tir_inplace(Module.g, (x,), inplace_indices=[0, -1], {both})"
    assert found(report_of(text.format(call=plain))) == {"RM323"}
    assert found(report_of(text.format(call=in_place))) == set()


def test_a_packed_function_that_changes_its_input_is_found():
    def clears(x, y):
        copy(x, y)
        x.numpy()[0] = 7

    report = call(clears)
    assert found(report) == {"RM323"}
    assert "changed input 0" in report.text()
    assert found(call(copy)) == set()


def test_effects_of_calls_that_are_over_do_not_matter():
    text = """
    @T.prim_func
    def g(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i]

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir(Module.g, (x,), out_ty=R.Tensor((4,), "float32"))
        Module.g(y, x)
        return y
"""
    assert found(report_of(text)) == set()


def test_the_nearest_store_is_the_last_before_the_read_that_does_not_hold_it():
    text = """
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        S = T.alloc_buffer((4,), "float32")
        for i in range(2):
            S[i] = A[i]
        for i in range(1, 3):
            S[i] = S[i] * T.float32(2)
        S[3] = A[3]
"""
    report = report_of(text)
    (finding,) = report.findings
    places = {related.message: related.span.line for related in finding.diagnostic.related}
    assert (
        places["the nearest store to `S` is here"]
        == text[: text.index("S[i] = A[i]")].count("\n") + HEAD.count("\n") + 1
    )
    assert "2 of the 4 elements of `S` were written" in finding.diagnostic.notes


def test_pure_packed_functions_change_no_argument_and_others_may():
    text = """
    @R.function{pure}
    def main(x: R.Tensor((4,), "float32")):
        y = {call}("f", x, {rest})
        return y
"""

    def clears(x):
        x.numpy()[0] = 7
        return x

    ty = 'ty_args=R.Tensor((4,), "float32")'
    pure = text.format(pure="", call="R.call_pure_packed", rest=ty)
    in_place = text.format(pure="", call="R.call_inplace_packed", rest=f"inplace_indices=[{{}}], {ty}")
    impure = text.format(pure="(pure=False)", call="R.call_packed", rest=ty)
    assert found(report_of(pure, f=clears)) == {"RM323"}
    assert found(report_of(pure, f=lambda x: x)) == set()
    assert found(report_of(in_place.format(0), f=clears)) == set()
    assert found(report_of(in_place.format(-1), f=clears)) == {"RM323"}
    assert found(report_of(impure, f=clears)) == set()


def test_what_an_output_held_before_is_kept_for_calls_in_place():
    text = """
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.call_dps_packed("f", (x,), out_ty=R.Tensor((4,), "float32"))
            z = R.call_tir_inplace("g", (y,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
            R.output(z)
        return z
"""

    def adds(y):
        y.numpy()[:2] += 1

    report = report_of(text, f=copy, g=adds)
    assert found(report) == set()
    assert report.result.numpy().tolist() == [1.0, 2.0, 2.0, 3.0]


IN_PLACE = """
    @T.prim_func
    def g(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = A[i] + T.float32(1)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
{body}
"""
OUT = 'out_ty=R.Tensor((4,), "float32")'
CONSUME = f"R.call_tir_inplace(Module.g, (x,), inplace_indices=[0], {OUT})"


def in_place(*lines):
    return report_of(IN_PLACE.format(body="\n".join(f"        {line}" for line in lines)))


def test_the_new_name_of_what_was_written_in_place_may_be_used():
    report = in_place(f"y = {CONSUME}", "z = R.add(y, y)", "return z")
    assert found(report) == set()
    assert report.result.numpy().tolist() == [2.0, 4.0, 6.0, 8.0]
    again = CONSUME.replace("(x,)", "(y,)")
    assert found(in_place(f"y = {CONSUME}", f"z = {again}", "return z")) == set()


def test_the_old_name_may_not():
    for lines in (
        (f"y = {CONSUME}", "z = R.add(x, y)", "return z"),
        ("w = x", f"y = {CONSUME}", "z = R.add(w, y)", "return z"),
        (f"y = {CONSUME}", "return x"),
        (f"y = {CONSUME}", f"z = {CONSUME}", "return z"),
    ):
        report = in_place(*lines)
        assert report.verdict == "undefined"
        assert found(report) == {"RM328"}


def test_of_a_tuple_only_the_field_that_was_consumed_is_gone():
    lines = ("w = R.add(x, x)", "t = (x, w)", f"y = {CONSUME}", "z = t[{field}]", "return z")
    for field, expected in ((0, {"RM328"}), (1, set())):
        assert found(in_place(*(line.format(field=field) for line in lines))) == expected


def test_a_caller_loses_what_a_function_consumed():
    text = IN_PLACE.format(body="        y = R.add(x, x)\n        z = Module.h(y)\n        return {result}")
    text += f"""
    @R.function
    def h(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = {CONSUME}
        return y
"""
    assert found(report_of(text.format(result="z"))) == set()
    assert found(report_of(text.format(result="y"))) == {"RM328"}


def test_functions_of_the_module_that_are_called_by_name_keep_the_same_promises():
    text = (
        IN_PLACE
        + """
    @R.function(pure=False)
    def h(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        Module.g(x)
        return x
"""
    )
    in_place = 'y = R.call_inplace_packed("h", x, inplace_indices=[{}], ty_args=R.Tensor((4,), "float32"))'
    for call, result, expected in (
        ('R.call_pure_packed("g", x, ty_args=R.Tuple())', "x", {"RM323"}),
        (in_place.format(-1), "y", {"RM323"}),
        (in_place.format(0), "x", {"RM328"}),
        (in_place.format(0), "y", set()),
    ):
        body = f"        {call}\n        return {result}"
        assert found(report_of(text.format(body=body))) == expected
