"""Conformance: the frozen suite of cases, and implementations asked to answer it.

| file                  | holds                                                             |
|-----------------------|-------------------------------------------------------------------|
| `suite`, `freeze`     | the cases of `conformance/`; what keeps released ones as they are |
| `data`                | a link to `conformance/`                                          |
"""
