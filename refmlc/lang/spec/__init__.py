"""The specification as data: numbered clauses from conformance/spec/*.toml."""

from refmlc.lang.spec.loader import AREAS, Clause, clause, clauses, read_clauses

__all__ = ["AREAS", "Clause", "clause", "clauses", "read_clauses"]
