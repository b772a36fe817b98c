"""The line prompt: commands in pdb's habits as texts in and texts out; the command line does the reading and writing.

| file       | holds                                                     |
|------------|-----------------------------------------------------------|
| `table`    | the commands: names, what they take, help                  |
| `shell`    | one line in, its effect on the session, the text that follows |
| `moving`, `stopping`, `seeing` | what the commands do                    |
| `state`    | what is remembered between two lines                      |
| `show`     | stops, frames, values and tensors as text                 |
| `complete` | what a word that was begun may become                     |
"""

from refmlc.debug.terminal.complete import completions
from refmlc.debug.terminal.shell import Shell

__all__ = ["Shell", "completions"]
