"""Identify equal findings: a digest of their description, without details of the program.

Numbers, names of variables and values in a message become `#` and `_`; code, verdict, path and the kind of node or
operator at the place stay.
"""

import hashlib
import re

QUOTED = re.compile(r"`[^`]*`")
HEXES = re.compile(r"\b0x[0-9a-f]+\b")
NUMBERS = re.compile(r"[-+]?\b(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|inf|nan)\b", re.IGNORECASE)
LISTS = re.compile(r"\[[#, ]*\]|\([#, ]*\)")
FILES = re.compile(r'File "[^"]*[/\\]([^"/\\]+)"')
SPACES = re.compile(r"\s+")
DIGITS = 12


def normalised(message: str) -> str:
    """The message without what differs from program to program."""
    text = FILES.sub(r"\1", message)
    text = NUMBERS.sub("#", HEXES.sub("#", QUOTED.sub("_", text)))
    return SPACES.sub(" ", LISTS.sub("#", text)).strip()


def signature(message: str, *names: str) -> str:
    """The name of all findings with these `names`, and with `message` once it is normalised."""
    whole = "\0".join((*names, normalised(message)))
    return hashlib.sha256(whole.encode()).hexdigest()[:DIGITS]
