"""Krasinskiy 2025: redundant coordinates, the critical case, stabilization."""
