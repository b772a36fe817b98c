"""Checks of checks prove first that they can fail: what is certainly wrong is noticed, what is certainly right is not.

A judge of mutants that never loads the wrong text counts survivors of nothing, and one whose tests do not run kills
everything. Whoever counts faults calls `prove` before the first; it ends the program where the judge cannot judge.
`tests/meta/test_meta_biting.py` has the list of those that do.
"""

import ast


def prove(judge: str, *, notices: bool, passes: bool, why: str = "") -> None:
    """End the program unless the judge `notices` what is certainly wrong, and `passes` what is certainly right."""
    if not notices:
        raise SystemExit(f"{judge} cannot fail: what is certainly wrong passes. {why}".strip())
    if not passes:
        raise SystemExit(f"{judge} cannot pass: what is certainly right fails. {why}".strip())


def raising(text: str) -> str:
    """A module each function of which raises. What follows is not dead: closures have the same names as before."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body.insert(0, ast.parse("if __name__:\n    raise RuntimeError('planted')").body[0])
    return ast.unparse(tree)


def raising_at_loading(text: str) -> str:
    """A module that cannot be loaded."""
    return f"{text}\nraise RuntimeError('planted')\n"


def again(text: str) -> str:
    """The same module whose functions have another code: each has one more constant that nobody reads."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body.insert(0, ast.parse("__unread__ = 'planted'").body[0])
    return ast.unparse(tree)
