"""Pesterev, Matrosov, Morozov: reactions as controls."""
