"""What the reader makes of a piece of TensorIR, as text that a test can state by hand.

`add:int32(i:int32, 3:int32)` is an `Apply`; other nodes are their names with their parts.
"""

from refmlc.lang.ir import tir
from refmlc.lang.script import read

BLANKS = "    "


def function(body, params="A: T.Buffer((8, 8), 'float32'), n: T.int32", decorator="@T.prim_func(s_tir=True)"):
    """The function `f` of these parameters and this body."""
    lines = "\n".join(BLANKS + line for line in body.strip("\n").split("\n"))
    return read(f"{decorator}\ndef f({params}):\n{lines}\n", "f.py")["f"]


def stmt(body, params="A: T.Buffer((8, 8), 'float32'), n: T.int32", decorator="@T.prim_func(s_tir=True)"):
    """The body of such a function, as text."""
    return shown(function(body, params, decorator).body)


def expr(text, params="A: T.Buffer((8, 8), 'float32'), n: T.int32"):
    """An expression, as text."""
    found = function(f"T.evaluate({text})", params).body
    assert isinstance(found, tir.Evaluate)
    return shown(found.value)


def shown(node):
    """A node as text."""
    match node:
        case tir.Var(name, dtype):
            return f"{name}:{dtype}"
        case tir.IntImm(dtype, value) | tir.FloatImm(dtype, value):
            return f"{value}:{dtype}"
        case tir.StringImm(value):
            return repr(value)
        case tir.Apply(op, args, dtype):
            return f"{op}:{dtype}({', '.join(map(shown, args))})"
        case tir.Call(callee, args, dtype):
            name = callee.name if isinstance(callee, tir.GlobalVar) else callee
            return f"call {name}:{dtype}({', '.join(map(shown, args))})"
        case tir.BufferLoad(buffer, indices, None):
            return f"{buffer.name}[{', '.join(map(shown, indices))}]"
        case tir.BufferLoad(buffer, indices, predicate):
            return f"{buffer.name}[{', '.join(map(shown, indices))}; {shown(predicate)}]"
        case tir.BufferStore(buffer, value, indices, predicate):
            mask = "" if predicate is None else f"; {shown(predicate)}"
            return f"{buffer.name}[{', '.join(map(shown, indices))}{mask}] = {shown(value)}"
        case tir.Buffer(name):
            return f"buffer {name}"
        case tir.BufferData(buffer):
            return f"{buffer.name}.data"
        case tir.BufferRegion(buffer, region):
            return f"{buffer.name}[{', '.join(map(shown, region))}]"
        case tir.Range(low, extent):
            return f"{shown(low)} +{shown(extent)}"
        case tir.SeqStmt(parts):
            return " ; ".join(map(shown, parts))
        case tir.Evaluate(value):
            return f"eval {shown(value)}"
        case tir.For(var, low, extent, kind, body, thread, annotations, step):
            tag = "" if thread is None else f" on {thread.tag}"
            notes = f" {annotations}" if annotations else ""
            by = "" if step is None else f" by {shown(step)}"
            return f"{kind.value} {shown(var)} in {shown(low)} +{shown(extent)}{by}{tag}{notes} {{ {shown(body)} }}"
        case tir.AllocBuffer(buffer, annotations):
            return f"alloc {spec(buffer)}{annotations or ''}"
        case tir.DeclBuffer(buffer, data):
            return f"decl {spec(buffer)} of {'nothing' if data is None else shown(data)}"
        case tir.Bind(var, value):
            return f"let {shown(var)} = {shown(value)}"
        case tir.AttrStmt(owner, key, value, body):
            return f"attr {shown(owner)} {key} {shown(value)} {{ {shown(body)} }}"
        case tir.ThreadVar(tag, var, dom):
            inside = "" if dom is None else f" in {shown(dom)}"
            return f"<{tag} {'' if var is None else shown(var)}{inside}>"
        case tir.IfThenElse(condition, then, None):
            return f"if {shown(condition)} {{ {shown(then)} }}"
        case tir.IfThenElse(condition, then, other):
            return f"if {shown(condition)} {{ {shown(then)} }} else {{ {shown(other)} }}"
        case tir.AssertStmt(condition, message, kind):
            return f"assert {shown(condition)} {kind} {message}"
        case tir.SBlockRealize(values, predicate, block):
            return (
                f"block {block.name}({', '.join(map(shown, values))}) if {shown(predicate)} {{ {inside_block(block)} }}"
            )
        case tuple() | list():
            return f"({', '.join(map(shown, node))})"
        case None | str() | int() | float() | dict():
            return repr(node)
        case _:
            names = [name for name in node.__dataclass_fields__ if name not in ("span", "dtype")]
            return f"{type(node).__name__}({', '.join(shown(getattr(node, name)) for name in names)})"


def inside_block(block):
    parts = [f"{iv.kind.value} {shown(iv.var)} in {shown(iv.dom)}" for iv in block.iter_vars]
    for word, regions in (("reads", block.reads), ("writes", block.writes)):
        if regions is not None:
            parts.append(f"{word} {', '.join(map(shown, regions))}".strip())
    parts += [f"alloc {spec(buffer)}" for buffer in block.alloc_buffers]
    parts += [f"match {spec(match.buffer)} with {shown(match.source)}" for match in block.match_buffers]
    parts += [f"note {block.annotations}"] if block.annotations else []
    parts += [f"init {{ {shown(block.init)} }}"] if block.init is not None else []
    return "; ".join([*parts, shown(block.body)])


def spec(buffer):
    """A buffer with what is not the default."""
    more = [
        f"strides={[shown(item) for item in buffer.strides]}" if buffer.strides else "",
        f"offset={shown(buffer.elem_offset)}" if buffer.elem_offset is not None else "",
        buffer.scope if buffer.scope != "global" else "",
        f"align={buffer.align}" if buffer.align != 64 else "",
        f"factor={buffer.offset_factor}" if buffer.offset_factor != 1 else "",
        f"axes={buffer.axis_separators}" if buffer.axis_separators else "",
    ]
    shape = ", ".join(map(shown, buffer.shape))
    return " ".join([f"{buffer.name}:{buffer.dtype}({shape})", *filter(None, more)])
