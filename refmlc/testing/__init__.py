"""For test-suites: assertions on programs, Hypothesis profiles, the pytest plugin."""
