"""Source sets in one schema, and importers of public human judgements."""
