"""A call of `T.ptx` taken apart: TVM prints the modifiers after the operands, a person writes them in the name.

| text                                                       | family | modifiers        | operands     |
|------------------------------------------------------------|--------|------------------|--------------|
| `T.ptx.atom.global_.add.u32(d, p, x)`                      | `atom` | global, add, u32 | `d`, `p`, `x`|
| `T.ptx.atom(d, p, x, "", "", "global", "add", "", "u32", "")` | `atom` | the same      | the same     |

Modifiers are spelled as PTX spells them, `::` as `__` and without an underscore at the end.
"""

from dataclasses import dataclass

from refmlc.lang.ir import tir


@dataclass(frozen=True, slots=True)
class InstructionCall:
    """An instruction of PTX. `plain`: it has no predicate, no operand that is left out, and no keywords."""

    family: str
    modifiers: tuple[str, ...]
    operands: tuple[tir.Expr, ...]
    plain: bool

    def __contains__(self, modifier: str) -> bool:
        """Whether the instruction has a modifier."""
        return modifier in self.modifiers

    def one_of(self, *modifiers: str) -> str:
        """The first of these modifiers that the instruction has; empty: none."""
        return next((modifier for modifier in modifiers if modifier in self.modifiers), "")


def instruction(call: tir.Call) -> InstructionCall | None:
    """The instruction that a call is; None: it is none."""
    if not isinstance(call.callee, str) or not call.callee.startswith("ptx."):
        return None
    family, *modifiers = call.callee.split(".")[1:]
    texts = [_text(arg) for arg in call.args]
    count = next((place for place, text in enumerate(texts) if text is not None), len(texts))
    printed = [text or "" for text in texts[count:]]
    operands = tuple(_tagged(arg) for arg in call.args[:count] if isinstance(arg, tir.Expr))
    plain = not call.attrs and len(operands) == count and None not in texts[count:]
    if printed and not modifiers:
        *modifiers, marks = printed
        plain = plain and not set(marks.split(",")) & {"pred", "keep"} and "s" not in marks
    elif printed:
        plain = False
    return InstructionCall(family, tuple(_spelled(word) for word in modifiers if word), operands, plain)


def _tagged(arg: tir.Expr) -> tir.Expr:
    """An operand without `T.ptx.pred` around it."""
    if isinstance(arg, tir.Call) and arg.callee == "ptx.pred" and isinstance(arg.args[0], tir.Expr):
        return arg.args[0]
    return arg


def _text(arg: tir.Attr) -> str | None:
    return arg.value if isinstance(arg, tir.StringImm) else arg if isinstance(arg, str) else None


def _spelled(word: str) -> str:
    return word.replace("::", "__").rstrip("_")
