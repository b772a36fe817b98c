"""What a program does with its modules, as rows of stages: by stand-ins for TVM and its modules."""

import os
import signal
from types import SimpleNamespace
from typing import ClassVar

import pytest

from refmlc.diag import Malformed
from refmlc.oracle.passes import Stage
from refmlc.oracle.passes.instrument import PassLog, check_passes, check_schedule, clips, watching
from refmlc.oracle.passes.stages import StageVerdict
from refmlc.oracle.refine.assertions import Inequivalent


class Module:
    """A module whose text is its name."""

    def __init__(self, text, functions=("f",)):
        self.text = text
        self.functions = {name: SimpleNamespace(attrs=None) for name in functions}

    def script(self):
        return self.text


class Context:
    """A context of passes, as TVM has them."""

    now: ClassVar = []

    def __init__(self, instruments=None):
        self.instruments = instruments

    def __enter__(self):
        Context.now.append(self)
        return self

    def __exit__(self, *ignored):
        Context.now.pop()

    def override_instruments(self, instruments):
        self.instruments = instruments

    @staticmethod
    def current():
        return Context.now[-1]


TVM = SimpleNamespace(
    relax=SimpleNamespace(Function=int),
    transform=SimpleNamespace(PassContext=Context),
    instrument=SimpleNamespace(pass_instrument=lambda kind: kind),
)


def rows(*events):
    """The rows of stages: `>name text` is the begin of a pass, `<name text` its end."""
    seen = PassLog()
    for event in events:
        name, _, text = event[1:].partition(" ")
        (seen.before if event[0] == ">" else seen.after)(name, Module(text, "f" * (text != "empty")))
    return [[f"{stage.name} {stage.text}" for stage in trace.stages] for trace, _ in seen.rows(TVM)]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([">p a", "<p b", ">q b", "<q c"], [["input a", "p b", "q c"]]),
        ([">p a", "<p a"], []),
        ([">all a", ">p a", "<p b", ">q b", "<q c", "<all c"], [["input a", "p b", "q c"]]),
        ([">p a", ">q x", "<q y", "<p b"], [["input x", "q y"], ["input a", "p b"]]),
        ([">p a", "<p b", ">p other", "<p done"], [["input a", "p b"], ["input other", "p done"]]),
        ([">bad a", ">p a", "<p b", ">q a", "<q c"], [["input a", "p b", "q c"]]),
        ([">all a", ">bad a", "<all b"], [["input a", "all b"]]),
        ([">p a", "<p empty", ">q empty", "<q b"], []),
    ],
    ids=["in a row", "unchanged", "nested", "of its own", "two modules", "raised", "raised within", "no functions"],
)
def test_passes_as_rows(events, expected):
    assert rows(*events) == expected


def test_contexts_are_as_they_were():
    Context.now = [Context(["mine"])]
    enter = Context.__enter__
    inner = Context()

    def work():
        with watching(TVM, PassLog()):
            assert len(Context.current().instruments) == 2
            for _ in range(2):
                with inner:
                    assert len(Context.current().instruments) == 1
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert (Context.now[0].instruments, inner.instruments, Context.__enter__) == (["mine"], [], enter)


class Dying:
    """A trace whose second primitive ends the process."""

    insts = (SimpleNamespace(kind=SimpleNamespace(name="Split")), SimpleNamespace(kind=SimpleNamespace(name="Bind")))
    decisions = None

    def __init__(self, insts=insts, decisions=None):
        self.insts, self.decisions = insts, decisions

    def apply_to_schedule(self, _schedule, *, remove_postproc):
        if len(self.insts) == 2:
            os.kill(os.getpid(), signal.SIGABRT)


