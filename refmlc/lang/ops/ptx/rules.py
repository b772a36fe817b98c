"""Which modifiers of a form go together, as the lines of syntax of PTX ISA 9.4 say, and no dtype but what they name.

A rule gets the modifiers by slot, empty where there is none, and gives what is wrong; empty: nothing.
"""

from collections.abc import Callable, Mapping

from refmlc.lang.ops.ptx.forms import Form

Modifiers = Mapping[str, str]
Rule = Callable[[Modifiers], str]

ORDERED = ("eq", "ne", "lt", "le", "gt", "ge")
UNSIGNED = ("lo", "ls", "hi", "hs")
TO_INTEGER = ("rni", "rzi", "rmi", "rpi")
TO_FLOAT = ("rn", "rz", "rm", "rp")
FRACTION = {"bf16": 7, "f16": 10, "f32": 23, "f64": 52}
EXPONENT = {"f16": 5, "bf16": 8, "f32": 8, "f64": 11}


def problem(form: Form, modifiers: Modifiers) -> str:
    """What is wrong with the modifiers of a form, each of which is one of its slot; empty: nothing."""
    missing = [slot.name for slot in form.slots if not slot.optional and not modifiers[slot.name]]
    if missing:
        return f"it needs a modifier for {' and '.join(missing)}"
    rule = RULES.get(form.name)
    return rule(modifiers) if rule is not None else ""


def _only(modifiers: Modifiers, name: str, types: tuple[str, ...], key: str = "type") -> str:
    wrong = modifiers.get(name) and modifiers[key] not in types
    return f"`.{modifiers[name]}` goes with {' and '.join(types)} only" if wrong else ""


def _float_arithmetic(m: Modifiers) -> str:
    if m.get("srctype"):
        if m["type"] != "f32" or m["ftz"]:
            return f"a source of {m['srctype']} goes with f32 only, without `.ftz`"
        return ""
    return _only(m, "ftz", ("f32", "f32x2")) or _only(m, "sat", ("f32",))


def _ftz_f32(m: Modifiers) -> str:
    return _only(m, "ftz", ("f32",))


def _approximate(m: Modifiers) -> str:
    if m["mode"] in ("approx", "full") and m["type"] != "f32":
        return f"`.{m['mode']}` goes with f32 only"
    return _ftz_f32(m)


def _reciprocal(m: Modifiers) -> str:
    if m["mode"] == "approx":
        return "`.approx` of f64 needs `.ftz`" if m["type"] == "f64" and not m["ftz"] else ""
    return _ftz_f32(m)


def _half(m: Modifiers) -> str:
    return _only(m, "ftz", ("f16", "f16x2")) or _only(m, "sat", ("f16", "f16x2"))


def _half_fma(m: Modifiers) -> str:
    if m["oob"] and (m["ftz"] or m["sat"]):
        return "`.oob` goes without `.ftz` and `.sat`"
    if m["sat"] and m["relu"]:
        return "`.sat` and `.relu` exclude each other"
    return _half(m)


def _half_ex2(m: Modifiers) -> str:
    return "`.ftz` is written for bf16, and only there" if bool(m["ftz"]) != m["type"].startswith("bf16") else ""


def _min_max(m: Modifiers) -> str:
    flags = m["ftz"] or m["nan"] or m["xorsign"] or m["abs"]
    if m["type"][0] in "us":
        return "`.ftz`, `.NaN`, `.xorsign`, `.abs` go with floats only" if flags else _only(m, "relu", ("s16x2", "s32"))
    if m["relu"]:
        return "`.relu` goes with s16x2 and s32 only"
    if m["type"] == "f64" and flags:
        return "f64 takes no modifier"
    if bool(m["xorsign"]) != bool(m["abs"]):
        return "`.xorsign` and `.abs` go together"
    return _only(m, "ftz", ("f32", "f16", "f16x2"))


def _high_saturated(m: Modifiers) -> str:
    return "`.sat` goes with `.hi.s32` only" if m["sat"] and (m["mode"], m["type"]) != ("hi", "s32") else ""


def _comparison(m: Modifiers) -> str:
    source, operator = m.get("stype") or m["type"], m["cmp"]
    if m["ftz"] and source != "f32":
        return "`.ftz` goes with f32 only"
    return _operator(source, operator)


