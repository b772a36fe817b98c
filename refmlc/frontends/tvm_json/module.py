"""A module from TVM's JSON. One function that was saved alone is a module of it, called as it says, else `main`."""

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, UNSUPPORTED_CONSTRUCT
from refmlc.frontends.malformed_input import malformed
from refmlc.frontends.tvm_json.graph import Item, read_graph
from refmlc.frontends.tvm_json.graphs import Graphs
from refmlc.lang.ir import IRModule, relax, tir

AnyFunction = tir.PrimFunc | relax.Function | relax.ExternFunc


def from_json(text: str) -> IRModule:
    """The module of a text that `tvm.ir.save_json` wrote.

    Fails: RM109 for an invalid text, RM504 for unsupported nodes, by their name in TVM.
    """
    root, version = read_graph(text)
    try:
        with malformed(root.graph.place):
            return _module(root, version)
    except RecursionError:
        raise fail(BAD_FILE, "the JSON graph has a cycle, or is nested too deeply") from None


def _module(root: Item, version: str) -> IRModule:
    if version and version.split(".")[:2] < ["0", "2"]:
        raise fail(UNSUPPORTED_CONSTRUCT, f"the JSON of TVM {version} is not supported: it has another format")
    if root.kind != "ir.IRModule":
        result = _function(root)
        symbol = Graphs().attrs(root.optional("attrs")).get("global_symbol", "main")
        return IRModule({str(symbol): result})
    functions: dict[str, AnyFunction] = {}
    for key, value in root.node("functions").pairs():
        name = key.text("name_hint")
        if name in functions:
            raise key.broken(f"a name other than `{name}`, which another function has,")
        functions[name] = _function(value)
    reader = Graphs()
    infos = [key.text() for key, _ in root.node("global_infos").pairs()]
    if infos:
        raise fail(UNSUPPORTED_CONSTRUCT, f"global infos ({', '.join(infos)}) of TVM's JSON are not supported")
    return IRModule(functions, reader.attrs(root.optional("attrs")))


def _function(item: Item) -> AnyFunction:
    """A function; its variables are its own."""
    match item.kind:
        case "tirx.PrimFunc":
            return Graphs().prim_func(item)
        case "relax.expr.Function":
            return Graphs().relax_func(item)
        case "relax.expr.ExternFunc":
            return relax.ExternFunc(item.text("global_symbol"))
        case _:
            raise item.unknown(" as a function")
