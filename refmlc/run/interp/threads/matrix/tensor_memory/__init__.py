"""Tensor memory: `tcgen05` (TMM-001 …).

| file         | holds                                                                          |
|--------------|--------------------------------------------------------------------------------|
| `place`      | an instruction at its place in the text, the state of its thread               |
| `calls`      | which file prepares an instruction                                             |
| `allocation` | columns: allocated, freed, how a kernel leaves them                            |
| `cells`      | the cells that an instruction reaches                                          |
| `transfers`  | registers from and to tensor memory, and the waits for them                    |
| `addresses`  | numbers of places: in tensor memory, descriptors of matrices in shared memory  |
| `copies`     | shared memory to tensor memory                                                 |
| `fences`     | fences between the instructions of threads                                     |
"""

from refmlc.run.interp.threads.matrix.tensor_memory.addresses import EXECUTED
from refmlc.run.interp.threads.matrix.tensor_memory.calls import prepare_tensor_memory

__all__ = ["EXECUTED", "prepare_tensor_memory"]
