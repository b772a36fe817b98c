"""Random well-scoped Relax: every kind of expression, binding, block and type; modules of it and of TensorIR.

Nodes are in the form that the reader gives them (see the head of `refmlc/lang/ir/relax.py`): a branch ends in a leaf, a
primitive variable has a variable of its own, neighbouring bindings outside of dataflow are one block.
"""

import numpy as np
from hypothesis import strategies as st
from ir_programs import ANNOTATIONS, NUMBER, Programs

from refmlc.lang.dtypes import BOOL, FLOAT16, FLOAT32, INT8, INT32, INT64
from refmlc.lang.ir import relax, tir, types
from refmlc.lang.ir.attrs import VDevice
from refmlc.lang.ir.module import IRModule

NAMES = ("x", "x", "y", "lv", "gv", "n", "R", "cls", "main", "_lv", "x_1")
DIMS = ("n", "m", "n", "x", "k_1")
DTYPES = (FLOAT32, FLOAT32, FLOAT16, INT64, INT8, BOOL)
TEXTS = ("", "text", 'a "b"', "two\nlines", "ä")
UNARY = ("exp", "nn.relu", "nn.softmax", "negative")
BINARY = ("add", "multiply", "matmul", "maximum")


class Graphs:
    """Draws functions; knows what is in scope: variables, dimensions, functions of the module."""

    def __init__(self, draw, functions=()) -> None:
        self.draw = draw
        self.functions = functions
        self.values: list[relax.Var] = []
        self.dims: list[tir.Var] = []

    def choose(self, items):
        return items[self.draw(NUMBER[len(items)])]

    def chance(self, percent):
        return self.draw(NUMBER[100]) >= 100 - percent

    def some(self, make, most=3, least=0):
        return tuple(make() for _ in range(least + self.choose(range(most - least + 1))))

    # ------------------------------------------------------------------------------------------------ types

    def dim(self):
        if self.dims and self.chance(50):
            dim = self.choose(self.dims)
            if self.chance(70):
                return dim
            other = self.choose((tir.IntImm(INT64, 2), self.choose(self.dims)))
            return tir.Apply(self.choose(("add", "mul", "floordiv", "max")), (dim, other), INT64)
        return tir.IntImm(INT64, self.choose((0, 1, 4, 1024)))

    def type(self, depth=2):
        forms = [self.tensor, self.tensor, self.tensor, self.shape, types.AnyType, self.prim]
        if depth > 0:
            forms += [lambda: types.TupleType(self.some(lambda: self.type(depth - 1)))]
            forms += [lambda: self.callable(depth - 1)]
        return self.choose(forms)()

    def tensor(self):
        kind = self.choose((*DTYPES, None))
        if self.chance(70):
            return types.TensorType(self.some(self.dim), kind)
        return types.TensorType(None, kind, self.choose((-1, 0, 2)))

    def shape(self):
        if self.chance(60):
            return types.ShapeType(self.some(self.dim))
        return types.ShapeType(None, self.choose((-1, 2)))

    def prim(self):
        return types.PrimType(self.choose((INT64, INT32, FLOAT32, BOOL)))

    def callable(self, depth):
        if self.chance(20):
            return types.FuncType(None, self.type(depth) if self.chance(50) else None, pure=False)
        return types.FuncType(self.some(lambda: self.type(depth)), self.type(depth), self.chance(50))

    def variable(self, ty=None, *, dataflow=False):
        """A variable; a primitive one has a variable of its own, which dimensions may use where it is int64."""
        name = self.choose(NAMES)
        if isinstance(ty, types.PrimType) and ty.value is None:
            own = tir.Var(name, ty.dtype)
            ty = types.PrimType(ty.dtype, own)
        return relax.Var(name, ty, dataflow)

    def define(self, var):
        self.values.append(var)
        if isinstance(var.ty, types.PrimType) and var.ty.dtype is INT64 and isinstance(var.ty.value, tir.Var):
            self.dims.append(var.ty.value)
        return var

    # ---------------------------------------------------------------------------------------------- values

    def constant(self):
        kind = self.choose((FLOAT32, FLOAT16, INT64, INT32, BOOL))
        data = np.arange(self.choose((1, 2, 6))).astype(str(kind))
        data = data.reshape(()) if data.size == 1 and self.chance(50) else data
        return relax.Constant(data.copy(), kind)

    def leaf(self):
        """What may be an argument, or the value of a sequence."""
        if self.values and self.chance(70):
            return self.choose(self.values)
        forms = (
            self.constant,
            lambda: relax.ShapeExpr(self.some(self.dim)),
            lambda: relax.Tuple(self.some(self.leaf, 2)),
        )
        return self.choose(forms)()

    def argument(self):
        if self.chance(80):
            return self.leaf()
        forms = (lambda: relax.StringImm(self.choose(TEXTS)), self.primitive)
        return self.choose(forms)()

    def value(self):
        """What is bound, and the type of the variable where it has to have one."""
        forms = [self.operator, self.operator, self.packed, self.destination, self.leaf, self.item, self.plain]
        if self.functions:
            forms += [self.call_tir, self.call_global]
        return self.choose(forms)()

    def primitive(self):
        """A primitive value; the own variable of a primitive variable is read as that variable."""
        dim = self.dim()
        own = any(isinstance(var.ty, types.PrimType) and var.ty.value is dim for var in self.values)
        return relax.PrimValue(tir.IntImm(INT64, 3) if own else dim)

    def plain(self):
        forms = (lambda: relax.StringImm(self.choose(TEXTS)), lambda: relax.DataTypeImm(self.choose(DTYPES)))
        return self.choose(forms)() if self.chance(60) else self.primitive()

    def item(self):
        return relax.TupleGetItem(self.choose(self.values), self.choose((0, 1, 7)))

    def operator(self):
        if self.chance(50):
            return relax.Call(relax.Op(self.choose(BINARY)), (self.leaf(), self.leaf()))
        attrs = {"axis": self.choose((1, (0, 2), (-1,))), "keepdims": self.chance(50)}
        return relax.Call(relax.Op("sum"), (self.leaf(),), attrs) if self.chance(30) else self.unary()

    def unary(self):
        return relax.Call(relax.Op(self.choose(UNARY)), (self.leaf(),))

    def packed(self):
        types_ = self.some(self.type, 2, 1)
        return relax.Call(relax.ExternFunc(self.choose(("f", "vm.builtin.copy"))), self.some(self.argument), {}, types_)

    def destination(self):
        args = (relax.ExternFunc("lib.f"), relax.Tuple(self.some(self.leaf)))
        return relax.Call(relax.Op("call_dps_packed"), args, {}, (self.outputs(),))

    def outputs(self):
        one = types.TensorType(self.some(self.dim), self.choose(DTYPES))
        other = types.TensorType(self.some(self.dim), self.choose(DTYPES))
        return one if self.chance(70) else types.TupleType((one, other))

    def call_tir(self):
        args = (tir.GlobalVar(self.choose(self.functions)), relax.Tuple(self.some(self.leaf)))
        if self.dims and self.chance(30):
            args = (*args, relax.ShapeExpr(self.some(self.dim, 2, 1)))
        return relax.Call(relax.Op("call_tir"), args, {}, (self.outputs(),))

    def call_global(self):
        return relax.Call(tir.GlobalVar(self.choose(self.functions)), self.some(self.leaf))

    # -------------------------------------------------------------------------------------------- bindings

    def binding(self, *, depth, dataflow):
        kind = dataflow and self.chance(70)
        if self.chance(15) and self.values:
            return self.match_cast(dataflow=kind)
        if depth > 0 and not dataflow and self.chance(30):
            value = self.choose((self.choice, self.local))(depth - 1)
            ty = self.type(1) if isinstance(value, relax.If) and self.chance(40) else None
            return relax.VarBinding(self.define(self.variable(ty, dataflow=kind)), value)
        value = self.value()
        if isinstance(value, relax.PrimValue):
            ty = types.PrimType(value.value.dtype)
        else:
            ty = self.choose((None, None, self.tensor()))
        return relax.VarBinding(self.define(self.variable(ty, dataflow=kind)), value)

    def match_cast(self, *, dataflow):
        value = self.choose(self.values)
        new = tir.Var(self.choose(DIMS), INT64)
        ty = self.choose((types.TensorType((new, self.dim()), FLOAT32), types.ShapeType((self.dim(), new))))
        self.dims.append(new)
        return relax.MatchCast(self.define(self.variable(self.choose((None, ty)), dataflow=dataflow)), value, ty)

    def choice(self, depth):
        return relax.If(self.choose(self.values), self.sequence(depth), self.sequence(depth))

    def local(self, depth):
        values, dims = list(self.values), list(self.dims)
        params = self.some(lambda: self.define(self.variable(self.tensor())), 2, 1)
        body, ret = self.sequence(depth, flows=True), self.type(1) if self.chance(70) else None
        self.values, self.dims = values, dims
        return relax.Function(params, body, ret, pure=self.chance(70))

    def sequence(self, depth, *, flows=False):
        """Blocks, then a leaf; what they bind is in scope inside only."""
        values, dims = list(self.values), list(self.dims)
        blocks = self.blocks(depth, flows=flows)
        body = self.leaf()
        self.values, self.dims = values, dims
        return relax.SeqExpr(blocks, body)

    def blocks(self, depth, *, flows):
        found = []
        for _ in range(self.choose((0, 1, 2, 3))):
            dataflow = flows and self.chance(50)
            if found and not dataflow and isinstance(found[-1], relax.BindingBlock):
                continue
            before, dims = list(self.values), list(self.dims)
            bindings = self.some(lambda flow=dataflow: self.binding(depth=depth, dataflow=flow), 3, 1)
            if dataflow:
                self.values = before + [binding.var for binding in bindings if not binding.var.dataflow]
                own = {id(var.ty.value) for var in self.values if isinstance(var.ty, types.PrimType)}
                self.dims = [dim for dim in self.dims if id(dim) in own or any(dim is one for one in dims)]
            found.append((relax.DataflowBlock if dataflow else relax.BindingBlock)(bindings))
        return tuple(found)

    def function(self, depth=2):
        """A global function whose first parameter names its dimensions."""
        self.values, self.dims = [], []
        named = self.some(lambda: tir.Var(self.choose(DIMS), INT64), 3)
        self.define(self.variable(types.TensorType((*named, tir.IntImm(INT64, 4)), FLOAT32)))
        self.dims += named
        self.some(lambda: self.define(self.variable(self.type())), 3)
        params = tuple(self.values)
        ret = self.type() if self.chance(70) else None
        attrs = self.draw(ANNOTATIONS)
        return relax.Function(params, self.sequence(depth, flows=True), ret, self.chance(70), self.chance(30), attrs)


@st.composite
def modules(draw, *, old=False):
    """A module of functions of TensorIR and of Relax, and an external one."""
    programs = Programs(draw, old=old)
    prims = ["te_f", "f"][: programs.choose((0, 1, 2))]
    functions = {name: programs.function(1) for name in prims}
    graphs = Graphs(draw, tuple(prims))
    for name in ("main", "other")[: programs.choose((1, 1, 2))]:
        functions[name] = graphs.function()
    if programs.chance(20):
        functions["external"] = relax.ExternFunc("lib.external")
    attrs = draw(ANNOTATIONS) if programs.chance(20) else {}
    infos = {"vdevice": (VDevice("llvm", 0, "global"),)} if programs.chance(10) else {}
    return IRModule(functions, attrs, infos)
