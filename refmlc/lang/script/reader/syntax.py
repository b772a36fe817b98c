"""Text to Python's syntax tree, guarded: the text is parsed, never compiled and never executed.

| text                                         | finding |
|----------------------------------------------|---------|
| larger than `LIMIT` bytes                    | RM604   |
| not UTF-8, or with unpaired surrogates       | RM102   |
| with a NUL, or not Python's grammar          | RM101   |
| nested deeper than Python's parser goes      | RM602   |
| an integer of more digits than Python reads  | RM107   |

Python's tree counts columns in bytes of UTF-8; `Spans` gives columns in characters.
"""

import ast
import codecs
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain

from refmlc.diag import RefmlcError, Source, Span, fail
from refmlc.diag.catalogue import BAD_LITERAL, DEPTH_EXHAUSTED, ENCODING, SYNTAX, TEXT_TOO_LARGE
from refmlc.lang.script.reader.pieces import LARGE, DeferredSuite, IrregularText, in_pieces
from refmlc.lang.script.reader.type_parameters import parsed_with

LIMIT = 16 * 2**20
_TOO_DEEP = ("too many nested parentheses", "too many levels of indentation", "too many statically nested blocks")
_TOO_LONG = "integer string conversion"


class Spans:
    """Places in `source` of the nodes of a tree that was parsed from it.

    `first_line` and `indent` shift the places when the tree was parsed from a dedented piece of the source (a live
    function): the piece's first line is line `first_line` of the source, and each line lost `indent` characters.
    """

    __slots__ = ("_is_plain", "_lines", "first_line", "indent", "source")

    def __init__(self, source: Source, *, first_line: int = 1, indent: int = 0) -> None:
        self.source = source
        self.first_line = first_line
        self.indent = indent
        self._lines = source.lines
        self._is_plain = first_line == 1 and indent == 0 and source.text.isascii()  # columns are those of the tree

    def of(self, node: ast.AST) -> Span:
        """The place of `node`, which must be a node that has one (expression, statement, argument, keyword)."""
        if self._is_plain and isinstance(node, (ast.expr, ast.stmt)):
            line, column = node.lineno, node.col_offset
            return Span(self.source, line, column, node.end_lineno or line, node.end_col_offset or column)
        line = getattr(node, "lineno", 1)
        end_line: int = getattr(node, "end_lineno", None) or line
        column = getattr(node, "col_offset", 0)
        end_column: int = getattr(node, "end_col_offset", None) or column
        return Span(self.source, *self._place(line, column), *self._place(end_line, end_column))

    def text_of(self, node: ast.stmt) -> str:
        """The lines of a statement, its decorators included."""
        first = min((part.lineno for part in getattr(node, "decorator_list", ())), default=node.lineno)
        shift = self.first_line - 1
        return "\n".join(self._lines[first - 1 + shift : (node.end_lineno or node.lineno) + shift])

    def whole(self) -> Span:
        """The first line of the source."""
        return Span(self.source, 1, 0, 1, len(self.source.line(1)))

    def _place(self, line: int, column: int) -> tuple[int, int]:
        line += self.first_line - 1
        text = self._lines[line - 1] if 1 <= line <= len(self._lines) else ""
        if text.isascii():
            return line, column + self.indent
        head = text[: self.indent] if self.indent else ""
        rest = text[self.indent :].encode("utf-8", "surrogatepass")[:column]
        return line, len(head) + len(rest.decode("utf-8", "ignore"))


