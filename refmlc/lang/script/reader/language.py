"""The module level of the language: what is neither TensorIR nor Relax."""

from collections.abc import Mapping

from refmlc.lang.ir.attrs import VDevice
from refmlc.lang.ir.tir import Attr
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.attributes import attr_of
from refmlc.lang.script.reader.constants import CONSTANTS
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.module import GlobalInfos, ModuleAttrs
from refmlc.lang.script.reader.numpy_constants import NUMPY
from refmlc.lang.script.reader.table import Table, merged
from refmlc.lang.script.reader.values import Meta, ShapeVar


def _type_var(_ev: Evaluator, site: CallSite) -> Meta:
    name = site.take(name=REQUIRED)["name"]
    if not isinstance(name, str):
        raise site.wrong("name", name, "a string")
    return ShapeVar(name)


def _mapping(site: CallSite, what: str) -> Mapping[str, Meta]:
    value = site.take(**{what: REQUIRED})[what]
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise site.wrong(what, value, "a dictionary")
    return value


def _module_attrs(_ev: Evaluator, site: CallSite) -> Meta:
    attrs = _mapping(site, "attrs")
    return ModuleAttrs({key: attr_of(value, site.span) for key, value in attrs.items()})


def _global_infos(_ev: Evaluator, site: CallSite) -> Meta:
    infos: dict[str, tuple[Attr, ...]] = {}
    for key, value in _mapping(site, "global_infos").items():
        items = value if isinstance(value, (list, tuple)) else (value,)
        infos[key] = tuple(attr_of(item, site.span) for item in items)
    return GlobalInfos(infos)


def _vdevice(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(target=REQUIRED, vdevice_id=0, memory_scope="global")
    index, scope = values["vdevice_id"], values["memory_scope"]
    if not isinstance(index, int) or not isinstance(scope, str):
        raise site.misfit("takes a number and a memory scope after the target")
    return VDevice(attr_of(values["target"], site.span), index, scope, span=site.span)


LANGUAGE = merged(
    CONSTANTS,
    NUMPY,
    Table(
        calls={
            "I.TypeVar": _type_var,
            "I.module_attrs": _module_attrs,
            "I.vdevice": _vdevice,
            "I.module_global_infos": _global_infos,
        }
    ),
)
