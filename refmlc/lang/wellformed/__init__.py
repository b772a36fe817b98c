"""The static rules: scopes, types, shapes, blocks, purity; and reading with them applied."""

from refmlc.lang.wellformed.infer import type_of
from refmlc.lang.wellformed.module import check_module

__all__ = ["check_module", "type_of"]
