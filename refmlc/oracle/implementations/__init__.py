"""Implementations of IRModules, one file each, behind one protocol (`implementation`).

| file                    | holds                                                                         |
|-------------------------|-------------------------------------------------------------------------------|
| `implementation`        | the protocol: modules made ready, calls answered; what they may use           |
| `interp`, `local_calls` | the interpreter, with detectors too; calls in refmlc's own process as answers |
| `native`                | in-house C in each way, several modules in one run of the compiler            |
| `loops`                 | TensorIR as plain NumPy in Python's loops, Relax as what it stands for        |
| `pytorch`               | graphs of Relax through PyTorch                                               |
| `frameworks`            | the framework of a model in a file, as a witness in a process of its own      |
| `framework_side`        | the other end of it, by `pytorch_model` or `onnx_model`                       |
| `command`               | any program that speaks JSON lines                                            |
| `real_tvm`              | real TVM, how it compiles; its own importer of a model                        |
| `tvm_side/`             | what runs in TVM's own Python, for `passes` and `bench` too                   |
| `remote`, `wire`        | what both share: processes with limits, values in files                       |
| `lookup`                | `implementation("native:guarded")`, and which names a file may start          |

>>> implementation("native").prepare(module).run("main", [a, b, c])
Ended(value=None, args=(…))
"""
