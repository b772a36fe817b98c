"""Tensor memory: `tcgen05` (TMM-001 …).

| file         | holds                                                                          |
|--------------|--------------------------------------------------------------------------------|
| `place`      | an instruction at its place in the text, the state of its thread               |
| `calls`      | which file prepares an instruction                                             |
| `allocation` | columns: allocated, freed, how a kernel leaves them                            |
"""

from refmlc.run.interp.threads.matrix.tensor_memory.calls import prepare_tensor_memory

__all__ = ["prepare_tensor_memory"]
