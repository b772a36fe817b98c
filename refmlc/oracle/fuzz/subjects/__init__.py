"""The subjects of a campaign: parts of real TVM that are examined by themselves, each with programs of its own.

| file             | holds                                                                           |
|------------------|---------------------------------------------------------------------------------|
| `table`          | the subjects by the names that `--kinds` takes                                  |
| `primitives`     | traces of TVM's schedule, each step held to the program that it began with      |
| `passes`         | orders of TVM's passes, the same                                                |
| `builds`         | one program compiled by TVM with many options, each build held to the meaning   |
| `flat_programs`  | prim_funcs without blocks, for one of these builds                              |
| `blamed_pipeline` | the pass of a build that is guilty of a finding                                |
| `imports`        | graphs of ONNX and PyTorch, by TVM's importer and refmlc's, held to the framework |
| `stage_tally`    | verdicts, findings and reasons of a batch of traces or orders                   |
| `replayed_trace` | a finding on stages, made again in TVM                                          |
"""
