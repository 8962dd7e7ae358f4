"""Sine and cosine of several numbers at once, in LLVM: range reduction with three parts of π/2, polynomials of fdlibm.

    n = round(2x/π),  r = x - n π/2;   sin r = r + r³ S(r²),  cos r = 1 - r²/2 + r⁴ C(r²);   n mod 4 swaps and signs

Correct to about one unit in the last place up to |x| = 10⁶; larger arguments go to the C library, lane by lane. (The
function is not called ``sincos``: LLVM merges a sine and a cosine into a call of the C function of that name, which
would then resolve to this one.)
"""

from __future__ import annotations

from collections.abc import Callable

from vinculum.compile.llvm import literal, spread

_HALF_PI = ("3FF921FB54442D18", "3C91A62633145C07", "B91F1976B7ED8FBC")  # π/2 = first + second + third
_SINE = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
         2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
_COSINE = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
           -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
LARGEST = 1e6


def sincos(width: int) -> str:
    """The text of ``{V, V} @sine_cosine(V)`` for vectors V of this width."""
    V, I = f"<{width} x double>", f"<{width} x i64>"

    def number(value: float) -> str:
        return spread(literal(value), width)

    def fma(a: str, b: str, c: str) -> str:
        return f"call {V} @llvm.fma.v{width}f64({V} {a}, {V} {b}, {V} {c})"

    lines = [
        f"declare {V} @llvm.fma.v{width}f64({V}, {V}, {V})",
        f"declare {V} @llvm.rint.v{width}f64({V})",
        f"declare {V} @llvm.fabs.v{width}f64({V})",
        f"declare i1 @llvm.vector.reduce.or.v{width}i1(<{width} x i1>)",
        f"define internal {{{V}, {V}}} @sine_cosine({V} %x) nounwind {{",
        f"  %turns = fmul {V} %x, {number(0.6366197723675814)}",
        f"  %n = call {V} @llvm.rint.v{width}f64({V} %turns)",
        f"  %m = fneg {V} %n",
        f"  %r1 = {fma('%m', spread('0x' + _HALF_PI[0], width), '%x')}",
        f"  %r2 = {fma('%m', spread('0x' + _HALF_PI[1], width), '%r1')}",
        f"  %r = {fma('%m', spread('0x' + _HALF_PI[2], width), '%r2')}",
        f"  %z = fmul {V} %r, %r",
    ]
    lines += _polynomial("s", _SINE, number, fma)
    lines += _polynomial("c", _COSINE, number, fma)
    lines += [
        f"  %rz = fmul {V} %r, %z",
        f"  %sine = {fma('%rz', '%s0', '%r')}",
        f"  %zz = fmul {V} %z, %z",
        f"  %c1 = {fma('%z', number(-0.5), number(1.0))}",
        f"  %cosine = {fma('%zz', '%c0', '%c1')}",
        f"  %n32 = fptosi {V} %n to <{width} x i32>",
        f"  %i = sext <{width} x i32> %n32 to {I}",
        f"  %odd = and {I} %i, {spread('1', width, 'i64')}",
        f"  %swap = icmp ne {I} %odd, zeroinitializer",
        f"  %sa = select <{width} x i1> %swap, {V} %cosine, {V} %sine",
        f"  %ca = select <{width} x i1> %swap, {V} %sine, {V} %cosine",
        *_signed("s", "%i", width),
        f"  %next = add {I} %i, {spread('1', width, 'i64')}",
        *_signed("c", "%next", width),
        f"  %size = call {V} @llvm.fabs.v{width}f64({V} %x)",
        f"  %large = fcmp ogt {V} %size, {number(LARGEST)}",
        f"  %any = call i1 @llvm.vector.reduce.or.v{width}i1(<{width} x i1> %large)",
        "  br i1 %any, label %slow, label %fast",
        "slow:",
        *_lane_by_lane(width),
        "  br label %fast",
        "fast:",
        f"  %so = phi {V} [%ss, %0], [%ls{width}, %slow]",
        f"  %co = phi {V} [%cs, %0], [%lc{width}, %slow]",
        f"  %pair = insertvalue {{{V}, {V}}} undef, {V} %so, 0",
        f"  %both = insertvalue {{{V}, {V}}} %pair, {V} %co, 1",
        f"  ret {{{V}, {V}}} %both",
        "}",
    ]
    return "\n".join(lines)


def _polynomial(
    name: str, coefficients: tuple[float, ...], number: Callable[[float], str], fma: Callable[[str, str, str], str]
) -> list[str]:
    """Horner's scheme in z, with the result in %<name>0."""
    lines, last = [], number(coefficients[-1])
    for i in reversed(range(len(coefficients) - 1)):
        lines.append(f"  %{name}p{i} = {fma('%z', last, number(coefficients[i]))}")
        last = f"%{name}p{i}"
    return [*lines, lines.pop().replace(f"%{name}p0 =", f"%{name}0 =")]


def _signed(name: str, quadrant: str, width: int) -> list[str]:
    """The sign bit from the second bit of the quadrant."""
    V, I = f"<{width} x double>", f"<{width} x i64>"
    return [
        f"  %{name}q = and {I} {quadrant}, {spread('2', width, 'i64')}",
        f"  %{name}h = shl {I} %{name}q, {spread('62', width, 'i64')}",
        f"  %{name}b = bitcast {V} %{name}a to {I}",
        f"  %{name}x = xor {I} %{name}b, %{name}h",
        f"  %{name}s = bitcast {I} %{name}x to {V}",
    ]


def _lane_by_lane(width: int) -> list[str]:
    """All lanes by the C library, for arguments beyond LARGEST."""
    V = f"<{width} x double>"
    lines = [
        f"  %ls0 = fadd {V} zeroinitializer, zeroinitializer",
        f"  %lc0 = fadd {V} zeroinitializer, zeroinitializer",
    ]
    for i in range(width):
        lines += [
            f"  %e{i} = extractelement {V} %x, i64 {i}",
            f"  %se{i} = call double @llvm.sin.f64(double %e{i})",
            f"  %ce{i} = call double @llvm.cos.f64(double %e{i})",
            f"  %ls{i + 1} = insertelement {V} %ls{i}, double %se{i}, i64 {i}",
            f"  %lc{i + 1} = insertelement {V} %lc{i}, double %ce{i}, i64 {i}",
        ]
    return lines
