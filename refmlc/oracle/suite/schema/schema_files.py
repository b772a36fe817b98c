"""The files of schemas, as they are to be."""

import json
from collections.abc import Mapping

from refmlc.lang.ir.tree import Json
from refmlc.oracle.suite.schema.lines import definitions
from refmlc.oracle.suite.schema.nodes import node_definitions
from refmlc.oracle.suite.schema.values import STRING, any_of, case_properties, record, ref, values

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def written() -> Mapping[str, str]:
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
    whole = record({"case": {"type": "array", "items": ref("case"), "minItems": 1}}, {"modules": modules})
    return {"$schema": DRAFT, "title": "A file of cases", **whole, "$defs": {"case": case_schema, **values()}}


def case() -> Json:
    """An exported case."""
    required: dict[str, Json] = {
        **case_properties(),
        "format": {"const": "refmlc-case"},
        "suite": STRING,
        "text": STRING,
        "module": any_of(ref("module.IRModule"), {"type": "null"}),
    }
    note = "A case. `module` is the tree of `text`; null where the text is to be rejected."
    head: dict[str, Json] = {"$schema": DRAFT, "title": note}
    return {**head, **record(required), "$defs": {**values(), **node_definitions()}}


def protocol() -> Json:
    """The lines."""
    head: dict[str, Json] = {
        "$schema": DRAFT,
        "title": "The lines that an implementation reads and writes: one JSON object each",
    }
    return {**head, **any_of(ref("request"), ref("reply")), "$defs": definitions()}
