"""One importer per public human-judgement set."""
