"""Modules built by program: functions of Relax binding by binding, with the TensorIR functions that they call.

>>> builder = BlockBuilder()
>>> with builder.function("main", params=[x, w]):
...     with builder.dataflow():
...         y = builder.emit_output(builder.emit_te(te_matmul, x, w))
...     builder.emit_func_output(y)
>>> module = builder.get()

Modules that are there are changed by `PyExprMutator`, looked at by `PyExprVisitor`; small changes are in `surgery`.
"""

from refmlc.lang.builder.block_builder import BlockBuilder
from refmlc.lang.builder.mutator import PyExprMutator
from refmlc.lang.builder.surgery import update_func, with_attr, with_attrs, without_attr, without_func
from refmlc.lang.builder.te_call import TeCall, te_call
from refmlc.lang.builder.visitor import PyExprVisitor

__all__ = [
    "BlockBuilder",
    "PyExprMutator",
    "PyExprVisitor",
    "TeCall",
    "te_call",
    "update_func",
    "with_attr",
    "with_attrs",
    "without_attr",
    "without_func",
]
