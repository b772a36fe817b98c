"""The codes by kind; `refmlc.diag.catalogue` has them all."""
