"""Calls of PTX instructions, taken apart: name, modifiers, operands, predicate, and where a text has them (PTX-001).

A text writes the modifiers in the name, in any order; TVM prints them as texts after the operands, then flags:

| text                                                               | family | modifiers         | operands      |
|--------------------------------------------------------------------|--------|-------------------|---------------|
| `T.ptx.atom.global_.add.u32(d, p, x)`                              | `atom` | global, add, u32  | `d`, `p`, `x` |
| `T.ptx.atom(d, p, x, "", "", "global", "add", "", "u32", "")`      | `atom` | the same          | the same      |
| `T.ptx.cp.async_.ca.shared.global_(p, q, 16, pred=c)`              | `cp`   | async, ca, shared | `p`, `q`, 16  |
| `T.ptx.cp(p, q, 16, c, "async", "ca", "shared", "global", "pred")` | `cp`   | the same          | the same      |

| flag    | says                                                     |
|---------|----------------------------------------------------------|
| `pred`  | the last operand is the predicate of the call            |
| `keep`  | a destination that is not written keeps its value        |
| `p3`    | operand 3 is a predicate: `T.ptx.pred`                   |
| `s0`    | operand 0 is `T.ptx.SINK` and is not among the arguments |

A last text that holds anything but flags is a modifier like the others. Modifiers are spelled as PTX spells them:
`shared::cta`, `sp::2:4`, `global`.
"""

import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass

from refmlc.diag import Span
from refmlc.lang.dtypes import BOOL, INT32, VOID
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node

PREFIX = "ptx."
SINK, PREDICATE, ADDRESS, TO_SHARED = "ptx.SINK", "ptx.pred", "ptx.addr", "cuda.cvta_generic_to_shared"
FLAG = re.compile(r"(pred|keep|[ps][0-9]{1,3})?")
ESCAPED = ("global", "async")
"""Modifiers with an underscore behind them in a name, beside the keywords of Python."""


def operator_of(callee: object) -> str:
    """The name of what a call is of, of an instruction without its modifiers; empty where it calls a function."""
    if not isinstance(callee, str):
        return ""
    return ".".join(callee.split(".", 2)[:2]) if callee.startswith(PREFIX) else callee


def spelled(part: str) -> str:
    """A part of a name in a text, as PTX spells it."""
    text = part.replace("__colon__", "\0").replace("__", "::").replace("\0", ":")
    stem = text.removesuffix("_")
    return stem if keyword.iskeyword(stem) or stem in ESCAPED else text


