"""The tree of a large text in pieces: a function is parsed when it is read, and its tree is freed afterwards.

Python's tree takes two hundred times the memory of its text. Of a text of at least `LARGE` characters it is made so:

| part of the text                                 | in the tree                                            |
|--------------------------------------------------|--------------------------------------------------------|
| a decorated function of the text or of a class   | a `DeferredFunction`: its name, decorators and result  |
| statements of a function of more than a piece    | a `DeferredSuite`: parsed each time it is iterated     |
| the body of a `with`, `for`, `while`, `if` in it | the same, where the body is more than a piece          |
| anything else                                    | the node                                               |

A piece is a run of lines with whole statements of one block. It is parsed alone, at its indentation, behind the headers
of the blocks around it and as many blank lines as put it in its place: lines, columns and nodes are those of the whole.
The cut is right if every piece parses, and gives statements of its block alone, at its indentation: Python's tokenizer
reads from left to right, and at the end of a text that it accepts no bracket, string or continuation is open, so that
what follows means the same alone. `in_pieces` parses every piece once; where one does not parse, the caller parses the
text as a whole, and its problem is reported as of any other text.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import SupportsIndex, TypeAlias, TypeGuard, overload

LARGE = 1 << 17
PIECE = 1 << 14
"""The size from which a text is parsed in pieces, and the size of a piece. Units: characters."""
_BLANK = 1 << 24
"""Blank lines before all pieces together, at most: the parser reads them too."""

Parse: TypeAlias = Callable[[str], ast.Module]
_HEADER = re.compile(r"[ \t]*(?:class|def|with|for|while|if)\b")
_CONTINUED = re.compile(r"[ \t]*(?:else|elif|except|finally)\b")
_DEFINITIONS = frozenset(("prim_func", "function"))
_NO_BEGINNING = ("", " ", "\t", "\f", "#", ")", "]", "}")


class IrregularText(Exception):
    """The text has no cut into pieces."""


def in_pieces(lines: Sequence[str], parse: Parse) -> ast.Module:
    """The tree of the text of `lines`, in pieces. Fails: IrregularText, and as `parse`."""
    pieces = _Pieces(lines, parse)
    return ast.Module(pieces.nodes(_Block(0, len(lines)))[0], [])


def loaded(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function itself, for who reads all of it."""
    return node.load() if isinstance(node, DeferredFunction) else node


class DeferredFunction(ast.FunctionDef):
    """A function whose parameters and body are parsed on first use."""

    def __init__(self, node: ast.FunctionDef, piece: "_Piece", number: int) -> None:
        """`node`, which is statement `number` of `piece`."""
        ast.copy_location(self, node)
        self.name, self.decorator_list, self.returns = node.name, node.decorator_list, node.returns
        self._piece = piece
        self._number = number

    def load(self) -> ast.FunctionDef:
        """The whole node."""
        node = self._piece.statements()[self._number]
        if not isinstance(node, ast.FunctionDef):
            raise TypeError(node)
        return node

    def __getattr__(self, name: str) -> object:
        """`args` and `body`."""
        if name in ("args", "body"):
            return getattr(self.load(), name)
        raise AttributeError(name)


