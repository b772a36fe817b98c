"""The independent NumPy witness: on purpose, it has its own meaning of everything and no code of the interpreter's.

`numpy` as an implementation: TensorIR as Python loops over arrays, Relax as the calls that it stands for. It is
a translation of its own, which shares with the interpreter and with in-house C what text means to the reader, never how
anything is computed: numbers are Python's and NumPy's, memory is NumPy's, loops are Python's.

| file                                 | holds                                                                        |
|--------------------------------------|------------------------------------------------------------------------------|
| `arithmetic`                         | numbers put into a dtype, rounded once; what scalar operators do             |
| `operators`                          | an operator as Python source                                                 |
| `memory`                             | arrays on bytes, pointers; vectors as lists of lanes                         |
| `writer`                             | the names and lines of a function that is being translated                   |
| `expressions`, `statements`          | expressions, statements and blocks as source; which memory threads may share |
| `compiler`                           | the one place where source is run                                            |
| `function`                           | functions of TensorIR, compiled by Python                                    |
| `graph`, `graph_calls`, `type_match` | functions of Relax, walked: `call_tir` is `np.empty`, a call, the array      |
| `adapter`                            | `Loops`, the implementation                                                  |

Why running the source is safe: no text of the module gets into it. Every name in it is made here from a word of ours
and a number, every constant is either an integer written out or an object that is looked up by such a name, and the
namespace in which it runs has no builtins. So it can do what these files let it do, and nothing else.

Operators of Relax run as the TensorIR function that `refmlc.lang.library` defines them by: that is data, which says
what is to be computed, and its execution is the loops' own.
"""
