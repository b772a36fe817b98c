"""RM324, a lint: a called function leaves elements of its outputs unwritten (RLX-210).

| the function is | what it left is found                                                                          |
|-----------------|------------------------------------------------------------------------------------------------|
| of the module   | by looking: every store was seen                                                               |
| from outside    | by filling the outputs with a byte before the call. Elements that still hold it afterwards are |
|                 | suspected; the function is then called again, on copies, with another byte: what holds that    |
|                 | one was not written                                                                            |

What a function from outside left counts as uninitialised again, so that reading it is RM305. Only outputs that the
call itself allocates are looked at; those of `call_tir_inplace` held values before.
"""

from collections.abc import Callable, Sequence

import numpy as np

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import UNWRITTEN_OUTPUT
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import relax, tir
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.run.interp.graph.call_site import DestinationCall
from refmlc.run.interp.graph.calls import is_from_outside
from refmlc.run.memory.tensor import Tensor

FIRST, SECOND = 0xA5, 0x5A
ALLOCATING = ("call_tir", "call_tir_with_grad", "call_dps_packed")


class Outputs(Detector):
    """Looks at what calls were to write."""

    code = UNWRITTEN_OUTPUT
    is_lint = True
    reach = Reach.GRAPH

    def before_destination(self, call: DestinationCall) -> None:
        """Fill the outputs of a function from outside."""
        if _allocates(call.call) and is_from_outside(self.facts.module, call.call):
            for output in _fresh(call.outputs):
                output.storage.array[...] = FIRST

    def after_destination(self, call: DestinationCall) -> None:
        """Note RM324."""
        if _allocates(call.call) and is_from_outside(self.facts.module, call.call):
            self._forget(call.function, call.args, call.outputs)
        name = _name(call.call)
        for number, output in enumerate(call.outputs):
            if isinstance(output, Tensor) and not output.initialised:
                written = sum(1 for number in range(len(output.shadow)) if output.shadow[number])
                total = len(output.shadow)
                message = f"`{name}` writes {written} of {total} elements of output {number}"
                self.lint(Diagnostic(UNWRITTEN_OUTPUT, message, call.call.span), (call.call, number))

    def _forget(
        self, function: Callable[[Sequence[object]], object], args: Sequence[object], outputs: Sequence[object]
    ) -> None:
        """Mark what the function left as not written."""
        suspected = [(output, _holding(output, FIRST)) for output in _fresh(outputs)]
        if not any(found.any() for _, found in suspected):
            return
        copies = {id(arg): arg.copy() for arg in args if isinstance(arg, Tensor)}
        for output in _fresh(outputs):
            copies[id(output)].storage.array[...] = SECOND
        try:
            function([copies.get(id(arg), arg) for arg in args])
        except RefmlcError:
            return
        for output, found in suspected:
            left = np.flatnonzero(found & _holding(copies[id(output)], SECOND))
            cells = output.storage.array.reshape(len(found), -1)
            cells[left] = 0
            shadow, lanes = output.shadow, output.dtype.lanes
            for element in left.tolist():
                for lane in range(element * lanes, (element + 1) * lanes):
                    shadow[lane] = 0


def _allocates(call: relax.Call) -> bool:
    """Whether the call allocates all of its outputs."""
    return isinstance(call.op, relax.Op) and call.op.name in ALLOCATING


def _fresh(outputs: Sequence[object]) -> list[Tensor]:
    """The outputs that are whole storages of their own, allocated for a call."""
    return [
        output
        for output in outputs
        if isinstance(output, Tensor)
        and output.storage.budget is not None
        and output.storage.origin.startswith("`")
        and output.size * output.itemsize == output.storage.nbytes > 0
    ]


def _holding(output: Tensor, byte: int) -> np.ndarray:
    """Which elements consist of that byte."""
    array = output.storage.array.reshape(output.size, -1)
    found: np.ndarray = (array == byte).all(axis=1)
    return found


def _name(call: relax.Call) -> str:
    match call.args[0]:
        case relax.ExternFunc(symbol):
            return symbol
        case tir.GlobalVar(name):
            return name
        case _:
            return "the function"