def test_a_primitive_that_kills_the_compiler_is_named_and_this_process_goes_on():
    def schedule(_module):
        return SimpleNamespace(mod=Module("text"), trace=Dying())

    s_tir = SimpleNamespace(Schedule=schedule, schedule=SimpleNamespace(Trace=Dying))
    tvm = SimpleNamespace(s_tir=s_tir, IRModule=Module, tirx=SimpleNamespace(PrimFunc=int))
    with pytest.raises(Inequivalent) as caught:
        check_schedule(tvm, schedule(None), Module("text"))
    assert caught.value.code.id == "RM708"
    assert caught.value.diagnostic.message == "TVM dies at `2: Bind`: the process was killed by SIGABRT"


FUSED = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), D: T.Buffer((1,), "float32")):
    for k in range(4):
        with T.sblock("D"):
            v = T.axis.reduce(4, k)
            with T.init():
                D[0] = T.float32(0)
            D[0] = VALUE
"""


@pytest.mark.parametrize(
    ("name", "value", "clipped"),
    [
        ("3: FuseReductionEpilogue", "T.max(D[0] + A[v], T.float32(0))", True),
        ("3: FuseReductionEpilogue", "T.min(T.max(D[0] + A[v], T.float32(-1)), T.float32(1))", True),
        ("3: FuseReductionEpilogue", "D[0] + A[v]", False),
        ("3: FuseReductionEpilogue", "T.max(D[0], A[v])", False),
        ("3: ReverseComputeInline", "T.max(D[0] + A[v], T.float32(0))", False),
    ],
)
def test_which_change_of_the_meaning_is_documented(name, value, clipped):
    assert clips(Stage(name, FUSED.replace("VALUE", value))) is clipped


HALVED = """
@T.prim_func(s_tir=True)
def main(n: T.int32, A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        B[i] = A[i] * T.float32(0.5)
"""
WRONG_FROM_5 = HALVED.replace("T.float32(0.5)", "T.if_then_else(n >= 5, T.float32(0.25), T.float32(0.5))")


class Applied:
    """A trace with one primitive, which makes `WRONG_FROM_5`."""

    insts = (SimpleNamespace(kind=SimpleNamespace(name="Split")),)
    decisions = None

    def __init__(self, insts=insts, decisions=None):
        self.insts, self.decisions = insts, decisions

    def apply_to_schedule(self, schedule, *, remove_postproc):
        del remove_postproc
        schedule.mod = Module(WRONG_FROM_5)


def stand_in():
    """A stand-in for TVM whose schedule has applied one primitive."""

    def schedule(module):
        return SimpleNamespace(mod=module, trace=Applied())

    s_tir = SimpleNamespace(Schedule=schedule, schedule=SimpleNamespace(Trace=Applied))
    return SimpleNamespace(**{**vars(TVM), "s_tir": s_tir, "IRModule": Module, "tirx": SimpleNamespace(PrimFunc=int)})


def test_a_schedule_is_checked_within_what_is_assumed():
    tvm = stand_in()
    schedule = tvm.s_tir.Schedule(Module(HALVED))
    with pytest.raises(Inequivalent, match="`1: Split` changes the meaning"):
        check_schedule(tvm, schedule, Module(HALVED))
    assert check_schedule(tvm, schedule, Module(HALVED), assume="n < 5").count(StageVerdict.SAME) == 1
    with pytest.raises(Malformed, match="no function has"):
        check_schedule(tvm, schedule, Module(HALVED), assume="m < 5")


def test_passes_are_checked_within_what_is_assumed():
    tvm, Context.now = stand_in(), [Context()]

    def run(**options):
        with check_passes(tvm, **options) as seen:
            (instrument,) = Context.current().instruments
            instrument.run_before_pass(Module(HALVED), SimpleNamespace(name="Quarter"))
            instrument.run_after_pass(Module(WRONG_FROM_5), SimpleNamespace(name="Quarter"))
        return seen

    with pytest.raises(Inequivalent, match="`Quarter` changes the meaning"):
        run()
    assert [row.verdict for row in run(assume=["n < 5"]).rows] == [StageVerdict.SAME]
    with pytest.raises(Malformed, match="is of no module"):
        run(assume="m < 5")
