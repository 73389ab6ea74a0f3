"""Sentences to AMR graphs, and graphs to SMATCH scores."""
