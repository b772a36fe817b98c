"""The line prompt: commands in the style of pdb, text in and text out; the command line reads and writes.

| file       | holds                                                     |
|------------|-----------------------------------------------------------|
| `table`    | the commands: names, arguments, help                      |
| `shell`    | executes one line on the session and returns the reply    |
| `motions`, `breakpoints`, `inspection`, `threads` | the handlers of the commands |
| `prompt_state` | state kept between two lines                          |
| `show`     | stops, frames, values and tensors as text                 |
| `thread_text` | threads and their waits as text                        |
| `completion` | the words that complete a line                          |
"""

from refmlc.debug.terminal.completion import completions
from refmlc.debug.terminal.shell import Shell

__all__ = ["Shell", "completions"]
