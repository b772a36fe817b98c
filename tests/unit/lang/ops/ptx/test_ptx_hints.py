"""Hints on ranges and tensors (PTX-021): their words, and the number of their operands."""

import pytest

from refmlc.lang.ops.ptx.hints import operands_of_hint

OVERRIDDEN = ".override::global_address.override::global_dim_stride"


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("applypriority.global.L2::evict_normal", 1),
        ("applypriority.async.bulk.bulk_group.L2::evict_normal", 2),
        ("cp.async.bulk.prefetch.L2.global", 2),
        ("cp.async.bulk.prefetch.L2.global.L2::cache_hint", 3),
        ("cp.async.bulk.prefetch.L2.global.L2::evict_last", 2),
        ("applypriority.async.bulk.tensor.2d.global.bulk_group.L2::evict_normal", 3),
        ("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4", 6),
        ("cp.async.bulk.prefetch.tensor.4d.L2.global.im2col", 7),
        ("cp.async.bulk.prefetch.tensor.5d.L2.global.im2col::w::128.L2::evict_last", 8),
        ("cp.async.bulk.prefetch.tensor.1d.L2.global.L2::cache_hint.override::global_address", 4),
        ("cp.async.bulk.prefetch.tensor.1d.L2.global.override::global_address.override::global_dim", 4),
        (f"applypriority.async.bulk.tensor.3d.bulk_group.L2::evict_normal{OVERRIDDEN}", 11),
        ("applypriority.L2::evict_last", None),
        ("cp.async.bulk.prefetch.tensor.3d.L2.global.tile::gather4", None),
        ("cp.async.bulk.prefetch.tensor.2d.L2.global.im2col", None),
        ("cp.async.bulk.prefetch.tensor.2d.L2.global.override::global_address.override::global_dim", None),
        (f"cp.async.bulk.prefetch.tensor.3d.L2.global.im2col{OVERRIDDEN}", None),
        ("cp.async.bulk.shared::cta.global", None),
    ],
)
def test_the_operands_of_a_hint(words, count):
    assert operands_of_hint(words.split(".")) == count
