"""What runs in the Python that has apache-tvm: programs by themselves, started by path, which need nothing of refmlc.

| program      | started by           | does                                                                      |
|--------------|----------------------|---------------------------------------------------------------------------|
| `run_calls`  | `../real_tvm`        | compiles modules and calls their functions (the protocol of `command`)    |
| `run_passes` | `oracle/passes`      | takes a module through passes and writes what each of them leaves         |
| `run_primitives` | `oracle/passes`  | takes a module through primitives of a schedule, named or drawn           |
| `run_timed`  | `tools/bench`        | compiles and calls, with the time taken                                   |

`line_server` is what they share, and `library_programs` are what `run_primitives` draws from: they stand beside them,
which is where Python looks first.
"""
