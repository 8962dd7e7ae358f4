"""Known attacks on readers of expressions and files: each is refused at its place, quickly, and nothing is executed."""

from __future__ import annotations

import time

import pytest

import vinculum as vn
from files.small import PENDULUM
from vinculum.model import limits

EXPRESSIONS = {
    "attribute": ("x.__class__", "a dot after a name"),
    "dunder chain": ("().__class__.__bases__[0].__subclasses__()", "only the name of a function"),
    "dunder name": ("__import__", "__import__ is not known"),
    "import call": ("__import__('os').system('touch owned')", "only the name of a function"),
    "builtin": ("open('/etc/passwd')", "the function open is not known"),
    "eval": ("eval('1')", "the function eval is not known"),
    "exec": ("exec('1')", "the function exec is not known"),
    "getattr": ("getattr(x, 'func')", "the function getattr is not known"),
    "lambda": ("(lambda: 1)()", "only the name of a function"),
    "bare lambda": ("lambda: 1", "a lambda"),
    "list comprehension": ("[a for a in (1, 2)]", "a comprehension"),
    "generator": ("sum(a for a in (1, 2))", "the function sum is not known"),
    "generator in a known function": ("sin(a for a in (1, 2))", "a comprehension"),
    "set comprehension": ("{a for a in (1, 2)}", "a comprehension"),
    "dict comprehension": ("{a: a for a in (1, 2)}", "a comprehension"),
    "format string": ("f'{x.__class__}'", "a format string"),
    "string format": ("'{0.__class__}'.format(x)", "only the name of a function"),
    "percent format": ("'%s' % x", "this operator"),
    "walrus": ("(m := 5)", "an assignment"),
    "string": ("'a'", "is not a number"),
    "long string": ("'a' * 10", "is not a number"),
    "bytes": ("b'a'", "is not a number"),
    "subscript": ("x[0]", "an index in brackets"),
    "slice": ("x[::1]", "an index in brackets"),
    "starred call": ("max(*x)", "positional arguments"),
    "keyword argument": ("sin(x, evaluate=0)", "positional arguments"),
    "double starred": ("sin(**x)", "positional arguments"),
    "condition": ("x if x else 2", "a condition"),
    "logic": ("x and m", "a condition"),
    "not": ("not x", "this sign"),
    "comparison": ("x < m", "a condition"),
    "matrix product": ("x @ m", "this operator"),
    "floor division": ("x // m", "this operator"),
    "remainder": ("x % m", "this operator"),
    "shift": ("1 << 100", "this operator"),
    "big shift": ("1 << 999999999", "this operator"),
    "bits": ("x | m", "this operator"),
    "inversion": ("~x", "this sign"),
    "tuple": ("x, m", "a comma"),
    "list": ("[x]", "a list"),
    "ellipsis": ("...", "is not a number"),
    "none": ("None", "is not a number"),
    "true": ("True", "is not a number"),
    "complex": ("1j", "is not a number"),
    "await": ("await x", "is not allowed"),
    "yield": ("(yield x)", "is not allowed"),
    "statement": ("import os", "reserved word"),
    "semicolon": ("x; m", "; is not allowed"),
    "comment": ("x # m", "# is not allowed"),
    "backslash": ("x \\ m", "is not allowed"),
    "assignment": ("x = m = 1", "not a valid formula"),
    "tower of powers": ("9**9**9", "exponent"),
    "higher tower": ("9**9**9**9**9", "exponent"),
    "huge exponent": ("2**10000000", "exponent"),
    "huge exponent of a symbol": ("x^1000000", "exponent"),
    "huge exponent in floats": ("x^1e300", "exponent"),
    "huge negative exponent": ("x^-1e9", "exponent"),
    "powers of powers": ("((x^100)^100)^100", "exponents add up"),
    "huge integer": ("9" * 3000, "digits"),
    "overlong digits": ("1" * 41, "digits"),
    "overflowing float": ("1e999", "larger than 1e+300"),
    "product of large floats": ("1e200*1e200", "larger than 1e+300"),
    "large coefficients": ("x*1e200*1e200", "larger than 1e+300"),
    "tiny coefficients": ("x*1e-200*1e-200", "larger than 1e+300"),
    "tower of exponentials": ("exp(exp(exp(exp(9))))", "exp(8103.08)"),
    "exponential of a large float": ("exp(1e300)", "exp(1e+300)"),
    "factorial": ("factorial(99999999)", "the function factorial is not known"),
    "gamma": ("gamma(1e9)", "the function gamma is not known"),
    "bracketed tower": ("(9**9)**(9**9)", "exponent"),
    "deep parentheses": ("(" * 2000 + "x" + ")" * 2000, "nested more than"),
    "moderately deep parentheses": ("(" * 60 + "x" + ")" * 60, "nested more than"),
    "deep calls": ("sin(" * 60 + "x" + ")" * 60, "nested more than"),
    "deep brackets": ("[" * 1000 + "]" * 1000, "nested more than"),
    "many minus signs": ("-" * 5000 + "x", "nested too deeply"),
    "some minus signs": ("-" * 60 + "x", "nested more than"),
    "nested powers": ("x" + "**x" * 200, "nested"),
    "nested dots": ("dot(" * 5 + "x" + ")" * 5, "third time derivative"),
    "many nested dots": ("dot(" * 50 + "x" + ")" * 50, "nested more than"),
    "long sum": ("+".join(["x"] * 20000), "characters"),
    "fraction with many digits": (
        "x*(" + "*".join(f"1/{10**14 + k}" for k in range(20)) + ")*123456789123456789/7",
        None,
    ),
    "zero division": ("1/0", "division by zero"),
    "hidden zero division": ("1/(x - x)", "division by zero"),
    "zero to a negative power": ("0^-1", "moderate size"),
    "imaginary number": ("sqrt(-1)", "non-negative"),
    "imaginary inverse": ("asin(2)", "between -1 and 1"),
    "logarithm of zero": ("log(0)", "positive"),
    "hexadecimal": ("0xFF", "is not a decimal number"),
    "underscores": ("1_0_0", "is not a decimal number"),
    "octal": ("0o17", "is not a decimal number"),
    "null byte": ("x\x00", "invisible character"),
    "zero width space": ("x\u200b", "invisible character"),
    "right to left": ("x\u202e*m", "invisible character"),
    "cyrillic a": ("\u0430", "CYRILLIC SMALL LETTER A"),
    "full width x": ("\uff58", "Type x"),
    "mathematical italic x": ("\U0001d465", "Type x"),
    "long s": ("\u017fin(x)", "Type s"),
    "ligature": ("\ufb01", "LIGATURE"),
    "superscript": ("x²", "Write ^2"),
    "arabic digit": ("x + \u0661", "ARABIC-INDIC DIGIT ONE"),
    "omicron": ("\u03bf", "OMICRON"),
    "greek capital that looks latin": ("\u0391", "GREEK CAPITAL LETTER ALPHA"),
    "combining dot": ("x\u0307", "COMBINING DOT ABOVE"),
    "minus sign": ("x − m", "Write -"),
    "quotation marks": ("“x”", "is not allowed"),
    "emoji": ("x + 🙂", "is not allowed"),
    "surrogate escape": ("x\ufffd", "is not allowed"),
    "empty": ("", "is empty"),
    "blank": ("   ", "is empty"),
}

