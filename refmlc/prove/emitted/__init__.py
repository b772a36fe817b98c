"""The C that is emitted, proved: another form of a function (tiles, vectors) computes the same expressions.

| file           | holds                                                                   |
|----------------|-------------------------------------------------------------------------|
| `fingerprints` | an expression as 128 bits, from the interpreter's exact terms           |
| `text`         | the C++ in which an emitted unit is compiled as it is                   |
| `run`          | a unit executed on fingerprints                                         |
| `forms`        | two forms of one function compared, and held to the interpreter         |
| `headers/`     | the types and operators that the unit is compiled with                  |
"""

from refmlc.prove.emitted.forms import FormKind, FormProof, forms_compared

__all__ = ["FormKind", "FormProof", "forms_compared"]
