"""Claim-gated source-risk auditing (arXiv 2609.29145)."""
