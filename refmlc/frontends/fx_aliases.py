"""Calls in place in `torch.fx` graphs: each node is a value here, so a change must not be seen through another node."""

from collections.abc import Iterator

from torch import fx, nn

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP

VIEWS = frozenset(
    {
        *("view", "view_as", "reshape", "reshape_as", "flatten", "unflatten", "ravel", "permute", "movedim"),
        *("transpose", "swapaxes", "t", "T", "mT", "unsqueeze", "squeeze", "expand", "expand_as", "broadcast_to"),
        *("slice", "select", "narrow", "split", "chunk", "unbind", "getitem", "getattr", "diagonal", "contiguous"),
        *("detach", "to", "float", "double", "half", "long", "int", "bool", "type_as", "dropout", "feature_dropout"),
        *("alias", "cpu", "requires_grad_", "detach_"),
    }
)
"""Functions and methods whose result may be a part of their argument, or the argument itself."""

VIEWING = (nn.Flatten, nn.Unflatten, nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)
OPERATORS = frozenset({"iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor"})


def check_in_place(model: fx.GraphModule, node: fx.Node) -> None:
    """Nothing, where the node changes no tensor that a later node sees by another name. Fails: RM501."""
    changed = node.args[0] if node.args else None
    if not isinstance(changed, fx.Node) or not _is_in_place(model, node):
        return
    order = {item: place for place, item in enumerate(model.graph.nodes)}
    for alias in _aliases(model, changed, {node}):
        later = [user for user in alias.users if user is not node and order[user] > order[node]]
        if later:
            what = f"`{node.name}` changes `{alias.name}` in place, and `{later[0].name}` sees it afterwards"
            raise fail(UNSUPPORTED_OP, what, None, "`torch.export.export` writes a model without such changes")


def _name(node: fx.Node) -> str:
    return str(node.target) if node.op == "call_method" else str(getattr(node.target, "__name__", node.target))


def _is_in_place(model: fx.GraphModule, node: fx.Node) -> bool:
    if node.op == "call_module":
        return bool(getattr(model.get_submodule(str(node.target)), "inplace", False))
    name = _name(node)
    marked = name.endswith("_") and not name.endswith("__") and name not in VIEWS
    return bool(marked or name in OPERATORS or name == "setitem" or node.kwargs.get("inplace"))


def _is_view(model: fx.GraphModule, node: fx.Node) -> bool:
    if node.op == "call_module":
        return isinstance(model.get_submodule(str(node.target)), VIEWING)
    return node.op in {"call_method", "call_function"} and _name(node) in VIEWS


def _aliases(model: fx.GraphModule, first: fx.Node, visited: set[fx.Node]) -> Iterator[fx.Node]:
    """The nodes that may hold elements of the same memory: views of it, and what it is a view of."""
    result = [first]
    while result:
        node = result.pop()
        if node in visited:
            continue
        visited.add(node)
        yield node
        result += [user for user in node.users if _is_view(model, user) or _is_in_place(model, user)]
        if _is_view(model, node) or _is_in_place(model, node):
            result += node.all_input_nodes[:1]
