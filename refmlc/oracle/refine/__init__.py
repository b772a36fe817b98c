"""Refinement: two programs compared by calls, under the sanitizer; the assertions of `refmlc.testing`.

| file         | holds                                                                                   |
|--------------|-----------------------------------------------------------------------------------------|
| `assertions` | `assert_equivalent`, `assert_defined`, their exceptions, `Validation` of schedule steps |
| `comparison` | when one program may stand for another; the first call that tells them apart            |
| `calls`      | the calls that are tried, explicit or drawn; a failing one made small                   |
| `proof`      | a proof for all arguments; without one a call that tells the programs apart             |
| `scope`      | the calls that a proof is about, and whether one contradicts it                         |
| `proved`     | what is known of a pair for all arguments, beside a test                                |
"""
