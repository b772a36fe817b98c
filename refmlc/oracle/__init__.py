"""The oracle: whether a result is one that the program permits, by exact bits, sets, ulps or a certified bound.

>>> certificate = certify(module, "main", [a, b, out])
>>> verdict = compare(result, certificate.outputs[0])
>>> str(verdict)
'wrong: [3, 7] is 1.5, expected 1.25, 2097152 ulp away, bound 2.4e-07; 12 of 64 wrong; transposed: axes 0 and 1 …'

| file                                   | holds                                                                  |
|----------------------------------------|------------------------------------------------------------------------|
| `freedom`                              | what an implementation may do differently                              |
| `upward`, `enclosure`, `roundoff`      | bounds rounded up; sets of floats; what a rounding does                |
| `arithmetic`, `functions`, `summation` | operators on sets; the theorem on sums in any order                    |
| `choice`, `operators`, `expressions`, `statements`, `places` | a TensorIR function executed on sets             |
| `arguments`, `graph`                   | TensorIR functions called from Relax, memory between calls             |
| `certify`, `exactness`                 | the certificate of a function on arguments; programs that never round  |
| `rule`, `compare`, `difference`, `guess`, `ulps`, `outcome` | comparison by rule, what differs, the verdict     |

`python tests/e2e/certified_reductions.py` is the evidence: 10,000 random reductions.
"""

from refmlc.oracle.certify import Certificate, CertifiedTensor, certify
from refmlc.oracle.compare import compare, judge
from refmlc.oracle.difference import Difference
from refmlc.oracle.freedom import Freedom
from refmlc.oracle.outcome import Kind, Verdict, crashed, of_failure, timed_out
from refmlc.oracle.rule import Certified, Exact, OneOf, Rule, Ulps

__all__ = [
    "Certificate",
    "Certified",
    "CertifiedTensor",
    "Difference",
    "Exact",
    "Freedom",
    "Kind",
    "OneOf",
    "Rule",
    "Ulps",
    "Verdict",
    "certify",
    "compare",
    "crashed",
    "judge",
    "of_failure",
    "timed_out",
]
