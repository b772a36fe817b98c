"""What a finding is shown with: one self-contained page, a case for `conformance/`, a command to replay it."""
