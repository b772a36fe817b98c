"""The contracts of a function of a module: of a TensorIR function itself; of a graph, those of what it calls.

| in a graph                                        | contracts                                                   |
|---------------------------------------------------|-------------------------------------------------------------|
| an operator that asks for more than a dtype       | its row (`Operator.domains`), in names of the parameters    |
| an operator that looks up elements                | inferred from the TensorIR function that it means           |
| `R.call_tir` of a function                        | inferred from it                                            |

Contracts speak of values that are parameters of the graph as they are, not of what it computes.
"""

from collections.abc import Iterator, Mapping

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.ir.visit import walk
from refmlc.lang.library import OPERATORS
from refmlc.oracle.contracts.contract import ASSERTED, INFERRED, OPERATOR, ArgumentContract, Contracts
from refmlc.oracle.contracts.infer import inferred
from refmlc.oracle.contracts.language import (
    Chain,
    Combination,
    ContractClause,
    Every,
    Numeral,
    Property,
    Quantity,
    Some,
    ValueOf,
    Within,
    references,
)
from refmlc.rewrite.transform import legalize_ops

DOMAINS = {"ascending", "unit"}
Names = Mapping[str, Quantity]


def contracts_of(module: IRModule, func: str) -> Contracts:
    """The contracts that the program itself asks for."""
    function = module.functions[func]
    if isinstance(function, tir.PrimFunc):
        inference = inferred(function)
        rows = tuple(
            ArgumentContract((row.clause,), ASSERTED if row.asserted else INFERRED, row.place)
            for row in inference.clauses
        )
        return Contracts(rows, inference.unexpressed, inference.accesses)
    if isinstance(function, relax.Function):
        return _of_graph(module, func, function)
    return Contracts()


def _of_graph(module: IRModule, func: str, function: relax.Function) -> Contracts:
    rows = dict.fromkeys(_of_operators(function))
    try:
        lowered = legalize_ops(module)
    except RefmlcError:
        lowered = module
    after = lowered.functions[func]
    accesses = 0
    aliases = _aliases(function)
    if isinstance(after, relax.Function):
        aliases = {**aliases, **_aliases(after)}
        for call in walk(after):
            callee = _callee(call, lowered)
            if callee is None or not isinstance(call, relax.Call):
                continue
            inner = inferred(callee)
            accesses += inner.accesses
            names = _names(call, callee, aliases)
            for row in inner.clauses:
                clause = _renamed(row.clause, names)
                if clause is not None:
                    place = call.span or row.place
                    rows.setdefault(ArgumentContract((clause,), ASSERTED if row.asserted else INFERRED, place))
    return Contracts(tuple(rows), (), accesses)


def _of_operators(function: relax.Function) -> Iterator[ArgumentContract]:
    """What the rows of operators ask of parameters that they are given."""
    aliases = _aliases(function)
    for node in walk(function):
        if not isinstance(node, relax.Call) or not isinstance(node.op, relax.Op) or node.op.name not in OPERATORS:
            continue
        operator = OPERATORS[node.op.name]
        for parameter, arg in zip(operator.arguments, node.args, strict=False):
            domain = operator.domains.get(parameter)
            for part in arg.fields if isinstance(arg, relax.Tuple) else (arg,):
                if domain in DOMAINS and isinstance(part, relax.Var) and part in aliases:
                    value = ValueOf(aliases[part])
                    clause = (
                        Property(value, "ascending")
                        if domain == "ascending"
                        else Within(value, Numeral(0), Numeral(1), (True, False))
                    )
                    yield ArgumentContract((clause,), OPERATOR, node.span, f"R.{operator.name}")


def _aliases(function: relax.Function) -> dict[relax.Var, str]:
    """The parameter that a variable is another name of."""
    names: dict[relax.Var, str] = {param: param.name for param in function.params}
    for node in walk(function):
        match node:
            case (
                relax.VarBinding(var=var, value=relax.Var() as value)
                | relax.MatchCast(var=var, value=relax.Var() as value)
            ) if value in names:
                names[var] = names[value]
            case _:
                pass
    return names


def _callee(call: object, module: IRModule) -> tir.PrimFunc | None:
    """The TensorIR function of a `call_tir`."""
    match call:
        case relax.Call(op=relax.Op(name="call_tir" | "call_tir_inplace"), args=(tir.GlobalVar(name=name), *_)):
            callee = module.functions.get(name)
            return callee if isinstance(callee, tir.PrimFunc) else None
        case _:
            return None


def _names(call: relax.Call, callee: tir.PrimFunc, aliases: Mapping[relax.Var, str]) -> Names:
    """What the names of the function called are in those of the graph: parameters and sizes."""
    names: dict[str, Quantity] = {}
    fields = call.args[1].fields if len(call.args) > 1 and isinstance(call.args[1], relax.Tuple) else ()
    for param, arg in zip(callee.params, fields, strict=False):
        buffer = callee.buffer_map.get(param)
        if buffer is None or not isinstance(arg, relax.Var):
            continue
        if arg in aliases:
            names[buffer.name] = ValueOf(aliases[arg])
        if isinstance(arg.ty, TensorType) and arg.ty.shape is not None:
            for inner, outer in zip(buffer.shape, arg.ty.shape, strict=False):
                quantity = _quantity(outer)
                if isinstance(inner, tir.Var) and quantity is not None:
                    names[inner.name] = quantity
    return names


def _quantity(expr: tir.Expr) -> Quantity | None:
    match expr:
        case tir.IntImm(value=number):
            return Numeral(int(number))
        case tir.Var(name=name):
            return ValueOf(name)
        case tir.Apply(op=("add" | "sub" | "mul") as op, args=(a, b)):
            left, right = _quantity(a), _quantity(b)
            sign = {"add": "+", "sub": "-", "mul": "*"}[op]
            return None if left is None or right is None else Combination(sign, left, right)
        case _:
            return None


def _renamed(clause: ContractClause, names: Names) -> ContractClause | None:
    """The clause in other names; None where a name has no other."""
    if not all(value.name in names for value in references(clause)):
        return None
    if any(not isinstance(names[value.name], ValueOf) and value.items for value in references(clause)):
        return None
    return _clause(clause, names)


def _clause(clause: ContractClause, names: Names) -> ContractClause:
    match clause:
        case Chain(operands, signs):
            return Chain(tuple(_renamed_quantity(operand, names) for operand in operands), signs)
        case Within(quantity, low, high, closed):
            low, high = _renamed_quantity(low, names), _renamed_quantity(high, names)
            return Within(_renamed_quantity(quantity, names), low, high, closed)
        case Property(subject, word):
            other = _renamed_quantity(subject, names)
            return Property(other, word) if isinstance(other, ValueOf) else clause
        case Every(parts):
            return Every(tuple(_clause(part, names) for part in parts))
        case Some(options):
            return Some(tuple(_clause(option, names) for option in options))


def _renamed_quantity(quantity: Quantity, names: Names) -> Quantity:
    match quantity:
        case ValueOf(name, items):
            other = names[name]
            return ValueOf(other.name, items) if isinstance(other, ValueOf) else other
        case Combination(op, left, right):
            return Combination(op, _renamed_quantity(left, names), _renamed_quantity(right, names))
        case _:
            return quantity
