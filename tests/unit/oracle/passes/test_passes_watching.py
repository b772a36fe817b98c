"""What a program does with its modules, as rows of stages: by stand-ins for TVM and its modules."""

from types import SimpleNamespace
from typing import ClassVar

import pytest

from refmlc.oracle.passes.instrument import PassLog, watching


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
