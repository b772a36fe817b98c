"""The modules that the page offers: programs of the benchmark, models of the demo, and cases of the frozen suite."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from refmlc.oracle.evidence.case_file import read_cases
from refmlc.oracle.suite.suite import root_of
from refmlc.tools.bench.texts import program
from refmlc.tools.demo.runner import MODELS


@dataclass(frozen=True)
class ExampleModule:
    """A module with a title."""

    title: str
    text: Callable[[], str]


def _case(file: str, identity: str) -> str:
    """The module of a case of the frozen suite."""
    name = f"cases/{file}.toml"
    cases = read_cases(root_of(None).joinpath(name).read_text(encoding="utf-8"), name)
    return next(case.text for case in cases if case.id == identity).strip("\n") + "\n"


def _model(name: str) -> str:
    """A model of the demo."""
    return (MODELS / name).read_text(encoding="utf-8")


EXAMPLES = (
    ExampleModule("a product of matrices", partial(program, "matmul", m=4, n=4, k=4, dtype="float32")),
    ExampleModule("softmax of Relax", partial(program, "softmax", rows=2, cols=6)),
    ExampleModule("layer norm of Relax", partial(program, "layernorm", rows=2, cols=6)),
    ExampleModule("a network of two layers", partial(_model, "tensorir.py")),
    ExampleModule(
        "RM304: an index out of bounds", partial(_case, "undefined/called-r-14", "undefined.rm304.case-ends-in-its-2")
    ),
    ExampleModule(
        "RM305: an unwritten element", partial(_case, "undefined/called-r-16", "undefined.rm305.case-has-its-finding-2")
    ),
    ExampleModule(
        "RM312: a loop that leaves its axis", partial(_case, "undefined/tir-blocks-01", "undefined.axis.outside")
    ),
    ExampleModule(
        "RM318: a read outside of T.reads", partial(_case, "undefined/tir-blocks-01", "undefined.region.reads")
    ),
    ExampleModule("RM321: a race", partial(_case, "undefined/tir-blocks-02", "undefined.race.parallel")),
    ExampleModule(
        "RM321: a barrier is missing", partial(_case, "undefined/tir-calls-groups-03", "undefined.threads.race-read")
    ),
    ExampleModule(
        "RM327: a barrier in one branch", partial(_case, "undefined/tir-threads", "undefined.barrier.one-branch")
    ),
)
