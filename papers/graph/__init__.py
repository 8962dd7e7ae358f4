"""Dolgii, Sesekin, Chupin: manipulators as graphs of bodies."""
