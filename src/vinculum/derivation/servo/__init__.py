"""Servo constraints: index reduction, relative degrees, paths."""
