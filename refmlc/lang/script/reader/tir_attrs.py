"""Constructs that only attributes hold: reducers, index maps, targets.

| text                                                    | node          |
|---------------------------------------------------------|---------------|
| `T.comm_reducer(lambda x, y: x + y, [T.float32(0)])`    | `CommReducer` |
| `T.index_map(lambda i, j: (j, i), inverse_index_map=…)` | `IndexMap`    |
| `T.target({"kind": "llvm"})`, `T.target("llvm")`        | `Target`      |
| `tvm.target.Target("llvm", host="llvm")`                | `Target`      |
"""

from dataclasses import replace

from refmlc.diag import Span
from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.attrs import CommReducer, IndexMap, Target
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.attributes import attr_of
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.table import CallHandler
from refmlc.lang.script.reader.tir_operands import expr_of, tuple_of
from refmlc.lang.script.reader.values import Lambda, Meta


def _comm_reducer(ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(combiner=REQUIRED, identity=REQUIRED)
    combiner = arguments["combiner"]
    if not isinstance(combiner, Lambda):
        raise site.wrong("combiner", combiner, "a lambda")
    identity = tuple(expr_of(item, site.span) for item in tuple_of(arguments["identity"]))
    count = len(combiner.params)
    if count != 2 * len(identity):
        raise site.misfit(f"takes a lambda of {2 * len(identity)} parameters and gets one of {count}")
    dtypes = [node.dtype for node in identity]
    params = _params(combiner.params, [*dtypes, *dtypes], site.span)
    result = ev.apply(combiner, params, site.span)
    values = tuple(expr_of(item, site.span) for item in tuple_of(result))
    half = len(identity)
    return CommReducer(params[:half], params[half:], values, identity, span=site.span)


def _params(names: tuple[str, ...], dtypes: list[DType], span: Span) -> tuple[tir.Var, ...]:
    return tuple(tir.Var(name, dtype, span=span) for name, dtype in zip(names, dtypes, strict=True))


def _index_map(ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(mapping=REQUIRED, inverse_index_map=None, index_dtype="int64")
    inverse = values["inverse_index_map"]
    mapped = _mapping(ev, values["mapping"], site)
    return IndexMap(
        mapped.initial, mapped.final, None if inverse is None else _mapping(ev, inverse, site), span=site.span
    )


def _mapping(ev: Evaluator, value: Meta, site: CallSite) -> IndexMap:
    if isinstance(value, IndexMap):
        return value
    if not isinstance(value, Lambda) or value.variadic is not None:
        raise site.wrong("mapping", value, "a lambda of named parameters")
    params = _params(value.params, [INT32] * len(value.params), site.span)
    final = ev.apply(value, params, site.span)
    return IndexMap(params, tuple(expr_of(item, site.span) for item in tuple_of(final)), span=site.span)


def _target(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(config=REQUIRED, host=None)
    config = values["config"]
    if isinstance(config, str):
        config = {"kind": config}
    if not isinstance(config, dict):
        raise site.wrong("config", config, "a dictionary or a string")
    table = {str(key): attr_of(item, site.span) for key, item in config.items()}
    if values["host"] is not None:
        table["host"] = attr_of(values["host"], site.span)
    return Target(table, span=site.span)


def _python_target(ev: Evaluator, site: CallSite) -> Meta:
    """`tvm.target.Target("llvm", host="llvm")`: the same, with other names of its parameters."""
    values = site.take(target=REQUIRED, host=None)
    if isinstance(values["target"], Target):
        raise site.wrong("target", values["target"], "a dictionary or a string")
    return _target(ev, replace(site, args=(values["target"],), kwargs={"host": values["host"]}))


CALLS: dict[str, CallHandler] = {
    "T.comm_reducer": _comm_reducer,
    "T.index_map": _index_map,
    "T.target": _target,
    "tvm.target.Target": _python_target,
}
