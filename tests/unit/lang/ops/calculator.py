"""Ways to call an operator that the tests of this folder share."""

from refmlc.lang.dtypes import SCALARS, dtype
from refmlc.lang.ops.contract import UndefinedValue
from refmlc.lang.ops.scalar import SCALAR_OPS

UNDEFINED = "undefined"


def function(name, element, *rest, declared=None):
    """The value function of `name` on operands of `element` (further ones of `rest`)."""
    contract = SCALAR_OPS[name].contract
    first = dtype(element)
    operands = (first, *(dtype(other) for other in rest)) if rest else (first,) * contract.arity
    assert contract.accepts_operands(operands), (name, element)
    return SCALAR_OPS[name].value(operands, contract.result_dtype(operands, declared and SCALARS[declared]))


def outcome(call, *operands):
    """The value, or `(UNDEFINED, code, value to go on with)`."""
    try:
        return call(*operands)
    except UndefinedValue as undefined:
        return (UNDEFINED, undefined.code.id, undefined.wrapped)
