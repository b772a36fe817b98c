"""Functions dropped, several at once; the attributes and devices of the module with them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from refmlc.oracle.reduce.subject import Edit, Subject, spans_of


def drop_functions(subject: Subject) -> Iterator[Edit]:
    """The module without some of its functions, never without the one that is called."""
    names = [name for name in subject.module.functions if name != subject.func]
    for piece in spans_of(len(names)):
        if len(names[piece]) < len(subject.module.functions):
            yield partial(_without, subject, frozenset(names[piece]))


def _without(subject: Subject, names: frozenset[str]) -> Subject:
    kept = {name: function for name, function in subject.module.functions.items() if name not in names}
    return subject.with_module(replace(subject.module, functions=kept))


def plain_module(subject: Subject) -> Iterator[Edit]:
    """The module without attributes, without devices, called `Module`."""
    module = subject.module
    if module.attrs or module.global_infos:
        yield lambda: subject.with_module(replace(module, attrs={}, global_infos={}))
        yield lambda: subject.with_module(replace(module, attrs={}))
        yield lambda: subject.with_module(replace(module, global_infos={}))
    if module.name != "Module":
        yield lambda: subject.with_module(replace(module, name="Module"))
