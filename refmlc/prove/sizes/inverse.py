"""Values of loop variables for which index expressions have given values: a candidate, which z3 is asked about after.

| equation                          | gives                                                            |
|-----------------------------------|------------------------------------------------------------------|
| `a * x + rest = t`                | `x = (t - rest) / a`                                             |
| `a * x + b * y + … = t`, a > b    | the digits of t: `x = t / a`, `y = t % a / b`, …                 |
| `X / c = q` and `X % c = r`       | `X = q * c + r`, an equation again                               |
| `X / c = q` alone                 | `X = q * c`                                                      |

What remains free has its first value. Nothing here is trusted: an inverse that is wrong proves nothing.
"""

from collections.abc import Mapping, Sequence

import z3

Expr = "z3.ArithRef"
Linear = tuple[dict[int, tuple["z3.ArithRef", "z3.ArithRef"]], "z3.ArithRef"]
"""Atoms with their factors, by the atom's number, and the rest."""
MOST_EQUATIONS = 64


class Inverse:
    """Solves equations for unknown constants."""

    def __init__(self, unknown: Sequence["z3.ArithRef"]) -> None:
        self.values: dict[int, z3.ArithRef] = {}
        self._unknown = {each.get_id(): each for each in unknown}
        self._holds: dict[int, bool] = {}
        self._kept: list[z3.ExprRef] = []
        self._parts: dict[tuple[int, int], dict[int, tuple[z3.ArithRef, z3.ArithRef, z3.ArithRef]]] = {}

    def solve(
        self, equations: Sequence[tuple["z3.ArithRef", "z3.ArithRef"]], free: Mapping[int, "z3.ArithRef"]
    ) -> list[tuple["z3.ExprRef", "z3.ExprRef"]]:
        """Pairs for `z3.substitute`. `free`: the value of what no equation gives, by the constant's number."""
        queue = list(equations)
        for _ in range(MOST_EQUATIONS):
            if not queue:
                queue = self._halves()
                if not queue:
                    break
            self._equation(*queue.pop(0), queue)
        pairs: list[tuple[z3.ExprRef, z3.ExprRef]] = []
        for number, constant in self._unknown.items():
            value = self.values.get(number, free.get(number))
            if value is not None:
                pairs.append((constant, value))
        return pairs

    def _equation(
        self,
        side: "z3.ArithRef",
        target: "z3.ArithRef",
        queue: list[tuple["z3.ArithRef", "z3.ArithRef"]],
    ) -> None:
        atoms, rest = self._linear(side)
        left = z3.simplify(target - rest)
        unsolved: list[tuple[z3.ArithRef, z3.ArithRef]] = []
        for number, (atom, factor) in atoms.items():
            if number in self.values:
                left = z3.simplify(left - factor * self.values[number])
            else:
                unsolved.append((atom, factor))
        unsolved.sort(key=lambda pair: _size(pair[1]), reverse=True)
        for at, (atom, factor) in enumerate(unsolved):
            is_last = at == len(unsolved) - 1
            if _is_number(factor, 1):
                value, left = left, z3.IntVal(0)
            elif _is_number(factor, -1) and is_last:
                value = -left
            else:
                value, left = left / factor, left % factor
            self._assign(atom, z3.simplify(value), queue)

    def _assign(
        self,
        atom: "z3.ArithRef",
        value: "z3.ArithRef",
        queue: list[tuple["z3.ArithRef", "z3.ArithRef"]],
    ) -> None:
        self.values[atom.get_id()] = value
        kind = atom.decl().kind()
        if kind in (z3.Z3_OP_IDIV, z3.Z3_OP_MOD):
            whole, by = atom.children()
            halves = self._parts.setdefault((whole.get_id(), by.get_id()), {})
            halves[kind] = (whole, by, value)
            if len(halves) == 2:
                quotient, remainder = halves[z3.Z3_OP_IDIV][2], halves[z3.Z3_OP_MOD][2]
                queue.append((whole, quotient * by + remainder))
                halves.clear()

    def _halves(self) -> list[tuple["z3.ArithRef", "z3.ArithRef"]]:
        """Equations of quotients and remainders that stand alone."""
        equations = []
        for halves in self._parts.values():
            for kind, (whole, by, value) in halves.items():
                equations.append((whole, value * by if kind == z3.Z3_OP_IDIV else value))
            halves.clear()
        return equations

    def _linear(self, node: "z3.ArithRef") -> Linear:
        self._kept.append(node)
        if not self._has_unknown(node):
            return {}, node
        kind, parts = node.decl().kind(), node.children()
        if kind == z3.Z3_OP_ADD:
            total: Linear = ({}, z3.IntVal(0))
            for part in parts:
                total = _sum(total, self._linear(part))
            return total
        if kind == z3.Z3_OP_SUB:
            total = self._linear(parts[0])
            for part in parts[1:]:
                total = _sum(total, _scaled(self._linear(part), z3.IntVal(-1)))
            return total
        if kind == z3.Z3_OP_UMINUS:
            return _scaled(self._linear(parts[0]), z3.IntVal(-1))
        if kind == z3.Z3_OP_MUL:
            moving = [part for part in parts if self._has_unknown(part)]
            if len(moving) == 1:
                factor = z3.IntVal(1)
                for part in parts:
                    factor = factor * part if part is not moving[0] else factor
                return _scaled(self._linear(moving[0]), factor)
        return {node.get_id(): (node, z3.IntVal(1))}, z3.IntVal(0)

    def _has_unknown(self, node: "z3.ExprRef") -> bool:
        number = node.get_id()
        if number not in self._holds:
            self._kept.append(node)
            self._holds[number] = number in self._unknown or any(map(self._has_unknown, node.children()))
        return self._holds[number]


def _sum(a: Linear, b: Linear) -> Linear:
    atoms = dict(a[0])
    for number, (atom, factor) in b[0].items():
        atoms[number] = (atom, z3.simplify(atoms[number][1] + factor) if number in atoms else factor)
    return {number: pair for number, pair in atoms.items() if not _is_number(pair[1], 0)}, a[1] + b[1]


def _scaled(a: Linear, factor: "z3.ArithRef") -> Linear:
    return {number: (atom, z3.simplify(each * factor)) for number, (atom, each) in a[0].items()}, a[1] * factor


def _is_number(value: "z3.ArithRef", number: int) -> bool:
    return bool(z3.is_int_value(value) and value.as_long() == number)


def _size(factor: "z3.ArithRef") -> tuple[int, int]:
    """How large a factor is: products of sizes are larger than sizes, and these than numbers."""
    if z3.is_int_value(factor):
        return 0, abs(factor.as_long())
    if factor.decl().kind() == z3.Z3_OP_MUL:
        numbers = [part.as_long() for part in factor.children() if z3.is_int_value(part)]
        return sum(not z3.is_int_value(part) for part in factor.children()), abs(numbers[0]) if numbers else 1
    return 1, 1
