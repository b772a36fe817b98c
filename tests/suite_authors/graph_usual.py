"""What the dense programs of the graph have in common: one parameter of any type, and no more functions than needed."""

import numpy as np
from hand import K, ask
from relax_usual import body

ANY = "x: R.Any"


def graph(book, name, clauses, lines, *calls, text="", dialect="0.27", **more):
    """A case of a module with nothing but `main`, whose parameter is of any type, unless told otherwise."""
    told = {"params": ANY, "funcs": "", **more}
    ask(book, name, clauses, text or body(lines, **told), *calls, dialect=dialect)


def kept(value, *results):
    """The parts that come back: the results, and the tensors that were given, unchanged."""
    fields = value if isinstance(value, list) else [value]
    return [*results, *(K for one in fields if isinstance(one, (np.ndarray, np.generic)))]
