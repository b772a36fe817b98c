"""What no case can see of a module, whatever the suite: places of its text that mutants are not made in.

| place                                                  | why                                               |
|--------------------------------------------------------|---------------------------------------------------|
| in an f-string, and a text with an operator in it       | words of a message: cases have codes and places    |
| `examples`, `laws`, `meaning` of a row                  | tests and the table of operators read them         |
| `undefined` of a row                                    | the generator and detectors ask it; values raise   |
| a function that only `undefined` names                  | the same                                          |
| `accuracy` of a row; what follows the function of `_row` | how exact others must be: cases have the interval  |
"""

import ast

TOLD = ("examples", "laws", "meaning", "accuracy", "undefined")
FIRST = 3  # of `_row`: name, meaning, function, then the bound, laws and examples


def unseen(text):
    """Spans, each two places of line and column."""
    tree = ast.parse(text)
    spans = [_span(function, function) for function in _predicates(tree)]
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr() | ast.Constant(value=str()):
                spans.append(_span(node, node))
            case ast.keyword(arg=name, value=value) if name in TOLD:
                spans.append(_span(value, value))
            case ast.Call(func=ast.Name(id="UndefinedWhen")):
                spans.append(_span(node, node))
            case ast.Call(func=ast.Name(id="_row"), args=[*args]) if len(args) > FIRST:
                spans.append(_span(args[FIRST], args[-1]))
            case _:
                continue
    return spans


def _predicates(tree):
    """Functions of the module that nothing but `undefined` of rows names."""
    told = [node for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "undefined"]
    inside = {id(name) for node in told for name in ast.walk(node) if isinstance(name, ast.Name)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    asked = {name.id for name in names if id(name) in inside} - {name.id for name in names if id(name) not in inside}
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in asked]


def _span(first, last):
    return (first.lineno, first.col_offset), (last.end_lineno, last.end_col_offset)
