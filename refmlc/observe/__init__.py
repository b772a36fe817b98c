"""Clients of the interpreter's hooks: what a run must not do, where a value is from, what a result may be.

| part        | holds                                                                                    |
|-------------|------------------------------------------------------------------------------------------|
| `sanitize/` | detectors of undefined behaviour                                                         |
| `why/`      | provenance: the computation that led to a value                                          |
| `bounds/`   | the certified bound of a result under rounding                                           |
| `copies`    | copies of arguments for one run                                                          |
| `addresses` | where an element of a view lies in its storage                                           |
"""
