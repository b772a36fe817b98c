"""What refmlc asks of the operating system: programs of others that it starts, folders that it leaves to nobody.

| module    | does                                                                                    |
|-----------|-----------------------------------------------------------------------------------------|
| `tree`    | starts a program and ends it, with all that it has started, wherever that has gone      |
| `output`  | keeps the begin and the end of what a program prints                                    |
| `lines`   | a process that answers lines of JSON, with limits of time and memory                    |
| `command` | runs a program to its end: at most so long, with what it prints                         |
| `fork`    | tries work in a fork of this process, which may die of it                               |
| `folders` | temporary folders; those of runs that were killed are removed when the next one is made |
| `git`     | names the files of a repository that differ from a revision                             |
| `file_changes` | names files that changed, when writing has ended                                   |
| `regular` | opens files, and no pipe on which reading waits for ever                                |
"""
