"""Integer expressions in proofs and reasons, as short as one writes them."""

from refmlc.lang.ir import tir

INFIX = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "floormod": "%", "shift_left": "<<", "shift_right": ">>"}
COMPARED = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
ATOMS = (tir.Var, tir.IntImm, tir.BufferLoad)


def shown(expr: tir.Expr | int) -> str:
    """`expr` as text: `i * 4 + j`, `A[i]`; what is not arithmetic shows as `…`."""
    match expr:
        case int():
            return str(expr)
        case tir.Var():
            return expr.name
        case tir.IntImm():
            return str(expr.value)
        case tir.BufferLoad():
            return access(expr)
        case tir.Cast():
            return shown(expr.value)
        case tir.Apply(op, (a, b)) if op in INFIX:
            left = shown(a) if _binds(a, op) else f"({shown(a)})"
            return f"{left} {INFIX[op]} {shown(b) if _is_atom(b) else f'({shown(b)})'}"
        case tir.Apply(op, (a, b)) if op in COMPARED:
            return f"{shown(a)} {COMPARED[op]} {shown(b)}"
        case tir.And(a, b):
            return f"{shown(a)} and {shown(b)}"
        case tir.Apply(op, args):
            return f"{op}({', '.join(shown(arg) for arg in args)})"
        case _:
            return "…"


def _binds(expr: tir.Expr, op: str) -> bool:
    """Whether `expr` needs no parentheses as the left operand."""
    match expr:
        case tir.Cast():
            return _binds(expr.value, op)
        case tir.Apply(inner, _) if inner in INFIX:
            return op in ("add", "sub") and inner in ("add", "sub", "mul")
        case _:
            return True


def _is_atom(expr: tir.Expr) -> bool:
    return _is_atom(expr.value) if isinstance(expr, tir.Cast) else isinstance(expr, ATOMS)


def access(node: tir.BufferLoad | tir.BufferStore) -> str:
    """`A[i, j]`."""
    return f"{node.buffer.name}[{', '.join(map(shown, node.indices))}]"
