"""NAT-008: whatever things are called, the C of every generator is that of the same program with plain names.

The texts are compared as an independent lexer sees them: the wall before the compiler is not asked.
"""

import re
from functools import cache

import pytest
from hostile_names import lexed, names, renamed, shape
from hypothesis import example, given, settings

from refmlc.lang.script import read
from refmlc.native.compile.wall import check_unit
from refmlc.native.emit import emit_module
from refmlc.native.fuse import fuse_static
from refmlc.native.options import ISAS, Grade, Options
from refmlc.native.tier.compilation import translate
from refmlc.oracle.implementations.native import translated

PRELUDE = "from tvm.script import ir as I, tirx as T, relax as R\n\n@I.ir_module\nclass Module:\n"
LOOPS = (
    PRELUDE
    + """
    @T.prim_func(s_tir=True)
    def product(A: T.Buffer((32, 48), "float32"), B: T.Buffer((48, 32), "float32"), C: T.Buffer((32, 32), "float32")):
        T.func_attr({"tirx.noalias": True, "mine": "yours"})
        for i, j, k in T.grid(32, 32, 48):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.sblock_attr({"schedule_rule": "none"})
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @T.prim_func(s_tir=True)
    def many(a: T.handle, b: T.handle, k: T.int8, x: T.float32):
        n = T.int64()
        A = T.match_buffer(a, (n, 4), "float16")
        B = T.match_buffer(b, (n, 4), "float16")
        D = T.alloc_buffer((n,), "int64")
        S = T.alloc_buffer((4,), "int32")
        for i in range(n, annotations={"pragma_unroll": 1}):
            with T.sblock("outer"):
                v = T.axis.spatial(n, i)
                T.where(i * 2 < n * 2)
                D[v] = T.int64(3) * v
            for j in T.vectorized(4):
                B[i, j] = A[i, j] + T.Cast("float16", x)
            for j in T.serial(4):
                with T.sblock("row"):
                    w = T.axis.spatial(4, j)
                    row = T.match_buffer(B[i, 0:4], (4,), "float16")
                    if A[i, w] > T.float16(0):
                        row[w] = T.if_then_else(k > T.int8(2), A[i, w], T.float16(1))
        with T.sblock("last"):
            S[0] = T.Cast("int32", k)
            while S[0] < 3:
                S[0] = S[0] + 1
            y: T.int32 = S[0] * 2
            assert y < 100, "text"
            S[1] = T.truncdiv(y, S[0])
"""
)
GRAPH = (
    PRELUDE
    + """
    @T.prim_func(private=True)
    def add(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("add"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] + B[v]

    @T.prim_func(private=True)
    def scatter(a: T.handle, p: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        P = T.match_buffer(p, (n,), "int64")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("scatter"):
                v = T.axis.spatial(n, i)
                C[P[v]] = A[v]

    @R.function
    def main(x: R.Tensor(("n",), "float32"), p: R.Tensor(("n",), "int64")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.add, (x, x), out_sinfo=R.Tensor((n,), "float32"))
            z = R.call_tir(cls.scatter, (y, p), out_sinfo=R.Tensor((n,), "float32"))
            w = R.call_tir(cls.add, (z, y), out_sinfo=R.Tensor((n,), "float32"))
            R.output(w)
        return w
"""
)
PLAIN = [f"n{number}" for number in range(10)]
WORDS = re.compile(r"rm_\w+|RM_\w+|U?INT\w+|_Alignas|__attribute__")


def as_emitted(module):
    """Loops as written, guarded and not, and as tiles, for two instruction sets and both kinds of functions."""
    for isa in ("avx2", "none"):
        for grade in Grade:
            yield emit_module(module, Options(grade, ISAS[isa])).text
    yield emit_module(module, Options(Grade.REORDERED, ISAS["avx512"], "libm")).text


def as_translated(module):
    """Runs of bindings and entries, of one module and of several in one unit, and for known sizes."""
    options = Options(isa=ISAS["avx2"])
    source = translate(module, options)
    assert len(source.fused) == 1
    assert source.text.count("entry_") >= 3
    yield source.text
    yield translated([module, module], options, fused=True)[0]
    static = fuse_static(module, emit_module(module, options), source.fused[0], lambda expr: 8, options)
    assert static is not None
    yield static.text


