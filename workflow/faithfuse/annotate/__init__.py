"""The rating and labelling web app: people judge responses or audit tuples, statistics read what they said."""
