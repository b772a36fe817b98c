"""Operators of several machines that work together. One machine is what is executed here, so each has its reason.

Their names and signatures are known: a module that has them is read, checked and printed.
"""

from refmlc.lang.library.definition import Operator
from refmlc.lang.te import Tensor

WORKERS = "it communicates with other workers; refmlc executes one program on one machine"
MESHES = "it places tensors on device meshes; refmlc executes one program on one machine"


def allreduce(x: Tensor, *, op_type: str = "sum", in_group: bool = True) -> Tensor:
    """The tensors of all workers combined element by element: sum, prod, min, max or avg."""
    del op_type, in_group
    return x


def allgather(x: Tensor, *, num_workers: int, in_group: bool = True) -> Tensor:
    """The tensors of all workers one after the other along the first axis."""
    del num_workers, in_group
    return x


def broadcast_from_worker0(x: Tensor) -> Tensor:
    """The tensor of the first worker."""
    return x


def scatter_from_worker0(x: Tensor, *, num_workers: int, axis: int = 0) -> Tensor:
    """A worker's part along an axis of the tensor of the first worker."""
    del num_workers, axis
    return x


def redistribute_replica_to_shard(input: Tensor, *, num_workers: int, axis: int) -> Tensor:  # noqa: A002 - TVM's name
    """A worker's part along an axis of a tensor that all have."""
    del num_workers, axis
    return input


def placed(input: Tensor, *, device_mesh: object, placement: object) -> Tensor:  # noqa: A002 - TVM's name
    """The tensor, on a mesh of devices."""
    del device_mesh, placement
    return input


def call_tir_local_view(args: Tensor) -> Tensor:
    """`call_tir` of the parts that one worker has."""
    return args


DISTRIBUTED = (
    Operator("ccl.allreduce", allreduce, "LIB-980", reason=WORKERS),
    Operator("ccl.allgather", allgather, "LIB-980", reason=WORKERS),
    Operator("ccl.broadcast_from_worker0", broadcast_from_worker0, "LIB-980", reason=WORKERS),
    Operator("ccl.scatter_from_worker0", scatter_from_worker0, "LIB-980", reason=WORKERS),
    Operator("dist.annotate_sharding", placed, "LIB-980", reason=MESHES),
    Operator("dist.redistribute", placed, "LIB-980", reason=MESHES),
    Operator("dist.redistribute_replica_to_shard", redistribute_replica_to_shard, "LIB-980", reason=WORKERS),
    Operator("dist.call_tir_local_view", call_tir_local_view, "LIB-980", reason=MESHES),
)
