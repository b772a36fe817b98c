"""Kernels around a call of one PTX instruction, with what it needs to have a meaning: for `ptx_table.py`.

| instructions                 | what they get                                                                      |
|------------------------------|------------------------------------------------------------------------------------|
| of lanes                     | the mask of all lanes, which come together                                         |
| on a barrier                 | one that is initialised; what asks for a state, that of an arrival                 |
| `cp.async`                   | bytes of each thread's own, and a wait for the copies                              |
| bulk copies, stores          | one thread, a barrier that expects the bytes and a wait for it, or a group that is |
|                              | committed and waited for; the mask of the cluster's one block                      |
| copies of boxes              | besides, a tensor map of their rank, and the coordinates 0                         |
| on addresses in registers    | such an address                                                                    |
| `wgmma`                      | a warpgroup, and descriptors of shared memory that holds zeros                     |
| `tcgen05`                    | all columns of tensor memory, written; they are freed behind                       |
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from math import prod

LOCALS = re.compile(r"\br_(\w+)\[(\d+)\]")
WORDS, COUNT, BYTES, FULL = 256, 64, 32, 0xFFFFFFFF
OF_WARPGROUPS = "T.ptx.wgmma"
SHARED, GENERIC, BARRIER = "T.cuda.cvta_generic_to_shared(S.ptr_to([0]))", "A.ptr_to([0])", "bar.ptr_to([0])"
EXTENTS, STRIDES = (4, 2, 2, 2, 2), (16, 32, 64, 128)
"""Of the tensor that a box is copied of or to, all of it: 64 elements at most, and bytes between rows."""
FENCE = ["T.ptx.fence.proxy.async_.shared__cta()", "T.cuda.cta_sync()"]
INITIALISE = "    T.ptx.mbarrier.init.shared.b64(bar.ptr_to([0]), T.uint32({count}))"


@dataclass
class Frame:
    """A kernel around a call: what stands at its head, before the call and behind it; `alone`: one thread calls."""

    call: str
    head: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    alone: bool = False

    @property
    def words(self) -> list[str]:
        """The modifiers."""
        return re.findall(r"'([^']*)'", self.call)

    def has(self, *words: str) -> bool:
        """Whether all of them are modifiers of the call."""
        return set(words) <= set(self.words)

    def last(self, dtype: str) -> int:
        """The last register of a dtype."""
        return max(int(place) for kind, place in LOCALS.findall(self.call) if kind == dtype)

    def move(self, old: str, new: str, *, last: bool = False) -> None:
        """Put another operand in the place of the first, or the last one, that is `old`."""
        head, found, tail = self.call.rpartition(old) if last else self.call.partition(old)
        self.call = head + new + tail if found else self.call

    def initialise(self, count: int) -> None:
        """Let a barrier of so many arrivals be initialised."""
        self.before += ["if lane == 0:", INITIALISE.format(count=count), *FENCE]


def shared(pointer: str) -> str:
    """The address in shared memory of a pointer."""
    return f"T.cuda.cvta_generic_to_shared({pointer})"


def on_lanes(frame: Frame) -> None:
    """The mask is the last register."""
    frame.before.append(f"r_uint32[{frame.last('uint32')}] = T.uint32({FULL})")


def on_barriers(frame: Frame) -> None:
    """A barrier of twice as many arrivals as threads; of as many, where the call waits for the phase of a state."""
    frame.call = frame.call.replace(SHARED, shared(BARRIER)).replace(GENERIC, BARRIER)
    frame.alone = frame.has("init") or frame.has("inval")
    asks = "r_uint64" in frame.call and not (frame.has("arrive") or frame.has("arrive_drop"))
    if not frame.has("init"):
        frame.initialise(32 if asks and not frame.has("pending_count") else COUNT)
    if asks:
        word, more = (".noComplete", ", T.uint32(1)") if frame.has("pending_count") else ("", "")
        state = f"r_uint64[{frame.last('uint64')}]"
        frame.before.append(f"T.ptx.mbarrier.arrive{word}.shared.b64({state}, {BARRIER}{more})")


def of_threads(frame: Frame) -> None:
    """`cp.async`: each thread copies from and to a place of its own."""
    frame.call = frame.call.replace("ptr_to([0])", "ptr_to([4 * lane])")
    frame.behind.append("T.ptx.cp.async_.wait_all()")


def completed(frame: Frame, nbytes: int) -> None:
    """What completes bytes of a barrier is called by one thread, and waited for."""
    last = max((SHARED, GENERIC), key=frame.call.rfind)
    frame.move(last, shared(BARRIER) if last == SHARED else BARRIER, last=True)
    frame.initialise(1)
    expected = f"T.ptx.mbarrier.arrive.expect_tx.shared__cta.b64({BARRIER}, T.uint32({nbytes}))"
    frame.before += ["if lane == 0:", f"    {expected}"]
    frame.behind.append(f"T.cuda.mbarrier_wait({BARRIER}, 0)")


def in_bulk(frame: Frame) -> None:
    """Bulk copies: of bytes, or of a box as great as its tensor."""
    frame.alone = True
    nbytes, rank = BYTES, next((int(word[0]) for word in frame.words if re.fullmatch(r"\dd", word)), 0)
    if rank:
        extents, strides = EXTENTS[:rank], STRIDES[: rank - 1]
        numbers = ", ".join(map(str, (*extents, *strides, *extents, *(1,) * rank, 0, 0, 0, 0)))
        frame.head += ["m: T.let[T.TensorMap()] = T.tvm_stack_alloca('tensormap', 1)"]
        frame.head += [f"T.call_packed('runtime.cuTensorMapEncodeTiled', m, 'uint32', {rank}, A.data, {numbers})"]
        frame.move(GENERIC, "T.address_of(m)")
        frame.before += [f"r_int32[{place}] = 0" for kind, place in LOCALS.findall(frame.call) if kind == "int32"]
        nbytes = 4 * prod(extents)
    elif "r_uint32[2]" in frame.call:
        frame.before.append(f"r_uint32[2] = T.uint32({BYTES})")
    for word in frame.words:
        if word.startswith("multicast"):
            dtype = "uint32" if word.endswith("32b") else "uint16"
            frame.before.append(f"r_{dtype}[{frame.last(dtype)}] = T.{dtype}(1)")
    if frame.has("mbarrier::complete_tx::bytes"):
        if frame.has("shared::cluster", "shared::cta"):
            frame.move(SHARED, shared("S.ptr_to([64])"))
        completed(frame, nbytes)
    else:
        frame.before += FENCE
        frame.behind += ["T.ptx.cp.async_.bulk.commit_group()", "T.ptx.cp.async_.bulk.wait_group(0)"]


def of_stores(frame: Frame) -> None:
    """`st.async` to the block's own memory."""
    frame.alone = True
    values = [int(re.sub(r"\D", "", kind)) // 8 for kind, _ in LOCALS.findall(frame.call)]
    completed(frame, sum(values))
    frame.move(GENERIC, "S.ptr_to([0])")


def on_addresses(frame: Frame) -> None:
    """`mapa`, `getctarank`, `cvta`: an address of shared memory, in the register that they read."""
    frame.move(GENERIC, "S.ptr_to([0])")
    if ".mapa" in frame.call:
        frame.before.append("r_uint32[2] = T.uint32(0)")
    if "r_uint32[1]" in frame.call:
        frame.before.append(f"T.ptx.mapa.shared__cluster.u32(r_uint32[1], {SHARED}, T.uint32(0))")
    if "r_uint64[1]" in frame.call:
        space = "" if not any(word.startswith("shared") for word in frame.words) else ".shared__cluster"
        frame.before.append(f"T.ptx.mapa{space}.u64(r_uint64[1], S.ptr_to([0]), T.uint32(0))")


def behind_arrival(frame: Frame) -> None:
    """A wait at the barrier of a cluster, at which the threads have arrived."""
    frame.before.append("T.ptx.barrier.cluster.arrive()")


NEEDS = (
    (r"T\.ptx\.barrier\('cluster', 'wait'", behind_arrival),
    (r"T\.ptx\.(shfl_sync|vote_sync|match|elect_sync|redux_sync)\(|'warp', 'sync'", on_lanes),
    (r"T\.ptx\.mbarrier\(|'async', 'mbarrier', 'arrive'", on_barriers),
    (r"'async', '(ca|cg)'", of_threads),
    (r"T\.ptx\.(cp|cp_reduce_async_bulk\w*)\(.*(mbarrier::complete_tx::bytes|bulk_group)'", in_bulk),
    (r"T\.ptx\.st_async\(.*mbarrier::complete_tx::bytes'", of_stores),
    (r"T\.ptx\.(mapa|getctarank)\(|T\.ptx\.cvta\(r_\w+\[0\], r_uint64\[1\]", on_addresses),
)


def fitting(dtype: str, value: int) -> int:
    """The low bits of a value that are one of the dtype."""
    return value & ((1 << (int(re.sub(r"\D", "", dtype)) - 1)) - 1)


def registers(call: str, values: tuple[int, ...]) -> list[str]:
    """The local buffers that a call has operands in; they hold the values in turn."""
    places: dict[str, int] = defaultdict(int)
    for dtype, place in LOCALS.findall(call):
        places[dtype] = max(places[dtype], int(place) + 1)
    lines = []
    for dtype, count in places.items():
        lines.append(f"r_{dtype} = T.alloc_local(({count},), '{dtype}')")
        lines += [f"r_{dtype}[{k}] = T.{dtype}({fitting(dtype, values[k % len(values)])})" for k in range(count)]
    return lines


def function(lines: list[str]) -> str:
    """The text of a kernel of these statements."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"@T.prim_func\ndef main(A: T.Buffer(({WORDS},), 'uint32')):\n{body}"


def kernel(call: str, values: tuple[int, ...]) -> str:
    """A kernel of one warp, or of a warpgroup, with this call; the registers hold the values in turn."""
    if TENSOR in call:
        return tensor_kernel(call, values)
    frame = Frame(call)
    for pattern, fit in NEEDS:
        if re.search(pattern, call):
            fit(frame)
    warps = 4 if OF_WARPGROUPS in call else 1
    lines = [*frame.head, "T.device_entry()", "T.cta_id([1])", f"T.warp_id([{warps}])", "lane = T.lane_id([32])"]
    lines += [f"S = T.alloc_buffer(({WORDS},), 'uint32', scope='shared', align=128)"]
    lines += ["bar = T.alloc_shared((1,), 'uint64')", f"for k in range({WORDS // 32}):"]
    lines += ["    S[32 * k + lane] = T.uint32(0)", "T.cuda.cta_sync()", *registers(call, values), *frame.before]
    if OF_WARPGROUPS in call:
        descriptors = [int(place) for kind, place in LOCALS.findall(call) if kind == "uint64"]
        lines += [*FENCE, "T.ptx.wgmma.fence.sync.aligned()"]
        lines += [
            f"T.cuda.wgmma.encode_matrix_descriptor(T.address_of(r_uint64[{k}]), S.data, 1, 1, 0)"
            for k in range(max(descriptors, default=-1) + 1)
        ]
    called = [frame.call, *(frame.behind if frame.alone else ())]
    lines += ["if lane == 0:", *(f"    {line}" for line in called)] if frame.alone else called
    return function([*lines, *(() if frame.alone else frame.behind)])


TENSOR = "T.ptx.tcgen05"
COLUMNS, LEAST, REGISTERS, TENSOR_WORDS = 512, 32, 128, 2048
ALLOCATION = re.compile("'(alloc|dealloc|relinquish_alloc_permit)'")
OF_A_THREAD = re.compile("'(cp|commit|mma)'")


def tensor_kernel(call: str, values: tuple[int, ...]) -> str:
    """A kernel of one warp with a call on tensor memory: columns are allocated and written before, and freed behind."""
    allocation = ALLOCATION.search(call)
    kind = allocation[1] if allocation else ""
    values = (0, LEAST) if kind == "dealloc" else values
    warps = 4 if "'mma'" in call else 1  # the scales of a product are in all lanes
    lines = ["T.device_entry()", "T.cta_id([1])", f"w = T.warp_id([{warps}])", "lane = T.lane_id([32])"]
    lines += [f"t = T.thread_id([{32 * warps}])"]
    lines += [f"S = T.alloc_buffer(({TENSOR_WORDS},), 'uint32', scope='shared', align=1024)"]
    lines += ["at = T.alloc_shared((1,), 'uint32')", "bar = T.alloc_shared((1,), 'uint64')"]
    lines += [f"for k in range({TENSOR_WORDS // 32}):", "    S[32 * k + lane] = T.uint32(0)"]
    lines += ["if t == 0:", INITIALISE.format(count=1), *FENCE, *registers(call, values)]
    descriptors = [int(place) for dtype, place in LOCALS.findall(call) if dtype == "uint64"]
    lines += [
        f"T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(r_uint64[{k}]), S.data, 8, 16, 0)"
        for k in range(max(descriptors, default=-1) + 1)
    ]
    if kind not in ("alloc", "relinquish_alloc_permit"):
        address = f"T.address_of(at[0]), T.uint32({LEAST if kind == 'dealloc' else COLUMNS})"
        lines += ["if w == 0:", f"    T.ptx['tcgen05.alloc.cta_group::1.sync.aligned.b32']({address})"]
        lines.append("T.cuda.cta_sync()")
    lines += [*([] if kind else filled()), *called(call)]
    if kind not in ("dealloc", "relinquish_alloc_permit"):
        own = f"'{kind}', 'cta_group::1'" in call
        place, freed = ("S", values[0]) if own else ("at", COLUMNS)
        free = f"T.ptx['tcgen05.dealloc.cta_group::1.sync.aligned.b32']({place}[0], T.uint32({freed}))"
        lines += ["T.cuda.cta_sync()", "if w == 0:", f"    {free}"]
    return function(lines)


def filled() -> list[str]:
    """All columns are written."""
    filling = ", ".join(f"fill[{k}]" for k in range(REGISTERS))
    lines = [f"fill = T.alloc_local(({REGISTERS},), 'uint32')", f"for k in range({REGISTERS}):"]
    lines += ["    fill[k] = T.uint32(0)"]
    lines += [
        f"T.ptx['tcgen05.st.sync.aligned.32x32b.x{REGISTERS}.b32'](T.uint32({first}), {filling})"
        for first in range(0, COLUMNS, REGISTERS)
    ]
    return [*lines, "T.ptx['tcgen05.wait::st.sync.aligned']()", "T.cuda.cta_sync()"]


def called(call: str) -> list[str]:
    """A call on tensor memory, by one thread where it is of a thread, and the waits for it."""
    call = call.replace("S.ptr_to([0])", "T.address_of(bar[0])") if "'commit'" in call else call
    alone = OF_A_THREAD.search(call)
    lines = ["if t == 0:", f"    {call}"] if alone else [call]
    if alone and "'commit'" not in call:
        commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64"
        lines += ["if t == 0:", f"    T.ptx['{commit}'](T.address_of(bar[0]))"]
    if alone:
        lines.append("T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)")
    return [*lines, "T.ptx['tcgen05.wait::ld.sync.aligned']()", "T.ptx['tcgen05.wait::st.sync.aligned']()"]
