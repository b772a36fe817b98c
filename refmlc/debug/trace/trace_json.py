"""`Trace` as one JSON object (`schema.json`), and back. Columns are base64 of numbers in little-endian order.

| column  | numbers            | one for each                                          |
|---------|--------------------|--------------------------------------------------------|
| `site`  | uint32             | event that is kept                                     |
| `at`    | uint32             | the same                                               |
| `value` | float64            | the same                                               |
| `steps` | uint64             | the same; empty where no event was omitted              |
| `threads.turns` | int64       | turn of a thread, four                                 |
| `threads.ends`, `threads.blocks` | int64 | end of a wait, three; block of threads, four  |
| `ints`  | int64              | axis of an instance of a block                          |
| `contents[].values` | float64 | cell of the memory                                    |
| `contents[].known`  | uint8   | the same: 1 where it is initialised                    |
"""

import json
import sys
from array import array
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TypeAlias

from refmlc.debug.trace.events import (
    Contents,
    EventKind,
    EventSite,
    Trace,
    TracedBinding,
    TracedCall,
    TracedMemory,
    TracedTensor,
)
from refmlc.debug.trace.threads import TracedCopy, TracedThreads, TracedWait
from refmlc.diag import Source, Span, fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.render import render_text, to_json

FORMAT, VERSION = "refmlc-trace", 1
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


