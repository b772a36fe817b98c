"""What no case can see of a module, whatever the suite: places of its text that mutants are not made in.

| place                                                  | why                                               |
|--------------------------------------------------------|---------------------------------------------------|
| in an f-string, and a text with an operator in it       | words of a message: cases have codes and places    |
| `examples`, `laws`, `meaning` of a row                  | tests and the table of operators read them         |
| `accuracy` of a row; what follows the function of `_row` | how exact others must be: cases have the interval  |
"""

import ast

TOLD = ("examples", "laws", "meaning", "accuracy")
FIRST = 3  # of `_row`: name, meaning, function, then the bound, laws and examples


def unseen(text):
    """Spans, each two places of line and column."""
    spans = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.JoinedStr() | ast.Constant(value=str()):
                spans.append(_span(node, node))
            case ast.keyword(arg=name, value=value) if name in TOLD:
                spans.append(_span(value, value))
            case ast.Call(func=ast.Name(id="_row"), args=[*args]) if len(args) > FIRST:
                spans.append(_span(args[FIRST], args[-1]))
            case _:
                continue
    return spans


def _span(first, last):
    return (first.lineno, first.col_offset), (last.end_lineno, last.end_col_offset)
