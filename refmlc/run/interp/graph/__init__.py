"""Relax as closures: a function of the graph is prepared once and called with values. Clauses: relax-*.toml.

| module        | holds                                                                     |
|---------------|---------------------------------------------------------------------------|
| `activation`  | what one call of a function has: variables, symbolic dimensions           |
| `dims`        | arithmetic on symbolic dimensions                                         |
| `matching`    | values matched against types; binding symbolic dimensions                 |
| `expressions` | every kind of expression, binding and block                               |
| `function`    | parameters, bodies, local functions                                       |
| `calls`       | what can be called                                                        |
| `operands`    | the arguments of an operator, checked for their kind                      |
| `library`     | operators that the library defines: outputs, the TensorIR function        |
| `operators`   | the table of operators; `outputs`, `memory`, `shapes`, `values` hold them |
| `named`       | the table of functions called by name; `heap` holds the shape heap's      |
| `destination` | a call that says what it writes, as hooks see it                          |
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from refmlc.lang.ir import relax
from refmlc.run.interp.graph.activation import Activation, Scope
from refmlc.run.interp.graph.expressions import prepare_expr
from refmlc.run.interp.graph.function import function_body

if TYPE_CHECKING:
    from refmlc.run.interp.machine import Machine

__all__ = ["prepare_function"]


def prepare_function(func: relax.Function, name: str, machine: "Machine") -> Callable[[Sequence[object]], object]:
    """The function as a callable on its arguments.

    Fails, when called from outside: RM111 (arguments that do not fit); from the module: RM206, RM317.
    """
    body = function_body(Scope(machine, name, prepare_expr), func)
    return lambda args: body(Activation(name), args)
