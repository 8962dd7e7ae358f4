"""The keys of model files, in one table from which validation, schema and documentation are made."""
