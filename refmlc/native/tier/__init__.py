"""The native tier as the virtual machine uses it: which calls go into C, with what, and what happens when C says no.

| module      | does                                                                                    |
|-------------|-----------------------------------------------------------------------------------------|
| `module`    | a module that is compiled once, when somebody asks for it, for all its virtual machines |
| `compiled`  | a module in C as text, and as a loaded library                                          |
| `library`   | the compilation: translated, compiled, loaded                                           |
| `fitting`   | whether arguments surely fit a C function, and what is passed for them                  |
| `keeping`   | what C may spoil before it stops: copies, put back before the interpreter begins        |
| `calls`     | a call of one function: C, and the interpreter where C declines or stops                |
| `fused`     | the same for bindings of a dataflow block                                               |
| `special`   | functions and runs once more, for sizes with which much was done                        |
| `quick`     | calls from Python whose arguments are as in a call that went well before                |
| `repeating` | which calls can be such                                                                 |
| `layout`    | how Python lays out what quick calls look at                                            |
| `watch`     | looks at the clock, and for interrupts, while C executes a call                         |
| `work`      | how much interpreting is worth a compilation                                            |
| `tier`      | all of it for one virtual machine                                                       |
| `choosing`  | the interpreter's substitute: interpreting until a compilation pays                     |

The rule: C either does all of what the interpreter would have done, or the interpreter does the call, from memory
that is as it was. So every message and every verdict is the interpreter's.
"""
