"""The conformance suite (arXiv 2609.29145, section IV): all 81 states, baselines, ablations, transitions, mutations."""
