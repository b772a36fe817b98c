"""The parts of schemas that are written out: cases, their calls, values and assertions (`refmlc.oracle.evidence`)."""

from collections.abc import Mapping

from refmlc.lang.ir.tree import Json

STRING: Json = {"type": "string"}
NATURAL: Json = {"type": "integer", "minimum": 0}
HEX: Json = {"type": "string", "pattern": "^(-?0x[0-9a-f]+(\\.[0-9a-f]+)?p[+-][0-9]+|nan|inf|-inf)$"}
CODE: Json = {"type": "string", "pattern": "^RM[0-9]{3}$"}


def listed(item: Json) -> dict[str, Json]:
    """A list of `item`."""
    return {"type": "array", "items": item}


def record(required: Mapping[str, Json], optional: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """An object with these keys and no others."""
    keys: list[Json] = list(required)
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": keys,
        "additionalProperties": False,
    }


def ref(name: str) -> dict[str, Json]:
    """Another definition of the file."""
    return {"$ref": f"#/$defs/{name}"}


def any_of(*choices: Json) -> dict[str, Json]:
    return {"anyOf": list(choices)}


def values() -> dict[str, Json]:
    """The definitions: `number`, `tensor`, `argument`, `part`, `assertion`, `call`."""
    number = any_of({"type": ["integer", "boolean"]}, HEX, {"type": "string", "pattern": "^-?[0-9]+$"})
    tensor_values: dict[str, Json] = {
        "values": listed(any_of(ref("number"), {"const": "_"})),
        "bits": listed({"type": "integer"}),
    }
    packed: dict[str, Json] = {"packed": STRING, "written": STRING, "generator": STRING}
    form: dict[str, Json] = {"strides": listed(NATURAL), "offset": NATURAL, "locked": {"type": "boolean"}}
    typed: dict[str, Json] = {"dtype": STRING, "shape": listed(NATURAL)}
    tensor: dict[str, Json] = {
        "type": "object",
        "properties": {**typed, **tensor_values, **packed, **form},
        "required": ["dtype", "shape"],
        "anyOf": [{"required": [key]} for key in ("values", "packed", "generator")],
    }
    return {
        "number": number,
        "tensor": tensor,
        "argument": any_of(
            ref("tensor"),
            record({"same": NATURAL}),
            record({"number": STRING, "value": ref("number")}),
            record({"extents": listed({"type": "integer"})}),
            record({"tuple": listed(ref("argument"))}),
            {"type": "object", "not": any_of({"required": ["dtype"]}, {"required": ["number"]})},
        ),
        "part": _part(),
        "assertion": _assertion(),
        "call": record({"args": listed(ref("argument"))}, {"assert": ref("assertion")}),
    }


def _assertion() -> Json:
    """The expected result of a call."""
    return any_of(
        {
            "type": "object",
            "properties": {"kind": {"const": "return"}, "parts": listed(ref("part"))},
            "required": ["kind", "parts"],
        },
        {
            "type": "object",
            "properties": {"kind": {"enum": ["undefined", "trap", "reject"]}, "code": CODE, "place": STRING},
            "required": ["kind", "code"],
        },
        {"type": "object", "properties": {"kind": {"const": "open"}}, "required": ["kind"]},
    )


def _part() -> Json:
    """A returned value, and its rule."""
    rules: list[Json] = ["exact", "one of", "ulp", "certified", "kept", "hash", "any"]
    needs = {
        "one of": ["options"],
        "ulp": ["ulps", "values"],
        "certified": ["low", "high"],
        "hash": ["sha256"],
    }
    return {
        "type": "object",
        "properties": {
            "label": STRING,
            "rule": {"enum": rules},
            "dtype": STRING,
            "shape": listed(NATURAL),
            "values": listed(any_of(ref("number"), {"const": "_"})),
            "bits": listed({"type": "integer"}),
            "options": {"type": "array"},
            "ulps": {"type": "number", "minimum": 0},
            "low": listed(ref("number")),
            "high": listed(ref("number")),
            "specials": listed(STRING),
            "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "packed": STRING,
            "written": STRING,
            "extents": listed({"type": "integer"}),
            "value": ref("number"),
        },
        "required": ["rule"],
        "allOf": [
            {
                "if": {"properties": {"rule": {"const": rule}}},
                "then": {"required": list(map(str, keys))},
            }
            for rule, keys in needs.items()
        ],
    }


def case_properties() -> dict[str, Json]:
    """The keys that both forms of a case share."""
    return {
        "id": {"type": "string", "pattern": "^[a-z0-9]+(\\.[a-z0-9_-]+)+$"},
        "clauses": listed({"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}),
        "features": listed(STRING),
        "dialect": {"enum": ["2022", "2023", "0.27"]},
        "provenance": STRING,
        "func": STRING,
        "calls": {"type": "array", "items": ref("call"), "minItems": 1},
    }
