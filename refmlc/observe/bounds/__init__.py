"""Certified bounds: what each element of a result may be, proved from the program and its arguments.

>>> certificate = certify(module, "main", [a, b, out])
>>> certificate.outputs[0].permits(7, 1.25)

| file                               | holds                                                        |
|------------------------------------|--------------------------------------------------------------|
| `freedom`                          | what an implementation may do differently                    |
| `upward`, `enclosure`, `roundoff`  | bounds rounded up; sets of floats; what a rounding does      |
| `arithmetic`, `functions`, `lanes` | operators on sets; vectors lane by lane                      |
| `summation`                        | the theorem on sums in any order                             |
| `choice`, `operators`, `expressions`, `statements`, `places`, `run` | a TensorIR function executed on sets |
| `terms`                            | reductions, whose terms may be gathered in any order         |
| `arguments`, `graph`               | functions called from Relax, memory between the calls        |
| `certify`, `exactness`             | the certificate of a call; programs that never round         |

`python tests/e2e/certified_reductions.py` is the evidence: 10,000 random reductions.
"""

from refmlc.observe.bounds.certify import Certificate, CertifiedTensor, certify
from refmlc.observe.bounds.freedom import Freedom

__all__ = ["Certificate", "CertifiedTensor", "Freedom", "certify"]
