"""Units of model files."""
