"""`refmlc play`: a page on loopback, with a module on the left, and its verdicts, traces and layout on the right.

| file       | does                                                                             |
|------------|----------------------------------------------------------------------------------|
| `examples` | the modules that the page offers                                                 |
| `layout`   | buffers, loops and graphs of the functions of a module                           |
| `answers`  | the answers to the page's requests, within budgets of steps and bytes            |
| `worker`   | the process that makes the answers: it may be killed at any time                 |
| `door`     | which requests are answered: those of the page itself, at the address printed    |
| `server`   | the server on loopback, and the owner of the worker                              |
| `page`     | the page, `templates/`                                                           |

The server reads no module: it hands the text to the worker, which has limits of time and memory, and hands the answer
back. A text is read as data; nothing is executed that is not TVMScript, and no request names a file or a program.
"""