def packed(numbers: "array[int] | array[float]") -> str:
    """A column as text."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return b64encode(numbers.tobytes()).decode("ascii")


def as_data(trace: Trace) -> dict[str, Json]:
    """The trace as a JSON object."""
    names = list(trace.sources)
    return {
        "format": FORMAT,
        "version": VERSION,
        "function": trace.function,
        "total": trace.total,
        "kept": len(trace),
        "stride": trace.stride,
        "cut": trace.cut,
        "sampling": trace.sampling_note(),
        "counts": trace.counts,
        "first_nan": trace.first_nan,
        "first_inf": trace.first_inf,
        "failure": None if trace.failure is None else _failure(trace),
        "notes": trace.notes,
        "sources": [{"name": name, "text": text} for name, text in trace.sources.items()],
        "graphs": [{"function": name, "boxes": boxes} for name, boxes in trace.boxes.items()],
        "sites": [_site(site, names) for site in trace.sites],
        "memories": [{"base": row.base, "cells": row.cells, "dtype": row.dtype} for row in trace.memories],
        "tensors": [_tensor(tensor) for tensor in trace.tensors],
        "calls": [
            {"function": call.function, "tensors": [list(pair) for pair in call.tensors],
             "values": [list(pair) for pair in call.values]}
            for call in trace.calls
        ],
        "bindings": [_binding(binding) for binding in trace.bindings],
        "contents": [_contents(contents) for contents in trace.contents],
        "threads": _threads(trace.threads, names),
        "columns": {
            "site": packed(trace.site),
            "at": packed(trace.at),
            "value": packed(trace.value),
            "steps": packed(trace.steps),
            "ints": packed(trace.ints),
        },
    }  # fmt: skip


def _failure(trace: Trace) -> Json:
    assert trace.failure is not None  # noqa: S101 - asked by the caller
    data = to_json(trace.failure)
    return {"code": data["code"], "kind": data["kind"], "message": data["message"], "text": render_text(trace.failure)}


def _threads(threads: TracedThreads, names: Sequence[str]) -> Json:
    return {
        "turns": packed(threads.turns),
        "waits": [{"text": wait.text, "place": _place(wait.span, names)} for wait in threads.waits],
        "copies": [
            {"into": copy.into, "nbytes": copy.nbytes, "thread": copy.thread, "begin": copy.begin, "end": copy.end,
             "place": _place(copy.span, names)}
            for copy in threads.copies
        ],
        "cut": threads.cut,
        "ends": packed(threads.ends),
        "blocks": packed(threads.blocks),
    }  # fmt: skip


def _place(span: Span | None, names: Sequence[str]) -> Json:
    if span is None or span.source.name not in names:
        return None
    return [names.index(span.source.name), span.line, span.column, span.end_line, span.end_column]


def _site(site: EventSite, names: Sequence[str]) -> Json:
    place = _place(site.span, names)
    data: dict[str, Json] = {"kind": site.kind.value, "name": site.name, "function": site.function}
    return data | {"depth": site.depth, "place": place, "axes": list(site.axes)}


def _tensor(tensor: TracedTensor) -> Json:
    return {
        "name": tensor.name, "dtype": tensor.dtype, "shape": list(tensor.shape), "strides": list(tensor.strides),
        "lanes": tensor.lanes, "first": tensor.first, "memory": tensor.memory,
    }  # fmt: skip


def _binding(binding: TracedBinding) -> Json:
    numbers = {name: _number(getattr(binding, name)) for name in ("least", "greatest", "mean")}
    return {
        "call": binding.call, "name": binding.name, "tensors": list(binding.tensors), "text": binding.text,
        "count": binding.count, "known": binding.known, "nan": binding.nan, "inf": binding.inf, **numbers,
    }  # fmt: skip


def _number(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _contents(contents: Contents) -> Json:
    values = None if contents.values is None else packed(contents.values)
    return {
        "event": contents.event,
        "memory": contents.memory,
        "values": values,
        "known": b64encode(contents.known).decode("ascii"),
    }


def read_data(text: str) -> Trace:
    """The trace in a text made by `as_data`. Fails: RM109 (no trace, or another version)."""
    try:
        data = json.loads(text)
        if (data["format"], data["version"]) != (FORMAT, VERSION):
            raise fail(BAD_FILE, f"it is a {data['format']} of version {data['version']}, not {FORMAT} {VERSION}")
        return _read(data)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as bad:
        raise fail(BAD_FILE, f"the file is not a trace: {bad}") from None


def _read(data: Mapping[str, object]) -> Trace:
    trace = Trace(str(data["function"]), stride=int(data["stride"]), total=int(data["total"]))  # type: ignore[call-overload]
    columns, tables = data["columns"], data
    assert isinstance(columns, Mapping)  # noqa: S101 - the schema says so
    for name in ("site", "at", "value", "steps", "ints"):
        getattr(trace, name).frombytes(b64decode(columns[name]))
        if sys.byteorder == "big":
            getattr(trace, name).byteswap()
    trace.sources = {row["name"]: row["text"] for row in _rows(tables, "sources")}
    sources = [Source(name, text) for name, text in trace.sources.items()]
    _read_threads(trace.threads, data.get("threads"), sources)
    for row in _rows(tables, "sites"):
        span = _span(row["place"], sources)
        axes = tuple(row["axes"])
        trace.sites.append(EventSite(EventKind(row["kind"]), row["name"], row["function"], row["depth"], span, axes))
    trace.memories = [TracedMemory(**row) for row in _rows(tables, "memories")]
    trace.tensors = [
        TracedTensor(**{**row, "shape": tuple(row["shape"]), "strides": tuple(row["strides"])})
        for row in _rows(tables, "tensors")
    ]
    trace.calls = [
        TracedCall(row["function"], [tuple(pair) for pair in row["tensors"]], [tuple(pair) for pair in row["values"]])
        for row in _rows(tables, "calls")
    ]
    trace.bindings = [TracedBinding(**{**row, "tensors": tuple(row["tensors"])}) for row in _rows(tables, "bindings")]
    for row in _rows(tables, "contents"):
        values = None if row["values"] is None else array("d", b64decode(row["values"]))
        trace.contents.append(Contents(row["event"], row["memory"], values, b64decode(row["known"])))
    trace.boxes = {row["function"]: list(row["boxes"]) for row in _rows(tables, "graphs")}
    trace.cut = data["cut"]  # type: ignore[assignment]
    trace.counts = dict(data["counts"])  # type: ignore[call-overload]
    trace.notes = list(data["notes"])  # type: ignore[call-overload]
    trace.first_nan, trace.first_inf = data["first_nan"], data["first_inf"]  # type: ignore[assignment]
    return trace


def _span(place: Sequence[int] | None, sources: Sequence[Source]) -> Span | None:
    return None if place is None else Span(sources[place[0]], *place[1:])


def _read_threads(threads: TracedThreads, data: object, sources: Sequence[Source]) -> None:
    """Read the threads; a file of an earlier refmlc has none."""
    if not isinstance(data, Mapping):
        return
    for name in ("turns", "ends", "blocks"):
        column: array[int] = getattr(threads, name)
        column.frombytes(b64decode(data.get(name, "")))
        if sys.byteorder == "big":
            column.byteswap()
    threads.waits += [TracedWait(row["text"], _span(row["place"], sources)) for row in _rows(data, "waits")]
    threads.copies += [
        TracedCopy(row["into"], row["nbytes"], row["thread"], row["begin"], _span(row["place"], sources), row["end"])
        for row in _rows(data, "copies")
    ]
    threads.cut = bool(data["cut"])


def _rows(data: Mapping[str, object], name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - what JSON holds
    return data[name]
