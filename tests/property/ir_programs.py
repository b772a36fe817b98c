"""Random well-scoped TensorIR: every kind of expression and statement, blocks, buffers of symbolic shape.

Nodes are in the form that the reader gives them. Names are few and collide on purpose: what a node means is its
identity. Operands of an operator have one dtype, conditions are bool, loop variables have the dtype of their extent;
nothing is said about values, so such a program can be read and shown, and most cannot run.
"""

from contextlib import contextmanager

from hypothesis import strategies as st

from refmlc.lang.dtypes import BOOL, FLOAT32, HANDLE, INT32, INT64, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind, PointerType
from refmlc.lang.ir.visit import walk

UINT8, FLOAT16, FLOAT64 = dtype("uint8"), dtype("float16"), dtype("float64")
INTEGERS, FLOATS = (INT32, INT64, UINT8), (FLOAT32, FLOAT16, FLOAT64)
NUMBERS = (*INTEGERS, *FLOATS)
TRUE = tir.IntImm(BOOL, 1)
NAMES = st.sampled_from(("x", "x", "i", "A", "B", "v_i", "T", "R", "x_1", "cls", "main", "lambda_", "range"))
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
INTEGER_OPS = (
    *("add", "sub", "mul", "floordiv", "floormod", "truncdiv", "truncmod", "min", "max"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right"),
)
FLOAT_OPS = ("add", "sub", "mul", "div", "min", "max", "pow")
FLOAT_FUNCTIONS = ("exp", "sqrt", "tanh", "floor", "abs", "sigmoid")
SCOPES = ("global", "global", "shared", "local", "shared.dyn")
NUMBER = {count: st.integers(0, count - 1) for count in range(1, 101)}
ATTRIBUTES = st.recursive(
    st.one_of(
        st.integers(-5, 10**12),
        st.booleans(),
        st.floats(width=32),
        st.sampled_from(("", "text", 'a "b"', "two\nlines", "ä\\n")),
        st.sampled_from((tir.IntImm(INT64, 3), tir.IntImm(INT32, -1), tir.FloatImm(FLOAT32, 0.5))),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(("a", "b.c", "key")), inner, max_size=2),
    ),
    max_leaves=4,
)
ANNOTATIONS = st.dictionaries(st.sampled_from(("pragma_x", "a.b", "key")), ATTRIBUTES, max_size=2)


