"""A model file in the browser: an editor with findings, and the page about the model, kept up to date.

`serve` starts the server of ``vinculum open``. It listens on this machine only.
"""
