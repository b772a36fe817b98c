"""The static rules: scopes, types, shapes, blocks, purity; and reading with them applied."""

from refmlc.check.infer import type_of
from refmlc.check.module import check_module

__all__ = ["check_module", "type_of"]
