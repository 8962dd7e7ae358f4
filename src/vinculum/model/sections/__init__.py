"""The sections of a model file."""
