"""RM3xx Undefined: the program has no meaning for this input."""

from refmlc.diag.codes.code import Code, instead

OUT_OF_BOUNDS = Code(
    "RM304",
    "an access is out of bounds",
    "TIR-006",
    "Each index lies in 0 … extent - 1 of its own axis. An access that leaves its axis is undefined even when it "
    "stays inside the memory of the buffer, as `A[0, 5]` of shape (2, 4) does. TVM's compiled code reads or writes "
    "whatever lies there.",
    instead(
        "for i in range(8):\n    B[i] = A[i + 1]",
        "for i in range(7):\n    B[i] = A[i + 1]",
    ),
)
UNINITIALISED = Code(
    "RM305",
    "an uninitialised element is read",
    "TIR-007",
    "Fresh storage has no values. An element must be written before it is read; compiled code sees whatever the "
    "memory held.",
    instead(
        'S = T.alloc_buffer((1,), "float32")\nfor i in range(8):\n    S[0] = S[0] + A[i]',
        'S = T.alloc_buffer((1,), "float32")\nS[0] = T.float32(0)\nfor i in range(8):\n    S[0] = S[0] + A[i]',
    ),
)
INT_OVERFLOW = Code(
    "RM306",
    "integer arithmetic overflows",
    "NUM-101",
    "Integer arithmetic at 32 and 64 bits must have a representable result, because TVM's compiled code relies on "
    "that. Narrower integers wrap around.",
    instead(
        "C[0] = T.int32(2147483647) + A[0]",
        'C[0] = T.int64(2147483647) + T.Cast("int64", A[0])',
    ),
)
DIVISION_BY_ZERO = Code(
    "RM307",
    "an integer is divided by zero",
    "NUM-104",
    "The divisor of an integer division or remainder is not 0. Compiled code ends the process.",
    instead(
        "C[0] = A[0] // B[0]",
        "C[0] = T.if_then_else(B[0] != 0, A[0] // B[0], 0)",
    ),
)
SHIFT_RANGE = Code(
    "RM308",
    "a shift count is out of range",
    "NUM-202",
    "A shift count lies in 0 … bits - 1. What compiled code does with others depends on the machine and on "
    "vectorisation.",
    instead(
        "C[0] = T.shift_left(A[0], 32)",
        'C[0] = T.shift_left(T.Cast("int64", A[0]), T.int64(32))',
    ),
)
FLOAT_TO_INT = Code(
    "RM309",
    "a float has no value in the integer dtype",
    "NUM-702",
    "A float converts to an integer by dropping its fraction, when the result is in the range of the dtype. NaN, "
    "infinities and greater values have no integer; compiled code gives different garbage in different places.",
    instead(
        'C[0] = T.Cast("int8", A[0])  # A[0] is 1e9',
        'C[0] = T.Cast("int8", T.min(T.max(A[0], T.float32(-128)), T.float32(127)))',
    ),
)
ASSUMPTION = Code(
    "RM310",
    "an assumption does not hold",
    "TIR-306",
    "`T.assume` promises the compiler a condition. The program is undefined where it is false.",
    instead(
        "T.assume(n % 4 == 0)  # n is 6",
        "assert n % 4 == 0",
    ),
)
BAD_ARGUMENT_VALUE = Code(
    "RM311",
    "an operation is not defined on the value",
    "NUM-203",
    "The operation has no result on this value: 0 has no number of leading zeros, for example.",
    instead(
        "C[0] = T.clz(A[0])",
        "C[0] = T.if_then_else(A[0] != 0, T.clz(A[0]), 32)",
    ),
)
BINDING_RANGE = Code(
    "RM312",
    "a block variable leaves its domain",
    "TIR-217",
    "A block axis has a domain, and each binding lies in it. The compiler plans with the domain, and not with the "
    "loops around the block; where not all instances are meant, `T.where` leaves them out.",
    instead(
        "for i in range(10):\n    vi = T.axis.spatial(8, i)",
        "for i in range(10):\n    vi = T.axis.spatial(8, i)\n    T.where(i < 8)",
    ),
)
BAD_POINTER = Code(
    "RM313",
    "a pointer does not point to data of this type",
    "TIR-207",
    "A pointer is used that is null, whose storage has ended, that is not aligned to the element, or that does not "
    "point to such elements.",
    instead(
        'B = T.decl_buffer((4,), "float32", data=p)  # p has been freed',
        'B = T.decl_buffer((4,), "float32", data=A.data)',
    ),
)
MATCH_FAILED = Code(
    "RM314",
    "a buffer does not match its declaration",
    "TIR-004",
    "`T.match_buffer` declares the shape, dtype, strides and offset of its storage. This storage has others.",
    instead(
        'A = T.match_buffer(a, (8,), "float32")  # given a tensor of shape (4,)',
        'A = T.match_buffer(a, (n,), "float32")',
    ),
)
BAD_EXTENT = Code(
    "RM315",
    "an extent is negative",
    "TIR-203",
    "Extents of loops, axes, shapes and allocations are not negative. 0 is allowed: such a loop does nothing, such a "
    "tensor is empty.",
    instead(
        "for i in range(n - 8):  # n is 4\n    ...",
        "for i in range(T.max(n - 8, 0)):\n    ...",
    ),
)
USE_AFTER_KILL = Code(
    "RM316",
    "a killed tensor is used",
    "RLX-304",
    "A variable is not used after it is killed, and a tensor in a storage not after another tensor is allocated in the "
    "same bytes.",
    instead(
        "_ = R.memory.kill_tensor(x)\ny = R.call_tir(cls.f, (x,), …)",
        "y = R.call_tir(cls.f, (x,), …)\n_ = R.memory.kill_tensor(x)",
    ),
)
INFO_LIES = Code(
    "RM317",
    "a value does not have its declared type",
    "RLX-012",
    "A declared type is a promise that later steps rely on. This value does not have it: another kind, dtype, rank "
    "or extent.",
    instead(
        'y: R.Tensor((4,), "float32") = R.call_packed("f", x)  # f returns float64',
        'y = R.call_packed("f", x, ty_args=R.Any)\nz = R.match_cast(y, R.Tensor((4,), "float64"))',
    ),
)
UNDECLARED_ACCESS = Code(
    "RM318",
    "a block accesses what it does not declare",
    "TIR-221",
    "`T.reads` and `T.writes` name everything that an instance of a block accesses outside of it. Schedules and the "
    "placement of buffers rely on that, so an access beyond them may meet memory that is not there, or not yet.",
    instead(
        "T.reads(A[vi])\nB[vi] = A[vi] + A[vi + 1]",
        "T.reads(A[vi:vi + 2])\nB[vi] = A[vi] + A[vi + 1]",
    ),
)
SPATIAL_CONFLICT = Code(
    "RM319",
    "instances along a spatial axis depend on each other",
    "TIR-222",
    "Instances of a block that differ in a spatial axis may be executed in any order, or at once. None of them writes "
    "an element that another one reads or writes. An axis along which values are summed or carried on is a reduce "
    "axis.",
    instead(
        "vk = T.axis.spatial(8, k)\nC[0] = C[0] + A[vk]",
        "vk = T.axis.reduce(8, k)\nwith T.init():\n    C[0] = 0.0\nC[0] = C[0] + A[vk]",
    ),
)
REPEATED_TERM = Code(
    "RM320",
    "a reduction folds a term twice or starts again",
    "TIR-223",
    "Between two inits, each value of the reduce axes is executed once. Bindings that repeat a value count a term "
    "twice; an init that runs again before the last term discards the partial result.",
    instead(
        "vk = T.axis.reduce(4, k // 2)",
        "vk = T.axis.reduce(8, k)",
    ),
)
RACE = Code(
    "RM321",
    "iterations race",
    "TIR-225",
    "Iterations of a parallel, vectorized or thread-bound loop may be executed at the same time. Two of them access "
    "the same element here, and one writes it, so the result depends on which comes first.",
    instead(
        "for i in T.parallel(8):\n    C[0] = C[0] + A[i]",
        "for i in range(8):\n    C[0] = C[0] + A[i]",
    ),
)
BROKEN_NOALIAS = Code(
    "RM322",
    "arguments share memory against a promise",
    "TIR-009",
    "With `tir.noalias` a function promises that what it writes through one parameter is accessed through no other. "
    "The compiler reorders loads and stores by that promise; the arguments of this call overlap.",
    instead(
        "add_one(x, x)  # tir.noalias",
        "add_one(x, y)",
    ),
)
HIDDEN_EFFECT = Code(
    "RM323",
    "a called function writes to an input",
    "RLX-209",
    "A function that `call_tir` or `call_dps_packed` calls writes its outputs only. It may be called in a dataflow "
    "block, moved, or left out. `call_tir_inplace` says which inputs are written.",
    instead(
        "A[i] = A[i] * 2.0  # A is an input of call_tir\nB[i] = A[i]",
        "B[i] = A[i] * 2.0",
    ),
)
UNWRITTEN_OUTPUT = Code(
    "RM324",
    "an output is not fully written",
    "RLX-210",
    "A lint: a function leaves elements of its output unwritten. Reading such an element is undefined; returning it "
    "gives the caller whatever the memory held.",
    instead(
        "def f(x, out):\n    out.numpy()[1:] = x.numpy()[1:]",
        "def f(x, out):\n    out.numpy()[...] = x.numpy()",
    ),
)
NOT_COVERED = Code(
    "RM325",
    "points of a block's domain are not executed",
    "TIR-224",
    "A lint: the bindings of a block never take some values of its axes' domains. Where the axis reduces, terms are "
    "missing; where the block writes to a parameter, elements keep what the caller left there.",
    instead(
        "for k in range(7):\n    ...\n    vk = T.axis.reduce(8, k)",
        "for k in range(8):\n    ...",
    ),
)
STALE_START = Code(
    "RM326",
    "a reduction starts from a stale value",
    "TIR-224",
    "A lint: a block with a reduce axis and no `T.init` folds onto a value that nothing in this call of the function "
    "wrote. The result depends on what was in the memory before.",
    instead(
        "vk = T.axis.reduce(8, k)\nC[0] = C[0] + A[vk]",
        "with T.init():\n    C[0] = 0.0\nC[0] = C[0] + A[vk]",
    ),
)
BARRIER_DIVERGENCE = Code(
    "RM327",
    "threads do not reach the same barrier",
    "TIR-227",
    "All threads of a block wait at a barrier, or at a reduction over threads; it is one for all of them. "
    "Here some threads reach another barrier, or none: hardware waits forever, or continues without a barrier.",
    instead(
        'if t < 16:\n    T.tvm_storage_sync("shared")  # there are 32 threads',
        'if t < 16:\n    S[t] = A[t]\nT.tvm_storage_sync("shared")',
    ),
)
USE_AFTER_INPLACE = Code(
    "RM328",
    "a tensor is used after a call in place consumed it",
    "RLX-214",
    "`call_tir_inplace` and `call_inplace_packed` write into arguments, which from then on have the name of the "
    "result. Here the old name is used. The operators count as pure, so a compiler may move this use before the call.",
    instead(
        "y = R.call_tir_inplace(cls.relu, (x,), inplace_indices=[0], …)\nz = R.add(x, y)",
        "z = R.add(x, x)\ny = R.call_tir_inplace(cls.relu, (x,), inplace_indices=[0], …)",
    ),
)
OPERANDS_DIFFER = Code(
    "RM329",
    "threads bring different operands to one tile primitive",
    "TIX-005",
    "A tile primitive of a warp, a warpgroup or a block is executed once by all of its threads. Its regions and its "
    "numbers are the same in each of them.",
    instead(
        "Tx.warp.copy(A[lane], B[lane])",
        "Tx.copy(A[lane], B[lane])",
    ),
)
NOT_OWNED = Code(
    "RM330",
    "an element belongs to no thread that executes the tile primitive",
    "TIX-006",
    "The layout of a buffer in registers says which thread holds an element. A tile primitive accesses elements of the "
    "threads of its scope only.",
    instead(
        "R = T.alloc_local((128, 4), layout=T.TileLayout(T.S[(128, 4) : (1 @ Axis.tx, 1)]))\nTx.warp.fill(R, 0.0)",
        "R = T.alloc_local((128, 4), layout=T.TileLayout(T.S[(128, 4) : (1 @ Axis.tx, 1)]))\nTx.cta.fill(R, 0.0)",
    ),
)
OPEN_OPERATION = Code(
    "RM341",
    "memory is accessed while an asynchronous copy of it is open",
    "TIA-002",
    "From its issue until it is complete, an asynchronous copy reads its source and writes its destination at any "
    "time. Until then its destination is neither read nor written, and its source is not written. It is complete when "
    "the thread has waited for its group, or for the phase of its barrier.",
    instead(
        'T.ptx["cp.async.ca.shared.global"](S.ptr_to([t]), A.ptr_to([t]), 4)\nB[t] = S[t]',
        'T.ptx["cp.async.ca.shared.global"](S.ptr_to([t]), A.ptr_to([t]), 4)\nT.ptx.cp.async_.commit_group()\n'
        "T.ptx.cp.async_.wait_group(0)\nB[t] = S[t]",
    ),
)
BARRIER_MISUSE = Code(
    "RM342",
    "a barrier in memory is not used as it has to be",
    "TIA-021",
    "A barrier in memory is initialised once with a number of arrivals, and from then on accessed by its own "
    "operations only. Each phase takes exactly that number. A thread that waits for a phase "
    "passes before the next one is complete.",
    instead(
        "T.ptx.mbarrier.init.shared.b64(bar.data, T.uint32(1))\nT.cuda.cta_sync()\n"
        "T.ptx.mbarrier.arrive.shared.b64(bar.data, T.uint32(2))",
        "T.ptx.mbarrier.init.shared.b64(bar.data, T.uint32(2))\nT.cuda.cta_sync()\n"
        "T.ptx.mbarrier.arrive.shared.b64(bar.data, T.uint32(2))",
    ),
)
DEADLOCK = Code(
    "RM343",
    "threads wait forever",
    "TIA-023",
    "Every thread of the block that has not ended waits, and at least one of them for a phase of a barrier in memory "
    "that nobody can complete: an arrival or a copy is missing, more or fewer bytes are expected than copies bring, or "
    "the parity is that of another phase.",
    instead(
        "T.cuda.mbarrier_wait(bar.data, 0)\nT.ptx.mbarrier.arrive.shared.b64(bar.data)",
        "T.ptx.mbarrier.arrive.shared.b64(bar.data)\nT.cuda.mbarrier_wait(bar.data, 0)",
    ),
)
MISSING_FENCE = Code(
    "RM344",
    "a fence between proxies is missing",
    "TIA-032",
    "Bulk copies and products of warpgroups access memory through the async proxy, threads through the generic one. "
    "What a thread wrote is visible to them only if a fence between the two proxies comes between in the order of "
    "events: after the write, before the issue.",
    instead(
        "S[t] = A[t]\nT.cuda.cta_sync()\nif t == 0:\n"
        '    T.ptx["cp.async.bulk.global.shared::cta.bulk_group"](B.data, S.data, T.uint32(256))',
        "S[t] = A[t]\nT.ptx.fence.proxy.async_.shared__cta()\nT.cuda.cta_sync()\nif t == 0:\n"
        '    T.ptx["cp.async.bulk.global.shared::cta.bulk_group"](B.data, S.data, T.uint32(256))',
    ),
)
MISSING_REGISTER_FENCE = Code(
    "RM345",
    "a `wgmma.fence` is missing",
    "TIM-013",
    "A product of a warpgroup accesses registers at any time until its group has been waited for. Accesses of the "
    "thread to these registers come before it only where a `wgmma.fence` is between; the first product of a thread "
    "comes after such a fence.",
    instead(
        "C[0] = T.float32(0)\nT.ptx.wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16(C[0], C[1], C[2], C[3], ...)",
        "C[0] = T.float32(0)\nT.ptx.wgmma.fence.sync.aligned()\n"
        "T.ptx.wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16(C[0], C[1], C[2], C[3], ...)",
    ),
)
TENSOR_MEMORY_MISUSE = Code(
    "RM351",
    "tensor memory is not used as it has to be",
    "TMM-002",
    "A block allocates columns of tensor memory before it uses them, uses no others, frees what it has allocated "
    "before it ends, and allocates nothing after it gave its permit back. A warp accesses the 32 lanes that its number "
    "in its warpgroup says, and no others.",
    instead(
        'if warp == 0:\n    T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.b32"](T.address_of(at[0]), T.uint32(32))',
        "if warp == 0:\n"
        '    T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.b32"](T.address_of(at[0]), T.uint32(32))\n'
        "T.cuda.cta_sync()\n...\nif warp == 0:\n"
        '    T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](at[0], T.uint32(32))',
    ),
)
