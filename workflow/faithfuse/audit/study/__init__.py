"""Study tools for semantic validation and utility, on supplied labels (arXiv 2609.29145, section V)."""
