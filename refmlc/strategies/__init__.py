"""Programs, arguments and values for property tests, drawn by Hypothesis or rolled from a seed."""
