"""The integrators: Taylor series, BDF, and fixed-step methods."""
