"""The specification as data: numbered clauses from conformance/spec/*.toml."""

from refmlc.lang.spec.loader import Clause, clause, clauses, read_clauses

__all__ = ["Clause", "clause", "clauses", "read_clauses"]
