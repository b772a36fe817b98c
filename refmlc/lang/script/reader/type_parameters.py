"""Variables between the name of a function and its parameters: `def main[n, m: int](…)`.

TVM declares shape variables so where it runs on Python 3.12 or newer. An older Python does not parse them: they are
taken out of the text, spaces stand in their place so that lines and columns stay the same, and the tree has them as an
attribute. Each is a shape variable of its function, int64, as `n = TypeVar("n")` before the module.
"""

import ast
import re
from collections.abc import Callable, Iterator

_HEADER = re.compile(r"^([ \t]*def[ \t]+(\w+))(\[[^\]\n#'\"]*\])(?=[ \t]*\()", re.MULTILINE)
_PARAMETER = re.compile(r"\s*([*]{0,2}[^\W\d]\w*)\s*(?::\s*([\w.]+)\s*)?")
_OWN = "type_parameters"


def parsed_with(parse: Callable[[str], ast.Module], text: str) -> ast.Module:
    """The tree of a text, as `parse` gives it. Fails: SyntaxError."""
    try:
        return parse(text)
    except SyntaxError:
        declared = dict(_declared(text))
        if not declared:
            raise

    def blanked(header: re.Match[str]) -> str:
        known = _line(text, header) in declared
        return header[1] + " " * len(header[3]) if known else header[0]

    tree = parse(_HEADER.sub(blanked, text))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.lineno in declared:
            setattr(node, _OWN, declared[node.lineno])
    return tree


def _declared(text: str) -> Iterator[tuple[int, tuple[tuple[str, str], ...]]]:
    """The line of each header with its variables; those that are no names stay what they are, for Python to refuse."""
    for header in _HEADER.finditer(text):
        parts = [_PARAMETER.fullmatch(part) for part in header[3][1:-1].removesuffix(",").split(",")]
        names = [(part[1], part[2] or "") for part in parts if part is not None]
        if len(names) == len(parts):
            yield _line(text, header), tuple(names)


def _line(text: str, header: re.Match[str]) -> int:
    return text.count("\n", 0, header.start()) + 1


def type_parameters(node: ast.FunctionDef) -> tuple[tuple[str, str], ...]:
    """The variables with their bounds; `""` where there is none. A name with `*` is one of Python's other kinds."""
    own: tuple[tuple[str, str], ...] = getattr(node, _OWN, ())
    return own or tuple(_native(node))


def _native(node: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    for item in getattr(node, "type_params", ()):
        bound = getattr(item, "bound", None)
        plain = type(item).__name__ == "TypeVar"
        yield item.name if plain else f"*{item.name}", "" if bound is None else ast.unparse(bound)
