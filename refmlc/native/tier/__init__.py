"""The native tier as the virtual machine uses it: which calls go into C, with what, and what happens if C refuses.

The rule: C does all that the interpreter would have done, or the interpreter executes the call, from memory as it was
before. So every message and every verdict is the interpreter's.

A call looks into one table of prepared calls: a call from Python into that of its function, by dtypes and shapes; a
call by the graph into that of the function in C, by sizes. Both have the policy that `prepared_calls` tells. Who
decides what, from the outermost on:

| part                 | decides                                            | state, and who owns it                 |
|----------------------|----------------------------------------------------|----------------------------------------|
| `vm.CallCache`       | is there a cached call for arguments of this kind? | prepared calls from Python; function   |
| `CachedCall`         | is it applicable to these arguments?               | steps until its policy applies; itself |
| `TierSwitch`         | interpreter or C?                                  | the work so far; virtual machine       |
| `NativeTier`         | is the function in C?                              | its calls by name; virtual machine     |
| `ArgumentBinder`     | do the arguments bind to the C function?           | none                                   |
| `PreparedCall`       | is a specialisation worth its compilation by now?  | iterations; prepared calls of a call   |
| `Specialisations`    | is it compiled, for any virtual machine?           | compiled C by dimensions; module       |
| `CodeStages`         | quick code, or optimised code?                     | both, and the build; module            |
| `UndoLog`            | what does memory look like if C stops?             | copies; one call                       |
| `Watch`              | has the time run out, was there an interrupt?      | the clock; virtual machine             |

| module             | holds                                                                       |
|--------------------|-----------------------------------------------------------------------------|
| `tier_switch`      | the interpreter's substitute: interpreting until a compilation pays         |
| `work`             | how much interpreting is worth a compilation                                |
| `native_module`    | a module that is compiled on demand, once, for all its virtual machines     |
| `compilation`      | the compilation: translated, compiled, loaded                               |
| `stages`           | quick code first, optimised code when it is compiled                        |
| `compiled_module`  | a module in C as text, and as a loaded library                              |
| `native_tier`      | the compiled tier of one virtual machine                                    |
| `native_call`      | a call of one function: C, or the interpreter                               |
| `argument_binding` | binding arguments to the parameters of a C function                         |
| `undo_log`         | copies of memory that C may spoil before it stops                           |
| `fused_call`       | a call of a run of bindings of a dataflow block                             |
| `specialisation`   | functions and runs compiled again for known dimensions                      |
| `cached_calls`     | calls from Python with arguments like those of an earlier call              |
| `prepared_calls`   | what a call computes once for all arguments of the same sizes               |
| `array_interface`  | how C asks arrays for their memory                                          |
| `watch`            | the clock and interrupts, while C executes a call                           |
"""
