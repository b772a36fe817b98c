"""What is known about a function without running it. An answer may be relied on; "not proved" is always a right one.

| module     | answers                                                                                    |
|------------|--------------------------------------------------------------------------------------------|
| `facts`    | at a place: bounds of integers, whether an index is within, whether an operator is defined |
| `initialisation` | of a buffer: whether all that is read was written before, whether all is written     |
| `legality` | of a loop nest: whether its spatial iterations may be executed in any order, or why not    |
| `turns`    | of a function for threads: the serial loops that it means, where that is shown             |
| `cost`     | estimates: how long statements take, how many iterations a function executes               |

Below them, on the arithmetic of `refmlc.lang.arith`: `knowledge` (what is known of variables), `values` (ranges and
forms of expressions), `conditions` (what a condition says), `operators` (when one is defined);
`flow` and `boxes` (what is certainly written), `uses` (which buffers, who shares storage), `body`, `binding`, `starts`
(a block, the loops around it, its init), `accumulate` (sums that do not overflow); `rounds`, `pieces`,
`thread_loops`, `lanes` and `registers` (the threads of one block and its warps, for `turns`).
"""
