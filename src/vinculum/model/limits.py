"""Limits on model files. Mechanisms written by hand stay far below them; malicious files do not."""

BYTES = 256 * 1024  # of a file
NESTING = 16  # of brackets in the file
VALUES = 20_000  # of a file
KEY_PARTS = 8  # of a dotted key
PROBLEMS = 40  # reported before reading stops
LIST = 400  # entries of a list or table

LENGTH = 6000  # characters of an expression
DEPTH = 40  # of parentheses and calls in an expression
DIGITS = 40  # of a number
NAME = 40  # characters of a name
EXPONENT = 100  # of a power, when it is a number
TREE = 100  # depth of an expression, with its definitions expanded
SIZE = 6000  # operations of an expression, with its definitions expanded
SIMPLIFIED = 150  # operations of an expression that SymPy may simplify
DIFFERENTIATED = 600  # operations of the argument of dot(...)
WORK = 24_000  # operations of all expressions of a file
LARGEST = 1e300  # number
BITS = 256  # of numerator and denominator of a fraction

COORDINATES = 80
POINTS = 4000  # of all splines
SAMPLES = 100_000  # points of all signals
TABLE = 8 * 1024 * 1024  # bytes of a table of measurements
MOTORS = 16
LOOPS = 24  # and contacts
SPLIT = 20_000  # operations of the rates of an affine system, times its inputs
BODIES = 40