@dataclass(frozen=True, slots=True)
class PtxCall:
    """A call of an instruction of PTX.

    `operands`: without `T.ptx.pred` around them; `predicates`: the numbers of those that have it. `keeps`: a
    destination that is not written keeps its value. `is_plain`: the call has no predicate, no operand that its text
    leaves out, no keywords and no result, and each operand is an expression.
    """

    call: tir.Call
    family: str
    modifiers: tuple[str, ...]
    operands: tuple[tir.Attr, ...]
    predicate: tir.Attr = None
    predicates: frozenset[int] = frozenset()
    keeps: bool = False
    is_plain: bool = True

    @classmethod
    def of(cls, node: Node) -> "PtxCall | None":
        """The call of an instruction that a node is; None: another node."""
        if not isinstance(node, tir.Call) or not isinstance(node.callee, str) or not node.callee.startswith(PREFIX):
            return None
        family, *written = map(spelled, node.callee.removeprefix(PREFIX).split("."))
        texts = [text for arg in node.args if (text := _text(arg)) is not None]
        flags = _flags(texts)
        modifiers = (*written, *filter(None, texts[:-1] if flags else texts))
        operands, predicate = [arg for arg in node.args if _text(arg) is None], node.attrs.get("pred")
        if "pred" in flags and operands:
            predicate = operands.pop()
        for place in _numbers(flags, "s"):
            operands.insert(place, tir.Call(SINK, (), VOID, span=node.span))
        marked = [place for place, operand in enumerate(operands) if _is_marked(operand)]
        return cls(
            node,
            family,
            modifiers,
            tuple(map(_unmarked, operands)),
            _literal(predicate),
            frozenset((*marked, *_numbers(flags, "p"))),
            bool(_number(node.attrs.get("preserve_dst"))) or "keep" in flags,
            _is_plain(node, flags),
        )

    def __contains__(self, modifier: str) -> bool:
        """Whether the instruction has a modifier."""
        return modifier in self.modifiers

    def one_of(self, *modifiers: str) -> str:
        """The first of these modifiers that the instruction has; empty: none."""
        return next((modifier for modifier in modifiers if modifier in self.modifiers), "")

    @property
    def words(self) -> tuple[str, ...]:
        """The family and the modifiers."""
        return self.family, *self.modifiers

    @property
    def name(self) -> str:
        """The instruction as PTX spells it."""
        return ".".join(self.words)

    @property
    def span(self) -> Span | None:
        """Where the text has it."""
        return self.call.span

    @property
    def has_sinks(self) -> bool:
        """Whether `T.ptx.SINK` is among the operands: what is written there is dropped."""
        return any(map(is_sink, self.operands))

    @property
    def expressions(self) -> tuple[tir.Expr, ...]:
        """The operands that are expressions: all of them where it is plain."""
        return tuple(operand for operand in self.operands if isinstance(operand, tir.Expr))

    @property
    def unconverted(self) -> tuple[tir.Attr, ...]:
        """The operands, each address as it is before its conversion to one in shared memory."""
        return tuple(map(_unconverted, self.operands))


def is_sink(operand: tir.Attr) -> bool:
    """Whether an operand is `T.ptx.SINK`."""
    return isinstance(operand, tir.Call) and operand.callee == SINK


def _text(arg: tir.Attr) -> str | None:
    return arg.value if isinstance(arg, tir.StringImm) else arg if isinstance(arg, str) else None


def _flags(texts: Sequence[str]) -> Sequence[str]:
    """The flags that the last text holds, an empty one where it is empty; none: there is no such text."""
    flags = texts[-1].split(",") if texts else []
    return flags if all(map(FLAG.fullmatch, flags)) else []


def _number(arg: tir.Attr) -> tir.Attr:
    return arg.value if isinstance(arg, tir.IntImm) else arg


def _numbers(flags: Sequence[str], letter: str) -> list[int]:
    """The numbers of operands of which flags say something."""
    return sorted(int(flag[1:]) for flag in flags if flag[:1] == letter and flag != "pred")


def _is_marked(operand: tir.Attr) -> bool:
    return isinstance(operand, tir.Call) and operand.callee == PREDICATE


def _unmarked(operand: tir.Attr) -> tir.Attr:
    """An operand without `T.ptx.pred` around it."""
    while isinstance(operand, tir.Call) and operand.callee == PREDICATE:
        operand = _literal(operand.args[0])
    return operand


def _literal(value: tir.Attr) -> tir.Attr:
    """A number as an expression."""
    if isinstance(value, bool | int):
        return tir.IntImm(BOOL if isinstance(value, bool) else INT32, int(value))
    return value


def _unconverted(operand: tir.Attr) -> tir.Attr:
    while isinstance(operand, tir.Call) and operand.callee == TO_SHARED:
        operand = operand.args[0]
    return operand


def _is_plain(call: tir.Call, flags: Sequence[str]) -> bool:
    texts = [_text(arg) for arg in call.args]
    count = next((place for place, text in enumerate(texts) if text is not None), len(texts))
    return (
        not call.attrs
        and call.dtype.kind == "void"
        and not any(flag in ("pred", "keep") or flag[:1] == "s" for flag in flags)
        and None not in texts[count:]
        and not (count < len(texts) and call.callee != operator_of(call.callee))
        and all(isinstance(_unmarked(arg), tir.Expr) for arg in call.args[:count])
    )
