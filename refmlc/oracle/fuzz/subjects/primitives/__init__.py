"""Programs of the kind `primitives`: traces of TVM's schedule.

| file                  | holds                                                                |
|-----------------------|----------------------------------------------------------------------|
| `staged`              | traces, each step held to the program that it began with             |
| `step_pattern`        | what is unusual in a wrong step, which tells causes apart            |
| `recorded_traces`     | recorded deviations that are traces, and which looks like which      |
| `aimed_programs`      | small programs aimed at the preconditions of schedule primitives     |
| `overlooked_programs` | such programs, aimed at parts that primitives overlook               |
"""
