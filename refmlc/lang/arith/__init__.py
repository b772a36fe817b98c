"""Arithmetic of symbolic integers: the polynomials and intervals of all who reason about indices.

| file         | holds                                                                                       |
|--------------|---------------------------------------------------------------------------------------------|
| `polynomial` | `Poly`: sums of products of variables and of operations that no polynomial is               |
| `interval`   | `Interval`: ranges of integers, and what the integer operators make of them                 |
| `extents`    | an extent of a shape as a polynomial, and whether two extents certainly differ              |

It computes and decides nothing. Each client has its own conditions, on purpose: what schedules take to be legal
(`refmlc.rewrite.schedule`) and what the generator of C takes to be safe (`refmlc.native.analysis`) are found apart, so
that the two can be compared; only sums, products and quotients are shared.
"""