FILES = {
    "ten megabytes": ("# " + "x" * 10**7, "larger than"),
    "deep arrays": ("a = " + "[" * 5000 + "]" * 5000, "nested more than"),
    "deep inline tables": ("a = " + "{a = " * 5000 + "1" + "}" * 5000, "nested more than"),
    "deep table names": ("[" + ".".join(["a"] * 5000) + "]", "a key has more than"),
    "deep quoted names": ("[" + ".".join(['"a"'] * 5000) + "]", "a key has more than"),
    "deep keys": (".".join(["a"] * 100_000) + " = 1", "a key has more than"),
    "brackets that never close": ("[" * 100_000, "nested more than"),
    "many problems": ("\n".join(f"k{i} = 1" for i in range(20_000)), "is not a key"),
    "many parameters": ("[parameters]\n" + "\n".join(f"k{i} = 1" for i in range(15_000)), "at most 400"),
    "huge integer": ("[parameters]\na = " + "9" * 4000, "digits"),
    "integer beyond all conversion": ("[parameters]\na = " + "9" * 100_000, "digits"),
    "infinite": ("[parameters]\na = inf", "larger than 1e+300"),
    "not a number": ("[parameters]\na = nan", "larger than 1e+300"),
    "date": ("[parameters]\na = 2020-01-01", "a number"),
    "null byte": ("a = 1\x00", "invalid TOML"),
    "not utf-8": (b"name = '\xff\xfe'", "not UTF-8"),
    "utf-16": ("name = 'a'".encode("utf-16"), ""),
    "merge conflict": ("<<<<<<< HEAD\na = 1\n=======\n", "invalid TOML"),
    "empty": ("", "one of [system], [tree] or [affine]"),
    "binary": (bytes(range(256)), ""),
    "python": ("import os\nos.system('true')\n", "invalid TOML"),
    "long line of no meaning": ("é" * 100_000, "invalid TOML"),
    "long line with commas": ("é," * 50_000, "more than 20000 values"),
    "long key": ("a" * 200_000 + " = 1", "is not a key"),
    "blanks in a number": ('[parameters]\na = "1 m' + " " * 5000 + 'x"', ""),
    "blanks after a number": ('[parameters]\na = "1' + " " * 100_000 + '"', "characters"),
    "long unit": ('[parameters]\na = { value = 1, unit = "' + "m*" * 50_000 + 'm" }', "is not a unit"),
    "splines without end": (
        "".join(f"[splines.p{i}]\npoints = {list(range(390))}\nvalues = {[1] * 390}\n" for i in range(12)), "at most"
    ),
    "numbers without end": ("".join(f"a{i} = {[1] * 390}\n" for i in range(150)), "more than 20000 values"),
    "names of objects": ('[parameters]\n"__class__" = 1\n"__init__" = 2\n', "is not a valid name"),
    "name of a function": ("[parameters]\nsin = 1\n", "is a reserved name"),
}  # fmt: skip


