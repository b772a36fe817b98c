"""Where an element of a view lies in its storage. Units: bytes."""

from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.cells import cell_size


def element_size(view: View) -> int:
    """The size of an element of `view`."""
    dtype = view.buffer.dtype
    return cell_size(dtype) * dtype.lanes


def first_byte(view: View, offset: int) -> int:
    """The byte of the storage at which element `offset` of `view` begins."""
    return view.data.byte_offset + (view.offset + offset) * element_size(view)
