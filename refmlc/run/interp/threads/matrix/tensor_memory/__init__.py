"""Tensor memory: `tcgen05` (TMM-001 …).

| file         | holds                                                                          |
|--------------|--------------------------------------------------------------------------------|
| `place`      | an instruction at its place in the text, the state of its thread               |
| `calls`      | which file prepares an instruction                                             |
| `allocation` | columns: allocated, freed, how a kernel leaves them                            |
| `cells`      | the cells that an instruction reaches                                          |
| `transfers`  | registers from and to tensor memory, and the waits for them                    |
| `addresses`  | numbers of places: in tensor memory, descriptors of matrices in shared memory  |
| `pipeline`   | what one thread issues, in order                                               |
| `copies`     | shared memory to tensor memory                                                 |
| `descriptors` | the descriptor of a product                                                   |
| `products`   | products, and commits                                                          |
| `fences`     | fences between the instructions of threads                                     |
"""

from refmlc.run.interp.threads.matrix.tensor_memory import addresses, descriptors
from refmlc.run.interp.threads.matrix.tensor_memory.calls import prepare_tensor_memory

EXECUTED = {**addresses.EXECUTED, **descriptors.EXECUTED}
"""What a thread computes for these instructions."""

__all__ = ["EXECUTED", "prepare_tensor_memory"]
