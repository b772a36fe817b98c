"""Measured speed, as ratios in one run: what is promised, and what this machine gives.

| file                        | holds                                                |
|-----------------------------|------------------------------------------------------|
| `timing`                    | how times are taken                                  |
| `row`                       | a line of the table: a goal and what was measured    |
| `texts`                     | the programs, as TVM prints them                     |
| `workloads`                 | the programs with inputs                             |
| `small_models`              | models of Relax in which nothing but calls counts    |
| `witness`                   | what they must give, bit by bit, and whether they do |
| `numpy_peer`, `tvm_process` | the others                                           |
| `peak`                      | what the machine can do at most                      |
| `bare_call`                 | generated C without a virtual machine around it      |
| `compile_time`              | an empty cache; the time of all processes            |
| `session`                   | one run: one program with all who take part          |
| `rows`, `table`             | the table, part by part                              |
| `machine`                   | description of the machine                           |
| `chart`                     | the table as a picture                               |
| `interpreter`               | the interpreter's own promise                        |
| `low_level`                 | kernels with the loops that one writes by hand       |
| `debugger`                  | what the debugger costs                              |
| `campaign`                  | generated programs per second                        |
| `shell`, `text_costs`       | what people wait for: texts, a check, the start      |
| `groups`, `history`, `page` | all of it in one run, beside earlier runs            |
"""