class Programs:
    """Draws nodes; knows the variables and buffers that are in scope."""

    def __init__(self, draw, *, old=False) -> None:
        self.draw = draw
        self.old = old  # texts before 0.27 have schedulable functions only
        self.variables: list[tir.Var] = []
        self.buffers: list[tir.Buffer] = []
        self.in_loop = False

    def choose(self, items):
        return items[self.draw(NUMBER[len(items)])]

    def chance(self, percent):
        return self.draw(NUMBER[100]) >= 100 - percent

    @contextmanager
    def scope(self):
        """What is defined inside is forgotten."""
        variables, buffers = list(self.variables), list(self.buffers)
        try:
            yield
        finally:
            self.variables, self.buffers = variables, buffers

    def variable(self, kind):
        return tir.Var(self.draw(NAMES), kind)

    # ------------------------------------------------------------------------------------------- expressions

    def constant(self, kind):
        if kind.is_float:
            value = self.choose((0.0, -0.0, 1.0, -2.5, 0.5, float("inf"), float("-inf"), float("nan"), 1024.0))
            return tir.FloatImm(kind, value)
        if kind.kind == "bool":
            return tir.IntImm(kind, self.choose((0, 1)))
        return tir.IntImm(kind, self.choose((0, 1, 2, 7, kind.maximum, kind.minimum)))

    def leaf(self, kind, depth=0):
        held = [var for var in self.variables if var.dtype == kind]
        loads = [buffer for buffer in self.buffers if buffer.dtype == kind]
        if held and self.chance(60):
            return self.choose(held)
        if loads and depth >= 0 and self.chance(50):
            return self.load(self.choose(loads), -1)
        return self.constant(kind)

    def load(self, buffer, depth):
        return tir.BufferLoad(buffer, self.indices(buffer, depth))

    def indices(self, buffer, depth):
        return tuple(self.expr(self.choose((INT32, INT32, INT64)), depth) for _ in buffer.shape)

    def expr(self, kind, depth):
        """An expression of the scalar dtype `kind`."""
        if depth <= 0 or self.chance(20):
            return self.leaf(kind, depth)
        forms = [self.cast, self.select, self.choice, self.let, self.extern]
        if kind.kind == "bool":
            forms += [self.comparison] * 4 + [self.logical] * 4 + [self.negation]
        else:
            forms += [self.arithmetic] * 8
        return self.choose(forms)(kind, depth - 1)

    def cast(self, kind, depth):
        return tir.Cast(kind, self.expr(self.choose([other for other in (*NUMBERS, BOOL) if other != kind]), depth))

    def select(self, kind, depth):
        return tir.Select(self.expr(BOOL, depth), self.expr(kind, depth), self.expr(kind, depth))

    def choice(self, kind, depth):
        return tir.IfThenElseExpr(self.expr(BOOL, depth), self.expr(kind, depth), self.expr(kind, depth))

    def let(self, kind, depth):
        value = self.expr(self.choose(NUMBERS), depth)
        var = self.variable(value.dtype)
        with self.scope():
            self.variables.append(var)
            return tir.Let(var, value, self.expr(kind, depth))

    def extern(self, kind, depth):
        args = tuple(self.expr(self.choose(NUMBERS), depth) for _ in range(self.draw(st.integers(0, 2))))
        return tir.Call("call_extern", (tir.StringImm("f"), *args), kind)

    def comparison(self, kind, depth):
        operands = self.choose(NUMBERS)
        return tir.Apply(self.choose(COMPARISONS), (self.expr(operands, depth), self.expr(operands, depth)), kind)

    def logical(self, _kind, depth):
        return self.choose((tir.And, tir.Or))(self.expr(BOOL, depth), self.expr(BOOL, depth))

    def negation(self, kind, depth):
        return tir.Apply("not", (self.expr(BOOL, depth),), kind)

    def arithmetic(self, kind, depth):
        if kind.is_float and self.chance(20):
            return tir.Apply(self.choose(FLOAT_FUNCTIONS), (self.expr(kind, depth),), kind)
        if not kind.is_float and self.chance(10):
            return tir.Apply(self.choose(("bitwise_not", "popcount")), (self.expr(kind, depth),), kind)
        op = self.choose(FLOAT_OPS if kind.is_float else INTEGER_OPS)
        return tir.Apply(op, (self.expr(kind, depth), self.expr(kind, depth)), kind)

    def vector(self, kind, lanes, depth):
        """An expression of `lanes` lanes of `kind`."""
        wide, count = kind.with_lanes(lanes), tir.IntImm(INT32, lanes)
        loads = [buffer for buffer in self.buffers if buffer.dtype == kind and buffer.shape]
        if kind in (INT32, INT64) and self.chance(30):
            return tir.Ramp(self.expr(kind, depth), tir.IntImm(kind, self.choose((1, 2, -1))), count, wide)
        if loads and self.chance(50):
            buffer = self.choose(loads)
            return tir.BufferLoad(buffer, self.vector_indices(buffer, lanes))
        if depth > 0 and self.chance(50):
            parts = (self.vector(kind, lanes, depth - 1), self.vector(kind, lanes, depth - 1))
            return tir.Apply(self.choose(("add", "mul", "max")), parts, wide)
        if depth > 0 and self.chance(30):
            other = self.choose([one for one in (INT32, FLOAT32, FLOAT16) if one != kind])
            return tir.Cast(wide, self.vector(other, lanes, depth - 1))
        if self.chance(20):
            parts = tuple(self.expr(kind, 0) for _ in range(lanes))
            return tir.Shuffle(parts, tuple(tir.IntImm(INT32, n) for n in reversed(range(lanes))), wide)
        return tir.Broadcast(self.expr(kind, depth), count, wide)

    def vector_indices(self, buffer, lanes):
        *first, _last = self.indices(buffer, 1)
        ramp = tir.Ramp(
            self.expr(INT32, 1),
            tir.IntImm(INT32, self.choose((1, 1, 2))),
            tir.IntImm(INT32, lanes),
            INT32.with_lanes(lanes),
        )
        return (*first, ramp)

    # --------------------------------------------------------------------------------------------- buffers

    def size(self):
        held = [var for var in self.variables if var.dtype in (INT32, INT64)]
        if held and self.chance(30):
            var = self.choose(held)
            return var if self.chance(60) else tir.Apply("mul", (var, tir.IntImm(var.dtype, 2)), var.dtype)
        return tir.IntImm(self.choose((INT32, INT32, INT32, INT64)), self.choose((1, 4, 16, 128)))

    def buffer(self, *, kind=None, plain=False, scopes=SCOPES):
        """A buffer; `plain` ones have no layout of their own."""
        kind = self.choose(NUMBERS) if kind is None else kind
        shape = tuple(self.size() for _ in range(self.draw(st.integers(0, 3))))
        layout = {}
        if not plain and self.chance(20) and shape:
            layout["strides"] = tuple(self.size() for _ in shape)
        if not plain and self.chance(20):
            layout["elem_offset"] = tir.IntImm(INT32, self.choose((4, 64)))
        if not plain and self.chance(15):
            layout["align"] = 128
        if not plain and self.chance(15) and "elem_offset" in layout:  # without one it is a variable of its own
            layout["offset_factor"] = 16
        return tir.Buffer(self.draw(NAMES), kind, shape, scope=self.choose(scopes), **layout)

    def region(self):
        buffer = self.choose(self.buffers)
        return tir.BufferRegion(buffer, tuple(self.range() for _ in buffer.shape))

    def range(self):
        kind = self.choose((INT32, INT32, INT64))
        if self.chance(40):
            return tir.Range(self.expr(kind, 1), tir.IntImm(kind, 1))
        return tir.Range(self.low(kind), self.extent(kind))

    def low(self, kind):
        """Where a range begins: no constant that its end would exceed."""
        value = tir.IntImm(kind, self.choose((0, 0, 0, 3))) if self.chance(70) else self.expr(kind, 1)
        return tir.IntImm(kind, 5) if isinstance(value, tir.IntImm) and value.value > 3 else value

    def extent(self, kind):
        held = [var for var in self.variables if var.dtype == kind]
        if held and self.chance(40):
            return self.choose(held)
        return tir.IntImm(kind, self.choose((2, 4, 32)))

    # ------------------------------------------------------------------------------------------- statements

    def body(self, depth):
        """One statement, or several in a scope of their own."""
        with self.scope():
            count = self.draw(st.integers(1, 3)) if depth > 0 else 1
            items = []
            for left in reversed(range(count)):
                items += self.statement(depth, last=not left)
        return items[0] if len(items) == 1 else tir.SeqStmt(tuple(items))

    def statement(self, depth, *, last):
        """Statements to stand in a sequence; definitions are followed by others."""
        simple = [self.store, self.store, self.vector_store, self.evaluate, self.assertion]
        if not last:
            return self.choose((*simple, self.bind, self.allocate, self.view))(depth)
        if self.in_loop and self.chance(10):
            return [self.choose((tir.Break, tir.Continue))()]
        if depth <= 0:
            return self.choose(simple)(depth)
        nested = (self.loop, self.loop, self.branch, self.repeat, self.attribute, self.launch, self.block, self.block)
        return self.choose((*simple, *nested))(depth - 1)

    def store(self, _depth):
        if not self.buffers:
            return self.evaluate(1)
        buffer = self.choose(self.buffers)
        return [tir.BufferStore(buffer, self.expr(buffer.dtype, 3), self.indices(buffer, 2))]

    def vector_store(self, _depth):
        held = [buffer for buffer in self.buffers if buffer.shape]
        if not held:
            return self.evaluate(1)
        buffer, lanes = self.choose(held), self.choose((2, 4))
        return [tir.BufferStore(buffer, self.vector(buffer.dtype, lanes, 2), self.vector_indices(buffer, lanes))]

    def evaluate(self, _depth):
        if self.buffers and self.chance(30):
            load = self.load(self.choose(self.buffers), 1)
            pointer = PointerType(load.buffer.dtype, load.buffer.scope)
            return [tir.Evaluate(tir.Call("address_of", (load,), HANDLE, pointer))]
        return [tir.Evaluate(self.expr(self.choose((*NUMBERS, BOOL)), 2))]

    def assertion(self, _depth):
        message = self.choose((("",), ("bad",), ("a", "b"), ('quo"ted', "ä")))
        return [tir.AssertStmt(self.expr(BOOL, 2), message, self.choose(("RuntimeError", "ValueError")))]

    def bind(self, _depth):
        value = self.expr(self.choose((INT32, INT64, FLOAT32, BOOL)), 2)
        var = self.variable(value.dtype)
        self.variables.append(var)
        return [tir.Bind(var, value)]

    def allocate(self, _depth):
        buffer = self.buffer(plain=True)
        annotations = self.draw(ANNOTATIONS) if self.chance(20) else {}
        self.buffers.append(buffer)
        return [tir.AllocBuffer(buffer, annotations)]

    def view(self, _depth):
        if not self.buffers:
            return self.evaluate(1)
        source = self.choose(self.buffers)
        buffer = self.buffer(scopes=(source.scope,))
        self.buffers.append(buffer)
        return [tir.DeclBuffer(buffer, tir.BufferData(source))]

    def loop(self, depth):
        kind, word = self.choose(list(ForKind)), self.choose((INT32, INT32, INT64))
        low = self.low(word)
        thread = step = None
        if kind is ForKind.THREAD_BINDING:
            thread = tir.ThreadVar(self.choose(("threadIdx.x", "blockIdx.y")))
        elif self.chance(15):
            step = tir.IntImm(word, 2)
        extent = self.extent(word)
        annotations = self.draw(ANNOTATIONS) if self.chance(20) else {}
        var = self.variable(word)
        with self.scope():
            self.variables.append(var)
            inside, self.in_loop = self.in_loop, kind is ForKind.SERIAL
            body = self.body(depth)
            self.in_loop = inside
        return [tir.For(var, low, extent, kind, body, thread, annotations, step)]

    def branch(self, depth):
        other = self.body(depth) if self.chance(50) else None
        return [tir.IfThenElse(self.condition(), self.body(depth), other)]

    def condition(self):
        """A condition that is no constant: the reader would choose."""
        number = self.choose((INT32, FLOAT32))
        return tir.Apply(self.choose(COMPARISONS), (self.expr(number, 1), self.expr(number, 1)), BOOL)

    def repeat(self, depth):
        inside, self.in_loop = self.in_loop, True
        body = self.body(depth)
        self.in_loop = inside
        return [tir.While(self.condition(), body)]

    def attribute(self, depth):
        node = self.choose((0, *self.buffers))
        value = self.choose((64, "text", tir.IntImm(INT64, 5)))
        return [tir.AttrStmt(node, self.choose(("pragma_unroll", "storage_alignment")), value, self.body(depth))]

    def launch(self, depth):
        extent, tag = tir.IntImm(INT32, self.choose((1, 32))), self.choose(("threadIdx.x", "blockIdx.z"))
        var = self.variable(INT32)
        thread = tir.ThreadVar(tag, var, tir.Range(tir.IntImm(INT32, 0), extent))
        with self.scope():
            self.variables.append(var)
            return [tir.AttrStmt(thread, "thread_extent", extent, self.body(depth))]

    def block(self, depth, name="block", *, root=False):
        predicate = self.condition() if not root and self.chance(20) else TRUE
        axes, values = [], []
        for _ in range(0 if root else self.draw(st.integers(0, 3))):
            word = self.choose((INT32, INT32, INT64))
            kind = self.choose((IterKind.SPATIAL, IterKind.SPATIAL, IterKind.REDUCE, IterKind.OPAQUE, IterKind.SCAN))
            low = tir.IntImm(word, self.choose((0, 0, 0, 2)))
            axes.append(tir.IterVar(self.variable(word), tir.Range(low, self.extent(word)), kind))
            values.append(self.expr(word, 2))
        with self.scope():
            inside, self.in_loop = self.in_loop, False
            self.variables += [axis.var for axis in axes]
            reads, writes = (self.regions() if self.chance(70) else None for _ in range(2))
            allocated = tuple(self.buffer() for _ in range(self.draw(st.integers(int(root), 2))))
            self.buffers += allocated
            matches = []
            while self.buffers and len(matches) < 2 and self.chance(15):
                source = self.region()
                held = self.buffer(kind=source.buffer.dtype, scopes=(source.buffer.scope,))
                matches.append(tir.MatchBufferRegion(held, source))
                self.buffers.append(held)
            annotations = self.draw(ANNOTATIONS) if self.chance(30) else {}
            init = self.body(0) if not root and self.chance(30) else None
            body = self.body(depth)
            self.in_loop = inside
        block = tir.SBlock(name, tuple(axes), reads, writes, body, init, allocated, tuple(matches), annotations)
        return [tir.SBlockRealize(tuple(values), predicate, block)]

    def regions(self):
        return tuple(self.region() for _ in range(self.draw(st.integers(0, 2)))) if self.buffers else ()

    # -------------------------------------------------------------------------------------------- functions

    def function(self, depth=3, *, private=None):
        """A function of scalars, handles and buffers, its shape variables among the parameters or not."""
        self.variables, self.buffers = (
            [tir.Var(self.draw(NAMES), INT32) for _ in range(self.draw(st.integers(0, 2)))],
            [],
        )
        shape_vars, params, buffer_map = list(self.variables), [], {}
        for _ in range(self.draw(st.integers(1, 4))):
            if self.chance(30):
                params.append(self.variable(self.choose((INT32, INT64, FLOAT32, UINT8))))
            elif self.chance(20):
                params.append(tir.Var(self.draw(NAMES), HANDLE, self.choose((None, PointerType(FLOAT32)))))
            else:
                params.append(tir.Var(self.draw(NAMES), HANDLE))
                buffer_map[params[-1]] = self.buffer(plain=self.chance(60), scopes=("global",))
        used = {id(node) for buffer in buffer_map.values() for node in walk(buffer)}
        self.variables = [var for var in shape_vars if id(var) in used]
        self.variables += [param for param in params if param.dtype.kind != "handle"]
        self.buffers = list(buffer_map.values())
        attrs = self.draw(st.dictionaries(st.sampled_from(("tirx.noalias", "a", "b.c")), ATTRIBUTES, max_size=2))
        s_tir = self.old or self.chance(80)
        body = self.block(depth, "root", root=True)[0] if s_tir and self.chance(30) else self.body(depth)
        private = self.chance(30) if private is None else private
        return tir.PrimFunc(tuple(params), buffer_map, body, attrs, None, private, s_tir)


@st.composite
def prim_funcs(draw, *, old=False):
    """A function of TensorIR; an `old` one is of the kind that every generation knows."""
    return Programs(draw, old=old).function()
