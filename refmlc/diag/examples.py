"""An example for each code: a minimal program that ends in it, and how it reads corrected."""

EXAMPLES: dict[str, str] = {}
