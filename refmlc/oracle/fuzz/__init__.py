"""Campaigns: many generated programs through every path, in worker processes; findings are kept as they come.

A campaign is a row of batches, numbered from 0. A batch is a pure function of the settings and its number, so that
a campaign can stop anywhere, resume later, and run on several machines, with the same findings.

| file                   | holds                                                                                      |
|------------------------|--------------------------------------------------------------------------------------------|
| `settings`             | what decides the findings of a campaign, and what does not                                 |
| `result`               | the result of a batch, as data                                                             |
| `signature`            | which findings are the same one                                                            |
| `programs`, `batch`    | the programs of a batch, examined                                                          |
| `reordered_loops`      | C with reordered loops, where there are some                                               |
| `coverage`             | which clauses, operators and kinds of nodes occurred                                       |
| `shrink`               | a finding's program made smaller                                                           |
| `worker`, `cage`       | a process with limits that does it, and the side of it that waits                          |
| `jobs`, `executors`    | jobs in such a process: a batch, and the program that ended it; executors                  |
| `journal`, `store`     | what is on disk; `finding_text`: a finding for people, `finding_file`: read and made again |
| `campaign`, `progress` | all of it together, and how far it is                                                      |
"""
