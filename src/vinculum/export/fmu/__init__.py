"""Functional mock-up units: FMI 2.0 and 3.0, model exchange and co-simulation in one file."""
