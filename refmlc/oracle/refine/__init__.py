"""Refinement: two programs compared by calls, under the sanitizer; the assertions of `refmlc.testing`.

| file          | holds                                                                                  |
|---------------|----------------------------------------------------------------------------------------|
| `assertions`  | `assert_equivalent`, `assert_defined`                                                  |
| `refinement`  | when one call of the program after may stand for the call of the program before        |
| `comparison`  | two programs on all calls: the first one that tells them apart, as a finding           |
| `calls`       | the calls that are tried: given, or drawn                                              |
| `smallest`    | a drawn call that fails, made small                                                    |
| `validation`  | steps of a schedule: before and after a step on generated calls, the same bits         |
| `failures`    | the exceptions, each with a diagnostic                                                 |
"""
