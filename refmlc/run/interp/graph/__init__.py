"""Relax as closures: a function of the graph is prepared once and called with values. Clauses: relax-*.toml.

| module        | holds                                                                     |
|---------------|---------------------------------------------------------------------------|
| `expressions` | the `match` of expressions; functions, calls, blocks, bindings            |
| `activation`  | the state of one call: variables, symbolic dimensions                     |
| `type_match`  | values matched against types; binding symbolic dimensions                 |
| `calls`       | functions by name, calls that allocate their outputs                      |
| `operators`   | the table of operators; `values`, `shapes` and `memory` implement them    |
| `values`      | operators on values of any kind                                           |
| `shapes`      | operators on shapes; the shape heap of lowered programs                   |
| `memory`      | storages, tensors in them, views                                          |
| `library`     | operators that the library defines: outputs, the TensorIR function        |
| `call_site`   | the arguments of one call, checked for their kind; its failures           |
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from refmlc.lang.ir import relax
from refmlc.run.interp.graph.activation import Activation, Scope
from refmlc.run.interp.graph.expressions import function_body, prepare_expr

if TYPE_CHECKING:
    from refmlc.run.interp.machine import Machine

__all__ = ["prepare_function"]


def prepare_function(func: relax.Function, name: str, machine: "Machine") -> Callable[[Sequence[object]], object]:
    """The function as a callable on its arguments.

    Fails, when called from outside: RM111 (arguments that do not fit); from the module: RM206, RM317.
    """
    body = function_body(Scope(machine, name, prepare_expr), func)
    return lambda args: body(Activation(name), args)
