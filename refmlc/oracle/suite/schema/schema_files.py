"""The files of schemas; requests, replies and values are those of `conformance/adapters/PROTOCOL.md`."""

import json
from collections.abc import Mapping

from refmlc.lang.ir.tree import Json
from refmlc.oracle.suite.schema.nodes import node_definitions
from refmlc.oracle.suite.schema.values import NATURAL, STRING, any_of, case_properties, listed, record, ref, values

_FLAG: Json = {"type": "boolean"}


def definitions() -> dict[str, Json]:
    """`request`, `reply`, `snapshot`, and their parts. Replies may have further keys, which are ignored."""
    requests = _requests()
    return {
        "request": any_of(*map(ref, requests)),
        **requests,
        "reply": any_of(ref("hello_reply"), ref("prepare_reply"), ref("run_reply"), ref("stop")),
        **_replies(),
        "snapshot": any_of(
            record({"name": STRING, "text": STRING}),
            record({"within": STRING}),
            record({"refused": STRING}),
            record({"done": {"const": True}}),
        ),
        "value": _value(),
    }


def _requests() -> dict[str, Json]:
    seconds: Json = {"type": "number", "exclusiveMinimum": 0}
    hello: dict[str, Json] = {
        "do": {"const": "hello"},
        "version": {"const": 1},
        "folder": STRING,
        "seconds": seconds,
        "prepare_seconds": seconds,
        "bytes": NATURAL,
    }
    prepare: dict[str, Json] = {"do": {"const": "prepare"}, "module": STRING}
    tree: dict[str, Json] = {"tree": {"type": ["object", "null"]}}
    run: dict[str, Json] = {"do": {"const": "run"}, "func": STRING, "args": listed(ref("value"))}
    passes: dict[str, Json] = {
        "do": {"const": "passes"},
        "module": STRING,
        "passes": any_of(listed(STRING), {"type": "null"}),
        "file": STRING,
        "seconds": seconds,
    }
    numbered: list[Json] = [record({**prepare, "id": NATURAL}, tree), record({**run, "id": NATURAL})]
    batch: dict[str, Json] = {"do": {"const": "batch"}, "requests": {**listed(any_of(*numbered)), "minItems": 1}}
    close: dict[str, Json] = {"do": {"const": "close"}}
    requests = {"hello": hello, "prepare": prepare, "run": run, "batch": batch, "passes": passes, "close": close}
    return {**{name: record(each) for name, each in requests.items()}, "prepare": record(prepare, tree)}


def _replies() -> dict[str, Json]:
    stops: list[Json] = ["unsupported", "rejected", "undefined", "trap", "exhausted", "crashed", "timed out"]
    hello: dict[str, Json] = {
        "version": STRING,
        "verdicts": _FLAG,
        "features": listed(STRING),
        "inline": _FLAG,
        "tree": _FLAG,
        "batch": NATURAL,
        "passes": _FLAG,
    }
    stop: dict[str, Json] = {
        "id": NATURAL,
        "message": STRING,
        "code": {"type": "string", "pattern": "^RM[0-9]{3}$"},
        "place": {"type": "string", "pattern": "^[1-9][0-9]{0,8}:[1-9][0-9]{0,8}$"},
    }
    return {
        "hello_reply": _open({"name": STRING}, hello),
        "prepare_reply": _open({"ok": {"const": True}}, {"id": NATURAL}),
        "run_reply": _open({"value": ref("value"), "args": listed(ref("value"))}, {"id": NATURAL}),
        "stop": _open({"stop": {"enum": stops}}, stop),
    }


def _open(required: dict[str, Json], optional: dict[str, Json]) -> Json:
    return {**record(required, optional), "additionalProperties": True}


def _value() -> Json:
    integer: Json = {"type": "integer"}
    number: Json = any_of({"type": "number"}, {"enum": ["nan", "inf", "-inf"]})
    kinds: dict[str, Json] = {
        "int": integer,
        "bool": {"type": "boolean"},
        "float": number,
        "shape": listed(integer),
        "tuple": listed(ref("value")),
        "string": STRING,
        "same": NATURAL,
    }
    tensor: dict[str, Json] = {"kind": {"const": "tensor"}, "dtype": STRING, "shape": listed(NATURAL)}
    values: dict[str, Json] = {
        "values": listed(any_of({"type": ["number", "boolean"]}, {"enum": ["nan", "inf", "-inf"]}))
    }
    return any_of(
        *(_open({"kind": {"const": kind}, "value": value}, {}) for kind, value in kinds.items()),
        _open({"kind": {"const": "null"}}, {}),
        _open({**tensor, "file": {"type": "string", "pattern": "^[^/\\u0000]+$"}}, {}),
        _open({**tensor, **values}, {}),
    )


DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema_texts() -> Mapping[str, str]:
    """The text of each file by its name."""
    schemas = {"case-file.json": case_file(), "case.json": case(), "protocol.json": protocol()}
    return {name: json.dumps(schema, indent=1, ensure_ascii=False) + "\n" for name, schema in schemas.items()}


def case_file() -> Json:
    """A file of the suite."""
    optional: dict[str, Json] = {"module": STRING, "uses": STRING, "implementation": STRING}
    case_schema: Json = {
        **record(case_properties(), optional),
        "oneOf": [{"required": ["module"]}, {"required": ["uses"]}],
    }
    modules: Json = {"type": "object", "additionalProperties": STRING}
    schema = record({"case": {"type": "array", "items": ref("case"), "minItems": 1}}, {"modules": modules})
    return {"$schema": DRAFT, "title": "A file of cases", **schema, "$defs": {"case": case_schema, **values()}}


def case() -> Json:
    required: dict[str, Json] = {
        **case_properties(),
        "format": {"const": "refmlc-case"},
        "version": {"const": 1},
        "suite": STRING,
        "text": STRING,
        "module": any_of(ref("module.IRModule"), {"type": "null"}),
    }
    note = "A case. `module` is the tree of `text`; null where the text is to be rejected."
    head: dict[str, Json] = {"$schema": DRAFT, "title": note}
    return {**head, **record(required), "$defs": {**values(), **node_definitions()}}


def protocol() -> Json:
    head: dict[str, Json] = {
        "$schema": DRAFT,
        "title": "The lines that an implementation reads and writes: one JSON object each",
    }
    return {**head, **any_of(ref("request"), ref("reply")), "$defs": definitions()}
