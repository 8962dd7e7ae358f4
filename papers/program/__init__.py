"""Mukharlyamov, Kirgizbaev: program constraints and their stabilization."""
