"""Abstract Meaning Representation: sentences to graphs, and graphs compared by Smatch (arXiv 2512.05700, IV-B)."""
