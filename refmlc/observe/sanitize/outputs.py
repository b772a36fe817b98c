"""RM324, a lint: a called function leaves elements of its outputs unwritten (RLX-210).

| function      | how unwritten elements are found                                                                |
|---------------|-------------------------------------------------------------------------------------------------|
| of the module | by the shadow of the storage: the interpreter executes every store                              |
| external      | the outputs are filled with a byte before the call. Elements that still have it afterwards are  |
|               | suspects; the function is called again, on copies filled with another byte: elements that have  |
|               | this one were not written                                                                       |

Unwritten elements of an external function become uninitialised again, so that a read of them is RM305. Only outputs
that the call itself allocates are checked; those of `call_tir_inplace` have values before.
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
    """Checks the outputs of calls."""

    code = UNWRITTEN_OUTPUT
    is_lint = True
    reach = Reach.GRAPH

    def before_destination(self, call: DestinationCall) -> None:
        """Fill the outputs of an external function."""
        if _allocates(call.call) and is_from_outside(self.facts.module, call.call):
            for output in _fresh(call.outputs):
                output.storage.array[...] = FIRST

    def after_destination(self, call: DestinationCall) -> None:
        if _allocates(call.call) and is_from_outside(self.facts.module, call.call):
            self._forget(call.function, call.args, call.outputs)
        name = _name(call.call)
        for number, output in enumerate(call.outputs):
            if isinstance(output, Tensor) and not output.initialised:
                total = len(output.shadow)
                count = sum(1 for cell in range(total) if output.shadow[cell])
                message = f"`{name}` writes {count} of {total} elements of output {number}"
                self.lint(Diagnostic(UNWRITTEN_OUTPUT, message, call.call.span), (call.call, number))

    def _forget(
        self, function: Callable[[Sequence[object]], object], args: Sequence[object], outputs: Sequence[object]
    ) -> None:
        """Mark the elements that the function did not write as uninitialised."""
        suspects = [(output, _filled_with(output, FIRST)) for output in _fresh(outputs)]
        if not any(mask.any() for _, mask in suspects):
            return
        copies = {id(arg): arg.copy() for arg in args if isinstance(arg, Tensor)}
        for output in _fresh(outputs):
            copies[id(output)].storage.array[...] = SECOND
        try:
            function([copies.get(id(arg), arg) for arg in args])
        except RefmlcError:
            return
        for output, mask in suspects:
            unwritten = np.flatnonzero(mask & _filled_with(copies[id(output)], SECOND))
            cells = output.storage.array.reshape(len(mask), -1)
            cells[unwritten] = 0
            shadow, lanes = output.shadow, output.dtype.lanes
            for element in unwritten.tolist():
                for lane in range(element * lanes, (element + 1) * lanes):
                    shadow[lane] = 0


def _allocates(call: relax.Call) -> bool:
    """True if the call allocates all of its outputs."""
    return isinstance(call.op, relax.Op) and call.op.name in ALLOCATING


def _fresh(outputs: Sequence[object]) -> list[Tensor]:
    """The outputs that are whole storages, allocated for a call."""
    return [
        output
        for output in outputs
        if isinstance(output, Tensor)
        and output.storage.budget is not None
        and output.storage.origin.startswith("`")
        and output.size * output.itemsize == output.storage.nbytes > 0
    ]


def _filled_with(output: Tensor, byte: int) -> np.ndarray:
    """A mask of the elements that consist of `byte`."""
    array = output.storage.array.reshape(output.size, -1)
    mask: np.ndarray = (array == byte).all(axis=1)
    return mask


def _name(call: relax.Call) -> str:
    match call.args[0]:
        case relax.ExternFunc(symbol):
            return symbol
        case tir.GlobalVar(name):
            return name
        case _:
            return "the function"
