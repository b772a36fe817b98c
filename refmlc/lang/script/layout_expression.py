"""A layout that stands alone, as on a command line: `S[(8, 4):(4@laneid, 1)] + R[2:1@warpid] + 5@warpid`.

The terms are those of TIRx, and `S`, `R`, `TileLayout`, `ComposeLayout` need no namespace; any name behind `@` is an
axis. Nothing is executed. Fails: RM1xx as texts do; RM103 what is no layout; RM105 what has no meaning; RM504 a layout
with a part that is not constant.
"""

import ast

from refmlc.diag import Source, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, NOT_TVMSCRIPT, UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir.tirx import AXES, ComposeLayout, TileLayout
from refmlc.lang.layouts.forms import Placed, defect, form_of
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.imports import prelude
from refmlc.lang.script.reader.scope import Scope
from refmlc.lang.script.reader.syntax import Spans, every_node, parsed
from refmlc.lang.script.reader.text import TVMSCRIPT
from refmlc.lang.script.reader.values import Construct, described
from refmlc.lang.script.tirx.layouts import OnAxis, Spec, spec_of

NAMES = ("S", "R", "TileLayout", "ComposeLayout", "Iter")


def layout_in(text: str, name: str = "<layout>") -> Placed:
    """The layout that `text` is."""
    source = Source(name, text)
    spans = Spans(source)
    body = parsed(source).body
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        raise fail(NOT_TVMSCRIPT, "a layout is one expression", spans.of(body[0]) if body else spans.whole())
    node = body[0].value
    sums = (part for part in every_node(node) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.MatMult))
    axes = {part.right.id for part in sums if isinstance(part.right, ast.Name)}
    names = {axis: Construct(f"Axis.{axis}", axis) for axis in sorted({*AXES, *axes})}
    names |= {word: Construct(f"T.{word}", word) for word in NAMES}
    value = Evaluator(spans, TVMSCRIPT.table, Scope({**prelude(), **names})).eval(node)
    span = spans.of(node)
    if isinstance(value, Spec | OnAxis):
        spec = spec_of(value, span)
        value = TileLayout(spec.shard, spec.replica, spec.offset, span=span)
    if not isinstance(value, TileLayout | ComposeLayout):
        raise fail(NOT_TVMSCRIPT, f"{described(value)} is no layout", span)
    form = form_of(value)
    if form is None:
        raise fail(UNSUPPORTED_CONSTRUCT, "a layout with a part that is not constant is not supported here", span)
    reason = defect(form)
    if reason:
        raise fail(BAD_ARGUMENTS, reason, span)
    return form
