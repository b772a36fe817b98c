"""The budget of constants: how much a text may compute while it is read.

| work                                               | units                               |
|----------------------------------------------------|-------------------------------------|
| an item of a comprehension                         | 16, and the size of its value       |
| a call of a function of the text                   | 64                                  |
| an expansion of a macro                            | 64, and 16 for each of its statements |
| a name that stands for more than `SMALL` items     | the number of items                 |
| a builtin function that takes items                | the number of items                 |
| an expression that stands for a name               | its nodes, each as often as it is used |

The size of a value is the number of its items, of their items and so on, and of characters. One operator gives at most
`ITEMS` items and `BITS` bits (`operators`). Fails: RM606 when `UNITS` are used up.
"""

from refmlc.diag import RefmlcError, Span, fail
from refmlc.diag.catalogue import CONSTANTS_EXHAUSTED
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import tree_size
from refmlc.lang.script.reader.values import Meta

UNITS = 1 << 20
ITEMS = 1 << 16
SMALL = 64
ITEM, CALL, STATEMENT = 16, 64, 16


class Budget:
    """The units that are left to one text."""

    __slots__ = ("left",)

    def __init__(self, units: int = UNITS) -> None:
        self.left = units

    def charge(self, units: int, span: Span) -> None:
        """Use `units`. Fails with RM606."""
        if units > self.left:
            raise exhausted("the constants of the text take more work than reading allows", span)
        self.left -= units

    def charge_value(self, value: Meta, span: Span) -> None:
        """Use the size of `value`, when it is not small."""
        size = size_of(value, self.left)
        if size > SMALL:
            self.charge(size, span)

    def charge_tree(self, node: Node, span: Span) -> None:
        """Use the size of the text of `node`, which names that stand for expressions may double with each use."""
        size = tree_size(node)
        if size > SMALL:
            self.charge(size, span)


def size_of(value: Meta, most: int = ITEMS) -> int:
    """The number of items and characters in `value`; counting ends beyond `most`."""
    total = 0
    stack = [value]
    while stack and total <= most:
        part = stack.pop()
        if isinstance(part, str):
            total += len(part) // SMALL + 1
        elif isinstance(part, (tuple, list)):
            total += len(part) + 1
            stack.extend(part if len(part) <= most else ())
        elif isinstance(part, dict):
            total += 2 * len(part) + 1
            stack.extend(part.values())
        else:
            total += 1
    return total


def exhausted(message: str, span: Span) -> RefmlcError:
    """The finding RM606."""
    return fail(CONSTANTS_EXHAUSTED, message, span)