MAKERS = {"loops": (LOOPS, as_emitted), "graph": (GRAPH, as_translated)}


def known_words(text):
    """Words that no name of a program becomes."""
    return {word for word in lexed(text) if WORDS.fullmatch(word)} | {"int64_t", "const", "for", "if", "goto", "return"}


@cache
def plain(maker):
    """The texts with plain names: their words, and their shapes."""
    text, make = MAKERS[maker]
    made = [(known_words(each), each) for each in make(renamed(read(text, "a.py"), PLAIN))]
    return [(words, shape(each, words)) for words, each in made]


@pytest.mark.parametrize("maker", MAKERS)
@settings(max_examples=25, deadline=None)
@given(given=names)
@example(given=['*/ { extern int system(const char *); system("id"); } /*'])
@example(given=["*\\"])
@example(given=["*\\\n/ static void p(void){system()}\n// "])
@example(given=["memchr", "f0_main", "run", "NULL", "aligned_alloc", "free", "rm_get_int32", "_x", "9", ""])
def test_names_change_nothing_but_words_and_comments(maker, given):
    text, make = MAKERS[maker]
    hostile = make(renamed(read(text, "a.py"), given))
    for (words, expected), found in zip(plain(maker), hostile, strict=True):
        assert shape(found, words) == expected
        assert not re.search(r"[^\n -~]", found)


def test_the_names_reach_the_texts():
    """Else the law above says nothing: each kind of slot shows up somewhere, in a word or in a comment."""
    for text, make in MAKERS.values():
        marked = "\n".join(make(renamed(read(text, "a.py"), ["PWN"])))
        comments = " ".join(re.findall(r"/\*.*?\*/", marked))
        assert "PWN:" in comments  # a file
        assert re.search(r"int64_t (?:m[01]_)?[fg][0-9]_\w*PWN", marked)  # a function
        assert re.search(r"const int64_t PWN", marked)  # a variable
        assert re.search(r"restrict const PWN", marked)  # a buffer
    assert "block PWN" in "\n".join(as_emitted(renamed(read(LOOPS, "a.py"), ["PWN"])))


def test_the_lexer_sees_what_a_compiler_sees():
    """The attacks that were found, on the comments as they were made."""
    block = '*/ { system("id"); } /*'
    assert "system" in lexed(f"/* block {block} */")
    assert "system" in lexed("/* lv*\\\n/ system();\n// */")
    assert "system" in lexed("/* lv*??/\n/ system();\n// */")
    assert lexed("/* block C */ x; // system\n") == ["x", ";"]
    assert lexed('a = "/*"; b') == ["a", "=", '"/*"', ";", "b"]
    assert lexed("int f; /* never closed")[-1].startswith("<")


RETURNS = """
from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((4,), "float32"), k: T.float32) -> T.float32:
    return A[0] * k + A[1]
"""


def test_the_wall_lets_all_of_them_pass():
    """It would be no use if it stopped what is meant to be compiled."""
    texts = [each for text, make in MAKERS.values() for each in make(renamed(read(text, "a.py"), ["*/", "PWN", "??/"]))]
    texts += as_emitted(read(RETURNS))
    assert "(double)(" in texts[-1]
    for text in texts:
        check_unit(text)


LONG = """
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (1024, 1024), "float32")
    B = T.match_buffer(b, (1024, 1024), "float32")
    C = T.match_buffer(c, (1024, 1024), "float32")
    for i, j, k in T.grid(1024, 1024, 1024):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for x in range(10000000):
        C[0, T.min(x, 9)] = T.exp(C[0, x % 7])
"""


def test_the_wall_lets_what_takes_long_pass():
    """Panels on the heap, strips, looks whether to stop."""
    texts = list(as_emitted(read(LONG)))
    for needed in ("*)(panels)", "RM_LOOK(", "free(panels)", "strip_end; strip < "):
        assert any(needed in text for text in texts), needed
    for text in texts:
        check_unit(text)
