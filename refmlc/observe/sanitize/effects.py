"""RM323: a function that is called for its outputs or its value writes to another argument (RLX-209).

| the function is | its writes are seen                                              |
|-----------------|------------------------------------------------------------------|
| of the module   | when they happen, at the store                                   |
| from outside    | when it is over: its inputs are compared with copies made before |
"""

from dataclasses import dataclass

from refmlc.diag import Diagnostic, Related, fail
from refmlc.diag.catalogue import HIDDEN_EFFECT
from refmlc.lang.ir import relax, tir
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.elements import element, size_of
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.graph.call_site import DestinationCall
from refmlc.run.interp.graph.calls import is_from_outside
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor


@dataclass(slots=True)
class Call:
    """A call that is being executed: its inputs, where they lie, and what they held."""

    node: relax.Call
    inputs: tuple[Tensor, ...]
    places: tuple[tuple[Storage, int, int], ...]
    held: tuple[bytes, ...]


class HiddenEffects(Detector):
    """Watches the inputs of calls with destinations."""

    code = HIDDEN_EFFECT
    reach = Reach.NOT_PLAIN_ALONE

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._calls: list[Call] = []

    def before_destination(self, call: DestinationCall) -> None:
        """Remember the inputs: tensors that share no storage with an output."""
        written = {id(output.storage) for output in call.outputs if isinstance(output, Tensor)}
        inputs = tuple(arg for arg in call.args if isinstance(arg, Tensor) and id(arg.storage) not in written)
        places = tuple(
            (tensor.storage, tensor.byte_offset, tensor.byte_offset + tensor.reach * tensor.itemsize)
            for tensor in inputs
        )
        foreign = is_from_outside(self.facts.module, call.call)
        held = tuple(tensor.array.tobytes() for tensor in inputs) if foreign else ()
        self._calls.append(Call(call.call, inputs, places, held))

    def after_destination(self, call: DestinationCall) -> None:
        """Compare the inputs with what they held. Fails: RM323."""
        open_call = self._calls.pop()
        for number, (tensor, held) in enumerate(zip(open_call.inputs, open_call.held, strict=False)):
            if tensor.array.tobytes() != held:
                said = f"the called function changed input {number}, which is not to be written"
                raise fail(HIDDEN_EFFECT, said, call.call.span)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Fails: RM323."""
        if not self._calls:
            return
        storage = view.data.storage
        for call in self._calls:
            for other, start, end in call.places:
                if storage is other:
                    at = view.data.byte_offset + (view.offset + offset) * size_of(view)
                    if start <= at < end:
                        what = element(access.buffer, view, offset)
                        message = f"`{what}` is written, an element of an input of the call"
                        related = (Related("the function is called here", call.node.span),)
                        found = Diagnostic(HIDDEN_EFFECT, message, access.span, "", (), related)
                        raise self.undefined(found, access, frame)