def _operator(source: str, operator: str) -> str:
    allowed: tuple[str, ...] = ORDERED
    match source[0]:
        case "b" if not source.startswith("bf"):
            allowed = ("eq", "ne")
        case "u":
            allowed = (*ORDERED, *UNSIGNED)
        case "f" | "b":
            return f"`.{operator}` is no comparison of floats" if operator in UNSIGNED else ""
    return "" if operator in allowed else f"`.{operator}` is no comparison of {source}"


def _half_set(m: Modifiers) -> str:
    target, source = m["dtype"], m["stype"]
    match target:
        case "f16" | "bf16":
            paired = source != "bf16" and not source.endswith("x2")
        case "f16x2" | "bf16x2":
            paired = source == target
        case "u16" | "s16":
            paired = source in ("f16", "bf16")
        case _:
            paired = source in ("f16", "bf16", "f16x2", "bf16x2")
    if not paired:
        return f"there is no `set` to {target} of {source}"
    if m["ftz"] and (target.startswith("bf16") or source not in ("f16", "f32", "f16x2")):
        return "`.ftz` goes with sources of f16, f16x2 and f32 only, and with no target of bf16"
    if source[0] == "u" and m["cmp"] in UNSIGNED:
        return f"`.{m['cmp']}` is no comparison here"
    return _operator(source, m["cmp"])


def _half_setp(m: Modifiers) -> str:
    return _only(m, "ftz", ("f16", "f16x2"))


def _packed_set(m: Modifiers) -> str:
    return f"`.{m['cmp']}` is no comparison of {m['type']}" if m["type"][0] == "s" and m["cmp"] in UNSIGNED else ""


def _select_by_sign(m: Modifiers) -> str:
    return _only(m, "ftz", ("f32",), "ctype")


# ----------------------------------------------------------------------------------------------- conversions


def _bits(integer: str) -> int:
    return int(integer[1:])


def _covers(target: str, source: str) -> bool:
    """Whether all numbers of the integer type `source` are numbers of `target`."""
    if target[0] == source[0]:
        return _bits(target) >= _bits(source)
    return target[0] == "s" and _bits(target) > _bits(source)


def _convert(m: Modifiers) -> str:
    target, source, rounding = m["dtype"], m["atype"], m["rnd"]
    if m["relu"] or m["satfinite"]:
        plain = target in ("f16", "bf16") and source == "f32" and rounding in ("rn", "rz")
        return "" if plain and not m["ftz"] and not m["sat"] else "`.relu` and `.satfinite` go with f16 or bf16 of f32"
    integers = (target[0] in "us", source[0] in "us")
    wrong = _rounding(target, source, rounding, integers)
    if wrong:
        return wrong
    if m["ftz"] and "f32" not in (target, source):
        return "`.ftz` goes with f32 only"
    if m["sat"] and (all(integers) and _covers(target, source)):
        return f"all numbers of {source} are numbers of {target}: there is nothing to saturate"
    if m["sat"] and (target == "bf16" or source == "bf16"):
        return "`.sat` does not go with bf16"
    if {target, source} in ({"bf16", "u8"}, {"bf16", "s8"}):
        return "there is no conversion between bf16 and integers of 8 bits"
    return ""


def _rounding(target: str, source: str, rounding: str, integers: tuple[bool, bool]) -> str:
    match integers:
        case (True, True):
            return "integers are not rounded" if rounding else ""
        case (True, False):
            return "" if rounding in TO_INTEGER else "a float to an integer needs `.rni`, `.rzi`, `.rmi` or `.rpi`"
        case (False, True):
            return "" if rounding in TO_FLOAT else "an integer to a float needs `.rn`, `.rz`, `.rm` or `.rp`"
    if target == source:
        return "a float of the same type is rounded to an integer only" if rounding in TO_FLOAT else ""
    loses = FRACTION[target] < FRACTION[source] or EXPONENT[target] < EXPONENT[source]
    if loses:
        return "" if rounding in TO_FLOAT else f"{source} to {target} needs `.rn`, `.rz`, `.rm` or `.rp`"
    return f"{source} to {target} is exact" if rounding else ""


def _tf32(m: Modifiers) -> str:
    return "`.rna` goes without `.relu`" if m["rnd"] == "rna" and m["relu"] else ""


def _narrow(m: Modifiers) -> str:
    plain = m["rnd"] == "rn" and not m["pzo"] and not m["scaled"]
    return "`.rn` alone is another form" if plain else ""


# ----------------------------------------------------------------------------------------------- memory


