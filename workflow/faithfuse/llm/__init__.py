"""Loading, prompting and judging with a local language model."""
