"""The result of a run: samples, outcome, files."""
