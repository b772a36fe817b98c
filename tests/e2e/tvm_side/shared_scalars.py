"""The text that TVM prints of a module, with the scope that it leaves out: that of its scalars in shared memory."""

import re
from collections import defaultdict

import tvm
import tvm_ffi

SCALAR = re.compile(r"^( *)(\w+): T\.(\w+)(?: = (.*))?$", re.MULTILINE)
RENAMED = re.compile(r"_\d+$")  # what TVM adds to a name that is taken


def parts_of(node):
    """A node of TVM, and all nodes that its fields have."""
    if isinstance(node, tvm_ffi.Array):
        for part in node:
            yield from parts_of(part)
    elif isinstance(node, tvm_ffi.Object):
        yield node
        info = type(node).__tvm_ffi_type_info__
        while info is not None:
            for field in info.fields:
                yield from parts_of(getattr(node, field.name, None))
            info = info.parent_type_info


def scopes_of(module):
    """The scopes of the buffers that a module or a function allocates: a list for each name, in their order."""
    functions = [*module.functions.values()] if isinstance(module, tvm.IRModule) else [module]
    scopes = defaultdict(list)
    for function in functions:
        for node in parts_of(function.body) if isinstance(function, tvm.tirx.PrimFunc) else ():
            if isinstance(node, tvm.tirx.AllocBuffer) and tuple(node.buffer.shape) == (1,):
                scopes[node.buffer.name].append(node.buffer.scope())
    return scopes


def with_scopes(module, text):
    """The text of a module or a function, whose scalars in shared memory TVM prints without their scope."""
    if not SCALAR.search(text):
        return text
    scopes = scopes_of(module)

    def declared(found):
        space, name, dtype, value = found.groups()
        own = scopes[name] or scopes[RENAMED.sub("", name)]
        if not own or own.pop(0) != "shared":
            return found[0]
        first = f"\n{space}{name} = {value}" if value else ""
        return f'{space}{name} = T.shared_scalar("{dtype}"){first}'

    return SCALAR.sub(declared, text)
