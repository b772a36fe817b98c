"""What runs in the Python that has apache-tvm: programs by themselves, started by path, which need nothing of refmlc.

| program      | is asked by             | to                                                               |
|--------------|-------------------------|------------------------------------------------------------------|
| `run_calls`  | `refmlc.adapters.real_tvm` | compile modules and call their functions (the protocol of `command`) |
| `run_passes` | `refmlc.passes.run`     | take a module through passes and write what each of them leaves     |
| `run_timed`  | `refmlc.bench.tvm_process` | compile and call with the time taken                               |

`line_server` is what they share: it stands beside them, which is where Python looks first.
"""
