"""The text of a model file: tokens, locations, problems."""