def any_of(names: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of `names` in a text, for `may_name`."""
    return re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")


def may_name(text: str, names: re.Pattern[str]) -> bool:
    """Whether the tree of `text` may hold a name that `names` finds; False saves the walk.

    A name that is not ASCII may be another one in the tree, so that such a text may name anything.
    """
    return not text.isascii() or names.search(text) is not None


def every_node(tree: ast.AST) -> Iterator[ast.AST]:
    """`tree` and all nodes in it but the contexts of names. Order: parents first, the last child first."""
    stack: list[ast.AST | Iterator[ast.AST]] = [tree]
    while stack:
        node = stack.pop()
        if not isinstance(node, ast.AST):
            child = next(node, None)
            if child is None:
                continue
            stack.append(node)
            node = child
        yield node
        for name in node._fields:
            if name == "ctx":
                continue
            part: object = getattr(node, name, None)
            if isinstance(part, DeferredSuite):
                stack.append(reversed(part))
            elif isinstance(part, list):
                stack.extend([item for item in part if isinstance(item, ast.AST)])
            elif isinstance(part, ast.AST):
                stack.append(part)


def every_statement(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of `body` and those inside of them. Order: of the text."""
    stack = [iter(body)]
    while stack:
        stmt = next(stack[-1], None)
        if stmt is None:
            stack.pop()
            continue
        yield stmt
        if hasattr(stmt, "body"):
            stack.append(chain(stmt.body, getattr(stmt, "orelse", ())))


def decoded(data: bytes, name: str) -> str:
    """The text that `data` encodes, without a byte order mark. Fails with RM102, RM604."""
    if len(data) > LIMIT:
        raise _too_large(len(data))
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as bad:
        before = data[: bad.start].decode("utf-8", "ignore")
        shown = Source(name, data.decode("utf-8", "replace"))
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1)
        message = f"byte {bad.start} ({data[bad.start]:#04x}) is not UTF-8"
        raise fail(ENCODING, message, Span(shown, line, column, line, column + 1)) from None


def parsed(source: Source) -> ast.Module:
    """The syntax tree of `source`, in pieces where it is large. Fails with RM101, RM102, RM107, RM602, RM604."""
    _check_characters(source)
    try:
        return _tree(source)
    except SyntaxError as bad:
        raise _syntax(source, bad) from None
    except (RecursionError, MemoryError):
        raise fail(DEPTH_EXHAUSTED, "the text nests deeper than Python's parser goes", _start(source)) from None
    except ValueError as bad:
        raise fail(SYNTAX, str(bad), _start(source)) from None


def _tree(source: Source) -> ast.Module:
    if len(source.text) >= LARGE:
        with suppress(IrregularText, SyntaxError, ValueError, RecursionError, MemoryError):
            return in_pieces(source.lines, _parse)
    return _parse(source.text)


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and the like are Python's business, not a finding
        return parsed_with(ast.parse, text)


def _check_characters(source: Source) -> None:
    text = source.text
    if len(text) > LIMIT:
        raise _too_large(len(text))
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as bad:
        place = _at(source, text, bad.start)
        raise fail(ENCODING, f"character {bad.start} is an unpaired surrogate", place) from None
    if size > LIMIT:
        raise _too_large(size)
    nul = text.find("\0")
    if nul >= 0:
        raise fail(SYNTAX, f"character {nul} is NUL", _at(source, text, nul))


def _too_large(size: int) -> RefmlcError:
    return fail(TEXT_TOO_LARGE, f"the text has {size} bytes; the reader's limit is {LIMIT}")


def _start(source: Source) -> Span:
    return Span(source, 1, 0, 1, len(source.line(1)))


def _at(source: Source, text: str, index: int) -> Span:
    line, column = text.count("\n", 0, index) + 1, index - (text.rfind("\n", 0, index) + 1)
    return Span(source, line, column, line, column + 1)


def _syntax(source: Source, bad: SyntaxError) -> RefmlcError:
    message = bad.msg or "invalid syntax"
    line = max(1, min(bad.lineno or 1, len(source.lines)))
    column = max(0, (bad.offset or 1) - 1)
    end_line, end_column = bad.end_lineno or line, (bad.end_offset or 0) - 1
    if (end_line, end_column) <= (line, column):
        end_line, end_column = line, column + 1
    span = Span(source, line, column, end_line, end_column)
    if _TOO_LONG in message:
        return fail(BAD_LITERAL, "an integer literal has more digits than Python reads (4300)", span)
    if any(deep in message for deep in _TOO_DEEP):
        return fail(DEPTH_EXHAUSTED, message, span)
    return fail(SYNTAX, message, span)
