"""Certified bounds: the permitted values of each element of a result, proved from the program and its arguments.

>>> certificate = certify(module, "main", [a, b, out])
>>> certificate.outputs[0].permits(7, 1.25)

| file                               | holds                                                        |
|------------------------------------|--------------------------------------------------------------|
| `freedom`                          | permitted deviations of an implementation                    |
| `upward`, `enclosure`, `roundoff`  | bounds rounded up; sets of floats; the effect of a rounding  |
| `arithmetic`, `functions`, `lanes` | operators on sets; vectors lane by lane                      |
| `summation`                        | the theorem on sums in any order                             |
| `choice`, `operators`, `expressions`, `statements`, `places`, `run` | a TensorIR function executed on sets |
| `instructions`                     | instructions of PTX, and what the errors of approximations permit |
| `terms`, `extremes`                | reductions, whose terms may be gathered in any order         |
| `graph`                            | functions called from Relax, memory between the calls        |
| `certify`, `exactness`, `zeros`    | the certificate of a call; what never rounds; known signs of zeros |
| `balls`, `ball_functions`, `cell_arrays` | sets, their operators and memory in arrays: wider, fast |
| `nests`, `array_expressions`, `array_nests`, `array_results` | plain functions executed on arrays |

`python tests/e2e/certified_reductions.py` is the evidence: 10,000 random reductions.
"""

from refmlc.observe.bounds.certify import Certificate, CertifiedTensor, certify
from refmlc.observe.bounds.freedom import Freedom

__all__ = ["Certificate", "CertifiedTensor", "Freedom", "certify"]
