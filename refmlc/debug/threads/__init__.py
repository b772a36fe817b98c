"""Threads of the program that take turns: where each stands, what it waits for, and who could end the wait.

| file       | holds                                                                        |
|------------|------------------------------------------------------------------------------|
| `roster`   | the threads of the block that runs now, and which of them runs, waits, ended  |
| `numbers`  | the number of the thread that executes a place, also where threads never meet |
| `standing` | each thread as data: its place, what it waits for, its copies in flight       |
| `awaited`  | whom each wait is for, and the cycle of a deadlock                            |
| `chosen`   | the threads that a request names                                              |
| `barriers` | the barriers in memory, and the numbered ones                                |
| `arrivals` | the statements that arrive at a barrier in memory, and who can still reach one |

Going back needs nothing of this: a run repeats itself from before the block, and the threads with it.
"""
