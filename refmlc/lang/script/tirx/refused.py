"""What a text of TVM 0.27 may name and refmlc does not read: each is unsupported by name, with the reason.

| text                                              | why                                                  |
|---------------------------------------------------|------------------------------------------------------|
| `T.SMEMPool(…)`, `T.TMEMPool(…)`                  | an object of Python that gives out memory            |
| `T.alloc_tcgen05_ldst_frag(…)`, `T.wg_reg_tile(…)` … | a layout that TVM computes for one kind of hardware |
| `T.call_kernel(…)`                                | source of another language                           |
| `Tx.compose_op(…)`                                | a primitive that is composed of others               |
| `A.sub[…]`, `A.tile(…)`, `A.chunk(…)`, `A.rearrange(…)` | views that TVM derives by its rules for layouts |
"""

from collections.abc import Mapping

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.table import CallHandler
from refmlc.lang.script.reader.values import Meta

_POOL = "it gives out memory as an object of Python; allocate each buffer by itself"
_FRAGMENT = "TVM computes its layout for one kind of hardware; write the layout"
REASONS: Mapping[str, str] = {
    **dict.fromkeys(("T.SMEMPool", "T.TMEMPool"), _POOL),
    **dict.fromkeys(("T.alloc_tcgen05_ldst_frag", "T.alloc_cast_frag", "T.wg_reg_tile"), _FRAGMENT),
    "T.call_kernel": "it takes the source of another language",
    "T.func_ret": "it belongs to a builder; write the result behind `->`",
    "T.arg": "it belongs to a builder; write the parameter in the head of the function",
    "T.static_assert": "it is executed while TVM reads, and leaves nothing in the module",
}
VIEWS = ("sub", "tile", "chunk", "rearrange")


def _refused(_ev: Evaluator, site: CallSite) -> Meta:
    raise fail(UNSUPPORTED_CONSTRUCT, f"`{site.spelled}` is not supported: {REASONS[site.name]}", site.span)


def check_view(name: str, span: Span) -> None:
    """Refuse the views that a buffer of TVM gives beyond `tirx.views`. Fails: RM504."""
    if name in VIEWS:
        message = f"`{name}` of a buffer is not supported: write the view as `T.decl_buffer` with its layout"
        raise fail(UNSUPPORTED_CONSTRUCT, message, span)


CALLS: dict[str, CallHandler] = dict.fromkeys(REASONS, _refused)
