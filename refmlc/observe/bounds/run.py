"""The state of a function executed on sets: values of variables, memory of buffers, uncertain conditions."""

from refmlc.diag import fail
from refmlc.diag.catalogue import OUT_OF_SCOPE
from refmlc.diag.source import Span
from refmlc.lang.ir import tir
from refmlc.observe.bounds.choice import Value
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.lanes import Lanes
from refmlc.observe.bounds.places import View


class Run:
    """The state of one function; `unsure`: the number of uncertain conditions around the current statement."""

    def __init__(self, freedom: Freedom) -> None:
        self.freedom = freedom
        self.values: dict[tir.Var, Value] = {}
        self.views: dict[tir.Buffer, View] = {}
        self.declared: set[tir.Buffer] = set()
        self.threads: set[str] = set()
        self.lanes = Lanes()
        self.reducing = False
        self.unsure = 0

    def require_declared(self, buffer: tir.Buffer, span: Span | None) -> None:
        """Fails: RM203 for a buffer that was not declared."""
        if buffer not in self.declared:
            raise fail(OUT_OF_SCOPE, f"buffer `{buffer.name}` is used without storage", span)
