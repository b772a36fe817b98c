"""Instructions of PTX about asynchronous copies and barriers in memory, as texts write them (TIA-001).

| text                                                              | words                                        |
|-------------------------------------------------------------------|----------------------------------------------|
| `T.ptx.cp.async_.ca.shared.global_(p, q, 16, pred=c)`             | `cp async ca shared global`, predicate c     |
| `T.ptx.cp(p, q, 16, c, "async", "ca", "shared", "global", "pred")` | the same: the last word has its marks         |
| `T.cuda.cvta_generic_to_shared(p)` as an operand                  | p                                            |
"""

from collections.abc import Sequence
from dataclasses import dataclass

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node

FAMILIES = ("ptx.cp", "ptx.mbarrier", "ptx.fence", "ptx.st_async")
WAIT = "cuda.mbarrier_wait"
WAITS = (("mbarrier", "try_wait"), ("mbarrier", "test_wait"))
RAW = "s_tir.cp_async_raw"
"""What InjectPTXAsyncCopy writes."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction: its words as PTX has them, operands, and the condition under which it is executed.

    `predicates`: the numbers of the operands that are predicates.
    """

    words: tuple[str, ...]
    operands: tuple[tir.Attr, ...]
    predicate: tir.Attr = None
    predicates: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        """As PTX spells it."""
        return ".".join(self.words)


def is_asynchronous(node: Node) -> bool:
    """Whether a node is a call of such an instruction."""
    if not isinstance(node, tir.Call) or not isinstance(node.callee, str):
        return False
    family = ".".join(node.callee.split(".")[:2])
    return family in FAMILIES or node.callee in (WAIT, RAW)


def is_wait(node: Node) -> bool:
    """Whether a thread may wait in a statement, for a barrier in memory, or let others run."""
    call = node.value if isinstance(node, tir.Evaluate) else None
    if not isinstance(call, tir.Call) or not is_asynchronous(call):
        return False
    return call.callee == WAIT or instruction(call).words[:2] in WAITS


def instruction(call: tir.Call) -> Instruction:
    """The instruction that a call is."""
    words = tuple(_word(part) for part in str(call.callee).split(".")[1:])
    texts = [arg for arg in call.args if _text(arg) is not None]
    if not texts:
        operands = tuple(_plain(arg) for arg in call.args)
        predicates = frozenset(place for place, arg in enumerate(call.args) if _is_predicate(arg))
        return Instruction(words, operands, call.attrs.get("pred"), predicates)
    more = tuple(text for arg in texts[:-1] if (text := _text(arg)))
    marks = (_text(texts[-1]) or "").split(",")
    values: Sequence[tir.Attr] = [arg for arg in call.args if _text(arg) is None]
    predicate = values[-1] if "pred" in marks and values else None
    if predicate is not None:
        values = values[:-1]
    predicates = frozenset(int(mark[1:]) for mark in marks if mark[:1] == "p" and mark[1:].isdecimal())
    return Instruction((*words, *more), tuple(_plain(arg) for arg in values), predicate, predicates)


def _word(part: str) -> str:
    return part.replace("__", "::").removesuffix("_")


def _text(arg: tir.Attr) -> str | None:
    return arg.value if isinstance(arg, tir.StringImm) else arg if isinstance(arg, str) else None


def _is_predicate(arg: tir.Attr) -> bool:
    return isinstance(arg, tir.Call) and arg.callee == "ptx.pred"


def _plain(arg: tir.Attr) -> tir.Attr:
    """An operand without what converts its address, or marks it as a predicate."""
    while isinstance(arg, tir.Call) and arg.callee in ("cuda.cvta_generic_to_shared", "ptx.pred"):
        arg = arg.args[0]
    return arg
