"""Modules built by program: functions of Relax binding by binding, with the TensorIR functions that they call.

>>> builder = BlockBuilder()
>>> with builder.function("main", params=[x, w]):
...     with builder.dataflow():
...         y = builder.emit_output(builder.emit_te(te_matmul, x, w))
...     builder.emit_func_output(y)
>>> module = builder.get()
"""

from refmlc.builder.block_builder import BlockBuilder
from refmlc.builder.te_call import TeCall, te_call

__all__ = ["BlockBuilder", "TeCall", "te_call"]
