"""Programs made smaller while a predicate holds: valid stays valid, the verdict stays the same."""