def refused(load):
    """The refusal, within a second of processor time."""
    began = time.process_time()
    with pytest.raises(vn.model.ModelFileError) as error:
        load()
    assert time.process_time() - began < 1.0
    assert all(problem.line >= 1 and problem.column >= 1 for problem in error.value.problems)
    assert len(error.value.problems) <= limits.PROBLEMS
    return error.value


def in_a_file(expression):
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in expression)
    return PENDULUM.replace("-m*g*l*cos(theta)", escaped)


@pytest.fixture(scope="module", autouse=True)
def warm():
    vn.model.loads(PENDULUM.replace("m = 1.0", 'm = "1 kg"'))


@pytest.mark.parametrize(("expression", "said"), EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_expressions(expression, said):
    if said is None:  # harmless, but a great deal for exact fractions
        vn.model.loads(in_a_file(expression))
        return
    error = refused(lambda: vn.model.loads(in_a_file(expression)))
    messages = [problem.message for problem in error.problems if problem.key == "system.potential_energy"]
    assert any(said in message for message in messages), messages


@pytest.mark.parametrize(("content", "said"), FILES.values(), ids=FILES)
def test_files(content, said, tmp_path):
    path = tmp_path / "model.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    error = refused(lambda: vn.load(path))
    assert any(said in problem.message for problem in error.problems), str(error)


def test_nothing_was_executed(tmp_path):
    target = tmp_path / "owned"
    attack = f"__import__('pathlib').Path('{target}').touch()"
    for text in (in_a_file(attack), PENDULUM.replace("m = 1.0", f'm = "{attack}"')):
        refused(lambda text=text: vn.model.loads(text))
    assert not target.exists()


# -- growth by definitions -----------------------------------------------------------------------------------------


def chain(first, step, count, last="d{0}"):
    lines = [f'd0 = "{first}"', *(f'd{i} = "{step.format(f"d{i - 1}")}"' for i in range(1, count))]
    text = PENDULUM.replace("-m*g*l*cos(theta)", last.format(count - 1))
    return text + "[definitions]\n" + "\n".join(lines)


@pytest.mark.parametrize(
    ("first", "step", "said"),
    [
        ("x", "{0}*cos({0})", "operations"),
        ("x", "sin({0}) + cos({0})", "operations"),
        ("2", "{0}*{0}", "larger than 1e+300"),
        ("1/3", "{0}*{0} + 1/7", None),
        ("x", "({0} + 1)^2", "deep"),
        ("x", "sin({0})", "deep"),
        ("x", "1/(1 + {0})", "deep"),
        ("x", "dot({0})*{0}", "third time derivative"),
        ("sin(x)*cos(theta)", "dot({0}*{0})", "operations"),
    ],
)
def test_definitions_cannot_grow_without_bound(first, step, said):
    text = chain(first, step, 150)
    if said is None:
        vn.model.loads(text)
        return
    error = refused(lambda: vn.model.loads(text))
    assert any(said in problem.message or "derivative" in problem.message for problem in error.problems), str(error)


def test_definitions_with_arguments_cannot_grow_without_bound():
    lines = ['"f0(a)" = "a*cos(a)"', *(f'"f{i}(a)" = "f{i - 1}(f{i - 1}(a))"' for i in range(1, 30))]
    text = PENDULUM.replace("-m*g*l*cos(theta)", "f29(x)") + "[definitions]\n" + "\n".join(lines)
    refused(lambda: vn.model.loads(text))


def test_definitions_cannot_call_themselves():
    text = PENDULUM.replace("-m*g*l*cos(theta)", "f(x)") + '[definitions]\n"f(a)" = "f(a)"\n'
    assert "not known" in str(refused(lambda: vn.model.loads(text)))


# -- other files ---------------------------------------------------------------------------------------------------

ROBOT = '[tree]\nurdf = "{}"\n'


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../secret.urdf",
        "a/../../secret.urdf",
        "..",
        ".",
        "",
        "C:\\\\secret",
        "a\\u0000b",
        "~/secret",
        "http://x/y",
    ],
)
def test_no_path_leads_out_of_the_folder(name, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.urdf").write_text("<robot/>", encoding="utf-8")
    path = inner / "model.toml"
    path.write_text(ROBOT.format(name), encoding="utf-8")
    error = refused(lambda: vn.load(path))
    assert error.problems[0].key == "tree.urdf"
    assert "root:" not in str(error)


def test_no_link_leads_out_of_the_folder(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.urdf").write_text("<robot/>", encoding="utf-8")
    (inner / "link.urdf").symlink_to(tmp_path / "secret.urdf")
    path = inner / "model.toml"
    path.write_text(ROBOT.format("link.urdf"), encoding="utf-8")
    assert "outside the folder" in str(refused(lambda: vn.load(path)))


def test_entities_of_xml_are_refused(tmp_path):
    bomb = '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><robot name="&b;"/>'
    (tmp_path / "bomb.urdf").write_text(bomb, encoding="utf-8")
    path = tmp_path / "model.toml"
    path.write_text(ROBOT.format("bomb.urdf"), encoding="utf-8")
    assert "entities" in str(refused(lambda: vn.load(path)))


def test_a_base_that_cannot_be_integrated_is_refused_before_it_is_tried():
    text = """
[tree]
base_angular_velocity = ["exp(sin(t)^2)*log(cosh(t^3) + 1)", 0, 0]
[tree.bodies.arm]
mass = 1
center_of_mass = [1, 0, 0]
"""
    assert "has no integral in closed form" in str(refused(lambda: vn.model.loads(text)))
