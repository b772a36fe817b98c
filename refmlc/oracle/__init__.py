"""The oracle: whether a result is one that the program permits, by exact bits, sets, ulps or a certified bound.

| file            | holds                                                                        |
|-----------------|------------------------------------------------------------------------------|
| `freedom`       | what an implementation may do differently                                    |
| `upward`, `enclosure`, `roundoff` | bounds rounded up; sets of floats; what a rounding does    |
| `arithmetic`, `functions`, `summation` | operators on sets; the theorem on sums in any order   |
| `choice`, `operators`, `expressions`, `statements`, `places` | a program executed on sets     |
| `arguments`, `graph` | TensorIR functions called from Relax, memory between calls              |
| `certify`       | the certificate of a function on given arguments                              |
| `rule`, `compare`, `difference`, `outcome` | comparison by rule, what differs, the verdict      |
"""
