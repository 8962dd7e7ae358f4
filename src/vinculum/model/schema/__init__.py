"""The keys of model files, in one table that validation, schema and documentation read."""