def _access(m: Modifiers, strong: str) -> str:
    """A load or a store; `strong` is the order that only it may have."""
    order, space, operation = m["sem"], m["space"], m["cop"]
    eviction = m["l1ev"] or m.get("l2ev", "")
    ordered = order in ("relaxed", strong)
    if ordered != bool(m["scope"]):
        return f"`.relaxed` and `.{strong}` need a scope, and nothing else has one"
    if m.get("mmio"):
        return _mapped(m, ordered=ordered, hints=bool(operation or eviction or m.get("nc") or m.get("prefetch")))
    if m["cache"] and space not in ("", "global"):
        return "`.L2::cache_hint` goes with the global space only"
    if ordered and (space == "local" or operation or m.get("nc")):
        return f"`.{order}` goes without local memory, cache operators and `.nc`"
    if order == "volatile" and (operation or eviction or m.get("nc") or m["cache"]):
        return "`.volatile` goes without hints"
    if operation and eviction:
        return "a cache operator and a priority of eviction exclude each other"
    if m.get("nc") and (space != "global" or order or operation in ("lu", "cv")):
        return "`.nc` goes with `ld.global` alone"
    if (m.get("prefetch") or eviction) and space not in ("", "global"):
        return "hints on prefetch and eviction go with the global space only"
    return ""


def _mapped(m: Modifiers, *, ordered: bool, hints: bool) -> str:
    fits = ordered and m["scope"] == "sys" and m["space"] in ("", "global") and not hints and not m["cache"]
    return "" if fits else "`.mmio` goes with an order, the scope sys and the global space, without hints"


def _load(m: Modifiers) -> str:
    return _access(m, "acquire")


def _store(m: Modifiers) -> str:
    return _access(m, "release")


def _vector(access: Rule) -> Rule:
    def rule(m: Modifiers) -> str:
        return _halfway(m) or access(m)

    return rule


def _halfway(m: Modifiers) -> str:
    return "`.v4` of 64 bits is another form" if m["vec"] == "v4" and m["type"].endswith("64") else ""


def _wide_vector(access: Rule) -> Rule:
    def rule(m: Modifiers) -> str:
        fits = (m["vec"], m["type"][1:]) in (("v8", "32"), ("v4", "64"))
        return access(m) if fits else "256 bits are `.v8` of 32 or `.v4` of 64 bits"

    return rule


def _prefetch(m: Modifiers) -> str:
    if sum(bool(m[name]) for name in ("level", "evict", "tensormap")) != 1:
        return "it takes a level, a priority of eviction or `.tensormap`"
    if m["tensormap"]:
        return "" if m["space"] in ("", "const", "param") else "`.tensormap` goes with const and param only"
    if m["space"] in ("const", "param") or (m["evict"] and m["space"] != "global"):
        return "it goes with another space"
    return ""


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("add", "sub", "mul", "fma", "mad_f"), _float_arithmetic),
    **dict.fromkeys(("abs_f", "neg"), _ftz_f32),
    **dict.fromkeys(("div_f", "sqrt"), _approximate),
    "rcp": _reciprocal,
    **dict.fromkeys(("add_half", "sub_half", "mul_half"), _half),
    "fma_half": _half_fma,
    **dict.fromkeys(("abs_half", "neg_half"), _half_setp),
    "ex2_half": _half_ex2,
    **dict.fromkeys(("min", "max"), _min_max),
    **dict.fromkeys(("add_int", "sub_int"), lambda m: _only(m, "sat", ("s32",))),
    **dict.fromkeys(("mad_int", "mad24"), _high_saturated),
    **dict.fromkeys(("set", "set_bool", "setp", "setp_pq", "setp_bool", "setp_bool_pq"), _comparison),
    **dict.fromkeys(("set_half", "set_half_bool"), _half_set),
    **dict.fromkeys(("setp_half", "setp_half_pq", "setp_half_bool", "setp_half_bool_pq"), _half_setp),
    "set_packed": _packed_set,
    "slct": _select_by_sign,
    "cvt": _convert,
    "cvt_tf32_f32": _tf32,
    **dict.fromkeys(("cvt_94_narrow_f32", "cvt_94_narrow_fp16x2"), _narrow),
    "ld": _load,
    "ld_vec": _vector(_load),
    "ld_vec256": _wide_vector(_load),
    "ldu_vec": _halfway,
    "st": _store,
    "st_vec": _vector(_store),
    "st_vec256": _wide_vector(_store),
    "prefetch": _prefetch,
}
