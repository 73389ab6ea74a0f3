"""The exhaustive conformance suite of the audit."""