class DeferredSuite(list[ast.stmt]):
    """The statements of a block, which are parsed piece by piece each time they are iterated.

    It is a list because the walks of `ast` look for lists; nothing but reading it has a meaning.
    """

    def __init__(self, parts: "Sequence[_Piece]", length: int) -> None:
        """The statements of `parts`, `length` of them."""
        super().__init__()
        self._parts = parts
        self._length = length

    def __len__(self) -> int:
        """The number of statements."""
        return self._length

    def __iter__(self) -> Iterator[ast.stmt]:
        """The statements in order."""
        for part in self._parts:
            yield from part.parsed()

    def __reversed__(self) -> Iterator[ast.stmt]:
        """The statements, the last first."""
        for part in reversed(self._parts):
            yield from reversed(part.parsed())

    def __contains__(self, item: object) -> bool:
        """Whether `item` is a statement of it: never, since each time there are others."""
        return False

    @overload
    def __getitem__(self, index: SupportsIndex) -> ast.stmt: ...

    @overload
    def __getitem__(self, index: slice) -> list[ast.stmt]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> ast.stmt | list[ast.stmt]:
        """A statement, or several."""
        if index == 0 and self._parts:
            return self._parts[0].parsed()[0]
        if index == -1 and self._parts:
            return self._parts[-1].parsed()[-1]
        return list(self)[index]


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines `first` to `end` (exclusive, from 0) with the indentation `indent`.

    `headers` are the indentations of the blocks around it; `is_inside`: it is in a function of TVMScript.
    """

    first: int
    end: int
    indent: str = ""
    headers: tuple[str, ...] = ()
    is_inside: bool = False


@dataclass(slots=True)
class _Piece:
    """Lines of a block that are parsed together, and `more` behind them.

    `suite` is the body of the one statement that they are; None where they are statements. `place`: where the block
    ends whose last lines they are, which a `;` behind the last statement is a part of.
    """

    pieces: "_Pieces"
    first: int
    end: int
    indent: str
    headers: tuple[str, ...]
    more: str = ""
    suite: DeferredSuite | None = None
    place: tuple[int, int] = (0, 0)

    def statements(self) -> list[ast.stmt]:
        """The statements; those of the latest requests are kept."""
        return self.pieces.statements(self)

    def parsed(self) -> list[ast.stmt]:
        """The statements, parsed now."""
        before = "\n" * (self.first - len(self.headers)) + "".join(f"{header}if 1:\n" for header in self.headers)
        text = "\n".join(self.pieces.lines[self.first : self.end])
        if self.end < len(self.pieces.lines):
            text += "\n"
        body = self.pieces.parse(f"{before}{text}{self.more}").body
        for _ in self.headers:
            match body:
                case [ast.If(body=inner, orelse=[]) as block]:
                    if self.suite is None:
                        self.place = _end_of(block)
                    body = inner
                case _:
                    raise IrregularText
        if body and body[0].col_offset != len(self.indent):  # behind a lone backslash: of a block in the one before
            raise IrregularText
        if self.suite is not None:
            (node,) = body
            node.body = self.suite  # type: ignore[attr-defined]
            node.end_lineno, node.end_col_offset = self.place
        return body


class _Pieces:
    """The pieces of one text."""

    def __init__(self, lines: Sequence[str], parse: Parse) -> None:
        self.lines = lines
        self.parse = parse
        self.size = PIECE
        while self.total(0, len(lines)) // self.size * len(lines) > _BLANK:
            self.size *= 2
        self._kept: tuple[_Piece, list[ast.stmt]] | None = None

    def total(self, first: int, end: int) -> int:
        """The number of characters of lines."""
        return sum(map(len, self.lines[first:end])) + end - first

    def statements(self, piece: _Piece) -> list[ast.stmt]:
        if self._kept is None or self._kept[0] is not piece:
            self._kept = None  # frees it before the next is made
            self._kept = piece, piece.parsed()
        return self._kept[1]

    # ------------------------------------------------------------------------------------------------- the tree

    def nodes(self, block: _Block) -> tuple[list[ast.stmt], tuple[int, int]]:
        """The statements of the text or a class, and its end."""
        nodes: list[ast.stmt] = []
        place = (0, 0)
        for piece, statements in self.parts(block):
            for number, node in enumerate(statements):
                nodes.append(DeferredFunction(node, piece, number) if _is_definition(node) else node)
            place = piece.place
        return nodes, place

    def parts(self, block: _Block) -> Iterator[tuple[_Piece, list[ast.stmt]]]:
        """The pieces of a block, each with its statements."""
        start, size = block.first, 0
        for first, end in self.units(block):
            if size == 0:
                start = first
            own = self.total(first, end)
            if own > 2 * self.size:
                if size:
                    yield self.run(block, start, first)
                yield self.compound(block, first, end) or self.run(block, first, end)
                size = 0
                continue
            size += own
            if size >= self.size:
                yield self.run(block, start, end)
                size = 0
        if size:
            yield self.run(block, start, block.end)

    def run(self, block: _Block, first: int, end: int) -> tuple[_Piece, list[ast.stmt]]:
        """Lines that are statements of a block."""
        piece = _Piece(self, first, end, block.indent, block.headers)
        return piece, piece.parsed()

    def compound(self, block: _Block, first: int, end: int) -> tuple[_Piece, list[ast.stmt]] | None:
        """A large statement with a body; None where it is of another form."""
        inner = self.body(block, first, end)
        if inner is None:
            return None
        more = f"{inner.indent}pass\n" * 2  # of which a header that is continued takes no body
        piece = _Piece(self, first, inner.first, block.indent, block.headers, more)
        try:
            header = piece.parsed()
        except SyntaxError:  # of several lines, perhaps
            return None
        match header:
            case [ast.ClassDef(body=[_, _]) as node] if not block.headers:
                node.body, piece.place = self.nodes(inner)
            case [
                ast.FunctionDef(body=[_, _])
                | ast.With(body=[_, _])
                | ast.For(body=[_, _])
                | ast.While(body=[_, _])
                | ast.If(body=[_, _]) as node
            ] if block.is_inside or _is_definition(node):
                inner = replace(inner, is_inside=True)
                parts: list[_Piece] = []
                length = 0
                for part, statements in self.parts(inner):
                    parts.append(part)
                    length += len(statements)
                    piece.place = part.place
                piece.suite = node.body = DeferredSuite(parts, length)
            case _:
                return None
        node.end_lineno, node.end_col_offset = piece.place
        return piece, [node]

    # ------------------------------------------------------------------------------------------------- the lines

    def units(self, block: _Block) -> Iterator[tuple[int, int]]:
        """Lines that look like one statement, with its decorators and what follows it up to the next."""
        start, begun, decorated, quoted = block.first, False, False, False
        for number in range(block.first, block.end):
            line = self.lines[number]
            if not quoted and self.begins(line, block.indent) and not _CONTINUED.match(line):
                if begun and not decorated:
                    yield start, number
                    start = number
                begun, decorated = True, line.startswith("@", len(block.indent))
            quoted ^= (line.count('"""') + line.count("'''")) % 2 == 1
        yield start, block.end

    def body(self, block: _Block, first: int, end: int) -> _Block | None:
        """The body of a statement that is a header in a line and a body; None for one of another form."""
        outer = [number for number in range(first, end) if self.begins(self.lines[number], block.indent)]
        if not outer or not _HEADER.match(self.lines[outer[-1]]):
            return None
        header = outer[-1]
        for number in range(header + 1, end):
            text = self.lines[number].lstrip(" \t")
            if text and text[0] not in "#\f":
                indent = self.lines[number][: -len(text)]
                deeper = indent != block.indent and indent.startswith(block.indent)
                return _Block(number, end, indent, (*block.headers, block.indent)) if deeper else None
        return None

    @staticmethod
    def begins(line: str, indent: str) -> bool:
        """Whether a line looks like the beginning of a statement at this indentation."""
        return line.startswith(indent) and line[len(indent) : len(indent) + 1] not in _NO_BEGINNING


def _end_of(node: ast.stmt) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


def _is_definition(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    """Whether a statement is a function with a decorator as TVMScript has them."""
    if not isinstance(node, ast.FunctionDef):
        return False
    parts = [part.func if isinstance(part, ast.Call) else part for part in node.decorator_list]
    return any(isinstance(part, ast.Attribute) and part.attr in _DEFINITIONS for part in parts)
