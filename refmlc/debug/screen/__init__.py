"""The full screen, by Textual: source, threads, frames, variables, a tensor as heat map, and the prompt below.

| file    | holds                                              |
|---------|----------------------------------------------------|
| `heat`  | a tensor as characters: small to great, NaN, unset  |
| `panes` | what each part of the screen shows, as rich text     |
| `app`   | the screen: layout, keys, the prompt                 |
"""

from refmlc.debug.screen.app import Screen

__all__ = ["Screen"]
