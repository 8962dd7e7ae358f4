"""The PUMA 560 (Corke and Armstrong-Hélouvry 1994): free motion, a path by computed torque, a moving base.
"""
