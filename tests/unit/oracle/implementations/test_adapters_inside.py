"""The interpreter and in-house C as implementations; implementations by name."""

import numpy as np
import pytest

import refmlc
from refmlc.lang.dtypes import dtype
from refmlc.native.compile import Effort
from refmlc.oracle.implementations import native
from refmlc.oracle.implementations.implementation import Ended, Implementation, Limits, Stop
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.implementations.native import Batching, Native, ways_here
from refmlc.run.memory.tensor import Tensor

pytestmark = pytest.mark.needs("compiler")

TEXT = """
@T.prim_func
def double(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i + SHIFT] * T.float32(2)
"""
GRAPH = """
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y
"""


def module(shift=0):
    return refmlc.read(TEXT.replace("SHIFT", str(shift)), "double.py")


def arguments():
    return [Tensor.from_numpy(np.array([1, 2, 4], "float32")), Tensor.empty((3,), dtype("float32"))]


@pytest.mark.parametrize("name", ["interp", "native", *(f"native:{way}" for way in ways_here())])
def test_every_way_gives_the_result(name):
    made = implementation(name)
    assert isinstance(made, Implementation)
    assert (made.name, made.promises_verdicts) == (name, True)
    answer = made.prepare(module()).run("double", arguments())
    assert isinstance(answer, Ended)
    assert answer.args[1].numpy().tolist() == [2, 4, 8]


@pytest.mark.parametrize("name", ["interp", "native:tiny", "native:guarded"])
def test_undefined_behaviour_is_a_verdict_with_its_place(name):
    answer = implementation(name).prepare(module(1)).run("double", arguments())
    assert answer.why is Stop.UNDEFINED
    assert answer.diagnostic.code.id == "RM304"
    assert answer.diagnostic.span.line == 5


def test_modules_of_a_batch_keep_their_names_and_do_not_meet():
    made = Native("tiny")
    assert isinstance(made, Batching)
    prepared = made.prepare_all([module(), module(1), module()])
    answers = [one.run("double", arguments()) for one in prepared]
    assert [isinstance(answer, Ended) for answer in answers] == [True, False, True]
    assert "in `double`" in answers[1].diagnostic.notes[0]


def test_the_tiny_way_and_quick_ones_are_compiled_without_optimisation(monkeypatch):
    efforts, build = [], native.build
    monkeypatch.setattr(native, "build", lambda *args, **how: efforts.append(how["effort"]) or build(*args, **how))
    ways = (Native("tiny"), Native("guarded"), Native("guarded", quick=True))
    answers = [way.prepare(module()).run("double", arguments()) for way in ways]
    assert [answer.args[1].numpy().tolist() for answer in answers] == [[2, 4, 8]] * 3
    assert efforts == [Effort.LEAST, Effort.FULL, Effort.LEAST]


def test_runs_of_bindings_of_a_batch_do_not_meet():
    graphs = [refmlc.read(GRAPH), refmlc.read(GRAPH.replace("R.add", "R.multiply"))]
    answers = [one.run("main", arguments()[:1]) for one in Native("").prepare_all(graphs)]
    assert [answer.value.numpy().tolist() for answer in answers] == [[2, 4, 8], [1, 4, 16]]


def test_where_c_takes_no_part_there_is_no_agreement():
    text = 'from tvm.script import relax as R\n@R.function\ndef main(x: R.Tensor((3,), "float32")):\n    return x\n'
    answer = Native("tiny").prepare(refmlc.read(text)).run("main", arguments()[:1])
    assert answer.why is Stop.UNSUPPORTED
    assert "not compiled" in answer.message


def test_a_missing_compiler_is_unsupported(monkeypatch, tmp_path):
    monkeypatch.setenv("REFMLC_CC", str(tmp_path / "cc"))
    answer = Native("guarded").prepare(module())
    assert answer.why is Stop.UNSUPPORTED
    assert "no C compiler is found" in answer.message


SHELL = '#!/bin/sh\n[ "$1" = --version ] && echo gcc && exit 0\n'
LARGE = '[ $(wc -c < unit.c) -gt 200 ] || exec gcc "$@"\n'


@pytest.mark.parametrize(("takes", "why"), [("", Stop.UNSUPPORTED), (LARGE, Stop.CRASHED)], ids=["nothing", "little"])
def test_a_compiler_that_fails_is_ours_to_answer_for_where_it_works(monkeypatch, tmp_path, takes, why):
    compiler = tmp_path / "cc"
    compiler.write_text(f"{SHELL}{takes}echo broken >&2; exit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("REFMLC_CC", str(compiler))
    assert [one.why for one in Native("guarded").prepare_all([module(), module()])] == [why, why]


def test_a_module_that_breaks_a_rule_is_rejected():
    call = 'R.call_tir(cls.double, (x, x), out_sinfo=R.Tensor((3,), "float32"))'  # `double` takes one and an output
    body = TEXT.replace("SHIFT", "0").replace("\n", "\n    ")
    text = GRAPH.replace("    @R.function", f"{body.rstrip()}\n    @R.function", 1).replace("R.add(x, x)", call)
    text = text.replace("relax as R", "relax as R, tirx as T").replace(
        "with R.dataflow", "cls = Module\n        with R.dataflow"
    )
    broken = refmlc.read(text, check=False)
    assert [Interp().prepare(broken).why, Native("tiny").prepare(broken).why] == [Stop.REJECTED, Stop.REJECTED]


@pytest.mark.parametrize("made", [Interp(Limits(steps=2)), Native("tiny", Limits(steps=0))], ids=["interp", "native"])
def test_a_budget_that_is_used_up_is_exhausted(made):
    assert made.prepare(module()).run("double", arguments()).why is Stop.EXHAUSTED


def test_arguments_that_do_not_fit_are_rejected():
    prepared = Interp().prepare(module())
    assert prepared.run("double", arguments()[:1]).why is Stop.REJECTED
    assert prepared.run("other", arguments()).why is Stop.REJECTED


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("cupy", "no implementation is named `cupy`"),
        ("native:fast", "C has no variant `fast`"),
        ("tvm", "needs a Python"),
        ("cmd:", "needs a command"),
        ("cmd:'a", "is not a command"),
        ("interp:x", "no implementation is named"),
        ("tvm:/nowhere/python", "does not run TVM"),
    ],
)
def test_what_is_no_implementation_is_bad_usage(spec, words):
    with pytest.raises(refmlc.Malformed, match=words) as raised:
        implementation(spec)
    assert raised.value.code.id == "RM112"
