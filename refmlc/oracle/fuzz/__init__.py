"""Campaigns: many generated programs through every path, in worker processes; findings are kept as they come.

A campaign is a row of batches, numbered from 0. A batch is a pure function of the settings and its number (and of what
earlier batches made the campaign leave out, which its journal has: `avoidance`), so that a campaign can stop anywhere,
resume later, and run on several machines, with the same findings.

| file              | holds                                                                               |
|-------------------|-------------------------------------------------------------------------------------|
| `settings`        | what decides the findings of a campaign, and what does not                          |
| `result`          | batches and findings as data, which findings are the same one, sums over a campaign |
| `batch`           | the programs of a batch, examined; a finding's program made smaller                 |
| `subjects`        | parts of real TVM that are examined by themselves, a kind of programs each          |
| `exclusions`      | what is left out of generation                                                      |
| `avoidance`       | how a campaign moves away from causes that it meets: exclusions that grow           |
| `finding_pattern` | what findings of one cause share                                                    |
| `c_errors`        | what a C compiler says of TVM's code, in words that findings of one cause share     |
| `likeness`        | the row of `conformance/known` that looks like a finding                            |
| `row_looks`       | what a row looks like, to be compared with a finding                                |
| `program_uses`    | what a program applies to what: by that rows are compared with findings             |
| `proofs`          | rewrites proved, and the proofs compared with the calls                             |
| `reordered_loops` | C with reordered loops, where there are some                                        |
| `coverage`        | which clauses, operators and kinds of nodes occurred                                |
| `coverage_report` | the same of a campaign, with what is not covered by name                            |
| `worker`, `cage`  | a process with limits that does it, and the side of it that waits                   |
| `kept_processes`  | the processes that a worker keeps from batch to batch, and their one owner          |
| `jobs`            | jobs in such a process: a batch, and the program that ended it; executors           |
| `store`           | the directory of a campaign, and its journal                                        |
| `finding_file`    | a finding for people: written, read and reproduced                                  |
| `ledger`          | the causes that campaigns of many machines found, in one file                       |
| `page`            | a campaign as one HTML page                                                         |
| `campaign`        | all of it together                                                                  |
"""
