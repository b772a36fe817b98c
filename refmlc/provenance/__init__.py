"""Why an element has its value: the backward slice of a run, as a tree of values and roundings."""
