"""Programs that ask several operators of the same arguments, and give a tuple of what comes."""

import numpy as np
from book import Judged, given
from op_usual import HEAD, type_of


def one(book, name, clauses, inputs, form, found, *more, **options):
    """A case of one form."""
    several(book, name, clauses, inputs, [(form, found)], *more, **options)


def several(book, name, clauses, inputs, rows, *more, witness="", types=(), before="", declared=()):
    """A case. `rows`: forms, each with what the witness has. `more`: further calls, each inputs and what is found.

    `types` says what the parameters are, where that is not the shapes of `inputs`; `before`: a line in front;
    `declared`: the type that each result is said to have.
    """
    types = [*types, *(type_of(np.asarray(x)) for x in inputs[len(types) :])]
    params = ", ".join(f"{name}: {each}" for name, each in zip("abcdefgh", types, strict=False))
    said = [f": {each}" for each in declared] or [""] * len(rows)
    lines = "".join(f"    y{at}{ty} = R.{form}\n" for at, ((form, _), ty) in enumerate(zip(rows, said, strict=True)))
    names = ", ".join(f"y{at}" for at in range(len(rows)))
    head = f"{HEAD}@R.function\ndef main({params}):\n" + (f"    {before}\n" if before else "")
    text = f"{head}{lines}    return {f'({names})' if len(rows) > 1 else names}\n"
    calls = [(inputs, [found for _, found in rows]), *more]
    asked = [
        Judged([x if isinstance(x, dict) else given(np.asarray(x)) for x in call], _one(found)) for call, found in calls
    ]
    book.judged(name, clauses.split(), text, asked, witness=witness)


def _one(found):
    """The results as a list, or the only one."""
    arrays = [[_plain(f) for f in each] if isinstance(each, list) else _plain(each) for each in found]
    return arrays if len(arrays) > 1 else arrays[0]


def _plain(found):
    return np.ascontiguousarray(found).reshape(np.shape(found))
