"""Asynchronous operations, and barriers in memory (TIA-001 …).

| file           | holds                                                                            |
|----------------|----------------------------------------------------------------------------------|
| `operations`   | open operations: what they reserve, when they are complete, groups of a thread   |
| `barriers`     | barriers in memory: arrivals, bytes, phases                                      |
| `operands`     | addresses, and the elements that hooks see                                       |
| `place`        | an instruction at its place in the text                                          |
| `instructions` | the instructions of PTX                                                          |
| `bulk`         | bulk copies, and their groups                                                    |
| `stores`       | asynchronous stores of registers                                                 |
| `tensors`      | copies of boxes of tensors, by tensor maps                                       |
| `boxes`        | which bytes a box has, and where they are                                        |
| `waits`        | the wait for a phase, as a statement of a thread                                 |
"""
