"""Graphs of Relax through PyTorch: a witness that nobody of us wrote. `torch`, with the extra `refmlc[torch]`.

| file      | holds                                                                                     |
|-----------|-------------------------------------------------------------------------------------------|
| `table`   | an operator of Relax, and the call of PyTorch that means the same                         |
| `adapter` | `Torch`, the implementation: walks graphs as `loops.graph` does, calls PyTorch operators  |

Functions of TensorIR are not taken, by name: PyTorch has none.
"""
