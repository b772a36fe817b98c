"""RM323: a function called for its outputs or its value writes to another argument (RLX-209).

| function        | how its writes are found                                         |
|-----------------|------------------------------------------------------------------|
| of the module   | at the store                                                     |
| external        | after the call: its inputs are compared with copies from before  |
"""

from dataclasses import dataclass

from refmlc.diag import Diagnostic, Related, fail
from refmlc.diag.catalogue import HIDDEN_EFFECT
from refmlc.lang.ir import relax, tir
from refmlc.observe.addresses import first_byte
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.elements import element
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.graph.call_site import DestinationCall
from refmlc.run.interp.graph.calls import is_from_outside
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor


@dataclass(slots=True)
class Call:
    """An open call: its inputs, their places in storage, and their contents (of an external function only)."""

    node: relax.Call
    inputs: tuple[Tensor, ...]
    places: tuple[tuple[Storage, int, int], ...]
    contents: tuple[bytes, ...]


class HiddenEffects(Detector):
    """Watches the inputs of calls with destinations."""

    code = HIDDEN_EFFECT
    reach = Reach.NOT_PLAIN_ALONE

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._calls: list[Call] = []

    def before_destination(self, call: DestinationCall) -> None:
        """Keep the inputs: tensors that share no storage with an output."""
        output_storages = {id(output.storage) for output in call.outputs if isinstance(output, Tensor)}
        inputs = tuple(arg for arg in call.args if isinstance(arg, Tensor) and id(arg.storage) not in output_storages)
        places = tuple(
            (tensor.storage, tensor.byte_offset, tensor.byte_offset + tensor.reach * tensor.itemsize)
            for tensor in inputs
        )
        is_external = is_from_outside(self.facts.module, call.call)
        contents = tuple(tensor.array.tobytes() for tensor in inputs) if is_external else ()
        self._calls.append(Call(call.call, inputs, places, contents))

    def after_destination(self, call: DestinationCall) -> None:
        """Compare the inputs with their contents before the call. Fails: RM323."""
        open_call = self._calls.pop()
        for number, (tensor, content) in enumerate(zip(open_call.inputs, open_call.contents, strict=False)):
            if tensor.array.tobytes() != content:
                message = f"the called function changed input {number}, which is not to be written"
                raise fail(HIDDEN_EFFECT, message, call.call.span)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Fails: RM323."""
        if not self._calls:
            return
        storage = view.data.storage
        for call in self._calls:
            for input_storage, start, end in call.places:
                if storage is input_storage:
                    byte = first_byte(view, offset)
                    if start <= byte < end:
                        name = element(access.buffer, view, offset)
                        message = f"`{name}` is written, an element of an input of the call"
                        related = (Related("the function is called here", call.node.span),)
                        diagnostic = Diagnostic(HIDDEN_EFFECT, message, access.span, "", (), related)
                        raise self.undefined(diagnostic, access, frame)
