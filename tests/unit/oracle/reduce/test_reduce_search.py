"""What a reduction promises: valid candidates, a fixpoint, the same result each time, limits kept."""

import time

import pytest

import refmlc
from refmlc.diag import Malformed
from refmlc.lang.wellformed.module import check_module
from refmlc.oracle.reduce import reduce, reduce_case
from refmlc.oracle.reduce.size import size_of
from refmlc.oracle.reduce.subject import Subject
from refmlc.strategies.case import Case
from refmlc.strategies.functions import rolled

PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func
    def other(A: T.Buffer((4,), "int32")):
        A[0] = 0
    @T.prim_func
    def main(A: T.Buffer((8, 16), "float16"), B: T.Buffer((8, 16), "float16"), n: T.int32):
        P = T.alloc_buffer((8, 16), "float16")
        for i, j in T.grid(8, 16):
            with T.sblock("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                P[vi, vj] = A[vi, vj] * T.float16(3)
        for i in T.parallel(8):
            for j in range(16):
                if i + j < n:
                    B[i, j] = T.exp(P[i, j] + T.float16(1))
"""


def has_exp(module):
    return "T.exp" in module.source.text


def test_only_what_is_asked_for_is_left():
    found = reduce(refmlc.read(PROGRAM), has_exp)
    assert found.finished
    assert found.text.splitlines()[4:] == [
        "@I.ir_module",
        "class Module:",
        "    @T.prim_func",
        "    def main():",
        "        T.evaluate(T.exp(T.float32(0.0)))",
    ]
    assert (found.before.functions, found.after.functions) == (2, 1)
    # 4 parameters, an allocation, 4 loops, a block with 2 axes, a branch, 3 stores
    assert (found.before.statements, found.after.statements) == (16, 1)


def test_the_predicate_meets_valid_modules_as_their_texts_say_them():
    met = []

    def keep(module):
        met.append(module)
        return has_exp(module)

    found = reduce(refmlc.read(PROGRAM), keep)
    assert len(met) == found.tries + 1
    texts = [one.source.text for one in met]
    assert len(set(texts)) == len(texts)
    for module in met:
        assert check_module(module) == ()
        assert refmlc.structural_equal(refmlc.read(refmlc.show(module)), module)


def test_each_step_is_smaller_and_holds():
    steps = []
    found = reduce(refmlc.read(PROGRAM), has_exp, on_progress=steps.append)
    assert len(steps) == found.steps
    sizes = [found.before, *(one.after for one in steps)]
    assert sizes == sorted(sizes, reverse=True)
    assert all("T.exp" in one.text for one in steps)
    assert steps[-1].text == found.text


def test_the_result_is_the_same_each_time_and_with_several_jobs():
    texts = {reduce(refmlc.read(PROGRAM), has_exp, jobs=jobs).text for jobs in (1, 1, 2, 5)}
    assert len(texts) == 1


def test_reducing_again_changes_nothing():
    found = reduce(refmlc.read(PROGRAM), has_exp)
    again = reduce(found.module, has_exp)
    assert (again.text, again.steps) == (found.text, 0)


def test_a_function_that_is_named_stays():
    found = reduce(refmlc.read(PROGRAM), lambda _: True, func="main")
    assert list(found.module.functions) == ["main"]
    assert list(reduce(refmlc.read(PROGRAM), lambda _: True, func="other").module.functions) == ["other"]


def test_a_predicate_that_does_not_hold_at_first_is_an_error():
    with pytest.raises(Malformed) as caught:
        reduce(refmlc.read(PROGRAM), lambda _: False)
    assert caught.value.code.id == "RM112"


def test_a_module_that_breaks_a_rule_is_an_error():
    text = "@T.prim_func\ndef main(A: T.Buffer((4,), 'int32')):\n    A[0] = 1\n    break\n"
    with pytest.raises(Malformed) as caught:
        reduce(refmlc.read(text, check=False), lambda _: True)
    assert caught.value.code.id == "RM112"


def test_tries_are_a_limit():
    asked = []
    found = reduce(refmlc.read(PROGRAM), lambda module: not asked.append(0) and has_exp(module), tries=5)
    assert (found.tries, len(asked), found.finished) == (5, 6, False)


def test_seconds_are_a_limit():
    def slow(module):
        time.sleep(0.02)
        return has_exp(module)

    found = reduce(refmlc.read(PROGRAM), slow, seconds=0.05)
    assert not found.finished
    assert found.after < found.before


def test_what_the_predicate_raises_comes_out():
    def keep(module):
        if "main" not in module.functions:
            raise ZeroDivisionError
        return True

    with pytest.raises(ZeroDivisionError):
        reduce(refmlc.read(PROGRAM), keep)


def test_a_case_keeps_its_function_and_its_arguments_fit():
    def runs(case):
        for number in range(len(case.calls)):
            refmlc.VirtualMachine(refmlc.build(case.module, "interp"))[case.func](*case.arguments(number))
        return True

    def keep(case):
        try:
            return runs(case) and "T.Buffer" in refmlc.show(case.module)
        except refmlc.RefmlcError:
            return False

    case = next(one for one in map(rolled, range(50)) if keep(one))
    found = reduce_case(case, keep)
    assert isinstance(found.case, Case)
    assert found.case.func == case.func
    assert (len(found.case.calls), len(found.case.calls[0])) == (1, 1)
    assert runs(found.case)


def test_constants_of_a_module_are_kept():
    text = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.add(x, R.const([1.5, 2.5], "float32"))
        z = R.multiply(y, y)
        return z
"""
    found = reduce(refmlc.read(text), lambda module: "metadata" in module.source.text and "R.add" in module.source.text)
    assert "R.multiply" not in found.text
    (constant,) = [
        node
        for node in refmlc.lang.ir.visit.walk(refmlc.read(found.text))
        if isinstance(node, refmlc.lang.ir.relax.Constant)
    ]
    assert constant.data.tolist() == [0.0, 0.0]


def test_functions_are_those_of_the_module_and_calls_are_counted_apart():
    size = size_of(Subject(refmlc.read(PROGRAM), "other", ((), (), ())), "text")
    assert (size.functions, size.calls, size.characters) == (2, 3, 4)
