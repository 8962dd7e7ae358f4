"""The program that reads a tape: Taylor coefficients of all rows, order by order, and the steps made with them.

The coefficients of a row lie next to each other, with zeros behind the last one. A product of two series is then a
loop over blocks of four coefficients without a remainder: what is read beyond the end of one series meets zeros of the
other.

`propagate` makes steps until a time is reached, a number of steps is done, or the watched row exceeds its limit. The
step is that of Jorba and Zou (2005), as in heyoka, for the order p:

    h = min((s/‖x_p‖)^(1/p), (s/‖x_{p-1}‖)^(1/(p-1))) exp(-0.7/(p-1)) / e²,   s = max(1, ‖x_0‖)
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

from vinculum.compile.llvm import called_name
from vinculum.compile.machine import MachineCode
from vinculum.compile.tape import FUNCTION, QUOTIENT, ROOT, SUM, TIME

REACHED, ENOUGH, WATCHED, NOT_FINITE = range(4)  # why `propagate` returned
LANES = 4
HIGHEST = 128  # order
_PROPAGATE = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 10)


def stride(order: int) -> int:
    """Doubles from row to row: the coefficients 0 ... order, and at least three zeros."""
    return -(-(order + LANES) // LANES) * LANES


@lru_cache(maxsize=32)
def program(functions: tuple[str, ...]) -> tuple[MachineCode, Any]:
    """`propagate` with the functions that a tape calls; the code must be kept while it is called.

    ``int64 propagate(code, rows, numbers, state, rates, sizes, reals, times, steps, kept)`` with the rows of the
    state and of its rates, then k further ones; sizes = (instructions, n, order, stride, most steps, watched row or -1,
    steps done, k); reals = (t, the rounding error of t, target, limit of the watched row, factor of the step); times
    (most steps + 1), steps (most steps, n, order + 1) and kept (most steps, k, order) receive the ends of the steps and
    the coefficients of the state and of the further rows.
    """
    text = "\n".join([_SERIES, _sweep(functions), _PROPAGATION])
    code = MachineCode(text, unroll=False)
    return code, _PROPAGATE(code.address("propagate"))


_WEIGHTS = ", ".join(f"double {float(j)}" for j in range(HIGHEST + LANES))
_V = f"<{LANES} x double>"
_REVERSED = f"<{LANES} x i32> <{', '.join(f'i32 {j}' for j in reversed(range(LANES)))}>"
_INNER = """
define internal {V} @{name}(ptr %a, ptr %b, i64 %k) alwaysinline nounwind {{
entry:
  %last = getelementptr double, ptr %b, i64 %k
  %from = getelementptr double, ptr %last, i64 {back}
  br label %block
block:
  %j = phi i64 [0, %entry], [%next, %block]
  %s = phi {V} [zeroinitializer, %entry], [%sum, %block]
  %ap = getelementptr double, ptr %a, i64 %j
  %av = load {V}, ptr %ap, align 8
  %minus = sub i64 0, %j
  %bp = getelementptr double, ptr %from, i64 %minus
  %bv = load {V}, ptr %bp, align 8
  %rv = shufflevector {V} %bv, {V} poison, {reversed}
{weight}
  %product = fmul contract {V} %left, %rv
  %sum = fadd contract {V} %s, %product
  %next = add i64 %j, {lanes}
  %more = icmp sle i64 %next, %k
  br i1 %more, label %block, label %done
done:
  ret {V} %sum
}}"""
_WEIGHTED = f"""  %wp = getelementptr double, ptr @weights, i64 %j
  %wv = load {_V}, ptr %wp, align 8
  %left = fmul {_V} %av, %wv"""


def _inner(name: str, weight: str) -> str:
    """Lanes whose sum is Σ_{j≤k} w_j a_j b_{k-j}."""
    return _INNER.format(V=_V, name=name, back=1 - LANES, reversed=_REVERSED, weight=weight, lanes=LANES)


_SERIES = f"""
@weights = internal constant [{HIGHEST + LANES} x double] [{_WEIGHTS}], align 8
declare double @llvm.vector.reduce.fadd.v{LANES}f64(double, {_V})
declare double @llvm.fabs.f64(double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.pow.f64(double, double)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
{_inner("product", f"  %left = fadd {_V} %av, zeroinitializer")}
{_inner("integrand", _WEIGHTED)}

define internal double @total({_V} %v) alwaysinline nounwind {{
  %s = call reassoc double @llvm.vector.reduce.fadd.v{LANES}f64(double -0.0, {_V} %v)
  ret double %s
}}"""


def _sweep(functions: tuple[str, ...]) -> str:
    """Coefficient k of every row, instruction after instruction."""
    calls = {name: called_name(name) for name in functions}
    known = {"llvm.sqrt.f64", "llvm.pow.f64", "llvm.fabs.f64"}
    two = {"power", "atan2"}
    declared = "\n".join(
        f"declare double @{c}({'double, double' if name in two else 'double'})"
        for name, c in calls.items()
        if c not in known
    )
    cases = " ".join(f"i64 {i}, label %f{i}" for i in range(len(functions)))
    blocks = "\n".join(
        f"f{i}:\n  %y{i} = call double @{c}(double %u0{', double %w0' if name in two else ''})\n  br label %value"
        for i, (name, c) in enumerate(calls.items())
    )
    values = ", ".join([*(f"[%y{i}, %f{i}]" for i in range(len(functions))), "[%u0, %start]"])
    return f"""
{declared}

define internal void @sweep(ptr %code, i64 %count, ptr %rows, i64 %stride, ptr %numbers, i64 %k) nounwind {{
entry:
  %first = icmp eq i64 %k, 0
  %order = sitofp i64 %k to double
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%inext, %following]
  %pc = phi ptr [%code, %entry], [%after, %following]
  %op = load i64, ptr %pc
  %p1 = getelementptr i64, ptr %pc, i64 1
  %p2 = getelementptr i64, ptr %pc, i64 2
  %p3 = getelementptr i64, ptr %pc, i64 3
  %p4 = getelementptr i64, ptr %pc, i64 4
  %r = load i64, ptr %p1
  %x2 = load i64, ptr %p2
  %x3 = load i64, ptr %p3
  %ro = mul i64 %r, %stride
  %y = getelementptr double, ptr %rows, i64 %ro
  %yk = getelementptr double, ptr %y, i64 %k
  switch i64 %op, label %sum [i64 {QUOTIENT}, label %quotient i64 {ROOT}, label %root i64 {FUNCTION}, label %function]

sum: ; {SUM}
  %plain = icmp sgt i64 %x2, 0
  br i1 %plain, label %term, label %terms
term:
  %ti = phi i64 [0, %sum], [%tn, %term]
  %tp = phi ptr [%p4, %sum], [%tq, %term]
  %ts = phi double [0.0, %sum], [%tt, %term]
  %tc = load i64, ptr %tp
  %tap = getelementptr i64, ptr %tp, i64 1
  %ta = load i64, ptr %tap
  %tcp = getelementptr double, ptr %numbers, i64 %tc
  %tcv = load double, ptr %tcp
  %tao = mul i64 %ta, %stride
  %tak = add i64 %tao, %k
  %tvp = getelementptr double, ptr %rows, i64 %tak
  %tv = load double, ptr %tvp
  %tm = fmul contract double %tcv, %tv
  %tt = fadd contract double %ts, %tm
  %tn = add i64 %ti, 1
  %tq = getelementptr i64, ptr %tp, i64 2
  %tmore = icmp slt i64 %tn, %x2
  br i1 %tmore, label %term, label %terms
terms:
  %ss = phi double [0.0, %sum], [%tt, %term]
  %sp = phi ptr [%p4, %sum], [%tq, %term]
  %any = icmp sgt i64 %x3, 0
  br i1 %any, label %prod, label %nosum
nosum:
  store double %ss, ptr %yk
  br label %sumdone
prod:
  %mi = phi i64 [0, %terms], [%mn, %prod.end]
  %mp = phi ptr [%sp, %terms], [%mq, %prod.end]
  %ms = phi {_V} [zeroinitializer, %terms], [%mt, %prod.end]
  %mc = load i64, ptr %mp
  %map = getelementptr i64, ptr %mp, i64 1
  %ma = load i64, ptr %map
  %mbp = getelementptr i64, ptr %mp, i64 2
  %mb = load i64, ptr %mbp
  %mcp = getelementptr double, ptr %numbers, i64 %mc
  %mcv = load double, ptr %mcp
  %mao = mul i64 %ma, %stride
  %mbo = mul i64 %mb, %stride
  %mar = getelementptr double, ptr %rows, i64 %mao
  %mbr = getelementptr double, ptr %rows, i64 %mbo
  %mv = call {_V} @product(ptr %mar, ptr %mbr, i64 %k)
  br label %prod.end
prod.end:
  %mc1 = insertelement {_V} poison, double %mcv, i64 0
  %mc4 = shufflevector {_V} %mc1, {_V} poison, <{LANES} x i32> zeroinitializer
  %mm = fmul contract {_V} %mc4, %mv
  %mt = fadd contract {_V} %ms, %mm
  %mn = add i64 %mi, 1
  %mq = getelementptr i64, ptr %mp, i64 3
  %mmore = icmp slt i64 %mn, %x3
  br i1 %mmore, label %prod, label %sumend
sumend:
  %mtotal = call double @total({_V} %mt)
  %result = fadd double %ss, %mtotal
  store double %result, ptr %yk
  br label %sumdone
sumdone:
  %s2 = mul i64 %x2, 2
  %s3 = mul i64 %x3, 3
  %s23 = add i64 %s2, %s3
  %send = getelementptr i64, ptr %p4, i64 %s23
  br label %following

quotient:
  %qao = mul i64 %x2, %stride
  %qbo = mul i64 %x3, %stride
  %qa = getelementptr double, ptr %rows, i64 %qao
  %qb = getelementptr double, ptr %rows, i64 %qbo
  store double 0.0, ptr %yk
  %qv = call {_V} @product(ptr %qb, ptr %y, i64 %k)
  %qs = call double @total({_V} %qv)
  %qakp = getelementptr double, ptr %qa, i64 %k
  %qak = load double, ptr %qakp
  %qn = fsub double %qak, %qs
  %qb0 = load double, ptr %qb
  %qy = fdiv double %qn, %qb0
  store double %qy, ptr %yk
  br label %after4

root:
  %rao = mul i64 %x2, %stride
  %ra = getelementptr double, ptr %rows, i64 %rao
  %rakp = getelementptr double, ptr %ra, i64 %k
  %rak = load double, ptr %rakp
  br i1 %first, label %root0, label %rootk
root0:
  %r0 = call double @llvm.sqrt.f64(double %rak)
  store double %r0, ptr %yk
  br label %after3
rootk:
  store double 0.0, ptr %yk
  %rv = call {_V} @product(ptr %y, ptr %y, i64 %k)
  %rs = call double @total({_V} %rv)
  %rn = fsub double %rak, %rs
  %ry0 = load double, ptr %y
  %rd = fadd double %ry0, %ry0
  %ry = fdiv double %rn, %rd
  store double %ry, ptr %yk
  br label %after3

function:
  %u = load i64, ptr %p4
  %uo = mul i64 %u, %stride
  %up = getelementptr double, ptr %rows, i64 %uo
  br i1 %first, label %start, label %arg
start:
  %u0 = load double, ptr %up
  %wq = getelementptr i64, ptr %pc, i64 6
  %w = load i64, ptr %wq
  %binary = icmp eq i64 %x3, 2
  %ws = select i1 %binary, i64 %w, i64 0
  %wo = mul i64 %ws, %stride
  %wp = getelementptr double, ptr %rows, i64 %wo
  %w0 = load double, ptr %wp
  switch i64 %x2, label %value [{cases}]
{blocks}
value:
  %fv = phi double {values}
  store double %fv, ptr %yk
  br label %functionend
arg:
  %fi = phi i64 [0, %function], [%fn, %argnext]
  %fp = phi ptr [%p4, %function], [%fq, %argnext]
  %fs = phi {_V} [zeroinitializer, %function], [%ft, %argnext]
  %fa = load i64, ptr %fp
  %fgp = getelementptr i64, ptr %fp, i64 1
  %fg = load i64, ptr %fgp
  %moves = icmp sge i64 %fg, 0
  br i1 %moves, label %argmoves, label %argnext
argmoves:
  %fao = mul i64 %fa, %stride
  %fgo = mul i64 %fg, %stride
  %far = getelementptr double, ptr %rows, i64 %fao
  %fgr = getelementptr double, ptr %rows, i64 %fgo
  %fpv = call {_V} @integrand(ptr %far, ptr %fgr, i64 %k)
  %fadded = fadd {_V} %fs, %fpv
  br label %argnext
argnext:
  %ft = phi {_V} [%fs, %arg], [%fadded, %argmoves]
  %fn = add i64 %fi, 1
  %fq = getelementptr i64, ptr %fp, i64 2
  %fmore = icmp slt i64 %fn, %x3
  br i1 %fmore, label %arg, label %argsum
argsum:
  %ftotal = call double @total({_V} %ft)
  %fy = fdiv double %ftotal, %order
  store double %fy, ptr %yk
  br label %functionend
functionend:
  %fused = mul i64 %x3, 2
  %fend = getelementptr i64, ptr %p4, i64 %fused
  br label %following
after3:
  br label %following
after4:
  br label %following
following:
  %after = phi ptr [%send, %sumdone], [%fend, %functionend], [%p3, %after3], [%p4, %after4]
  %inext = add i64 %i, 1
  %imore = icmp slt i64 %inext, %count
  br i1 %imore, label %loop, label %done
done:
  ret void
}}"""


_PROPAGATION = f"""
define internal i64 @coefficients(ptr %code, ptr %rows, ptr %numbers, ptr %state, ptr %rates, ptr %sizes,
                                  ptr %reals) nounwind {{
entry:
  %count = load i64, ptr %sizes
  %np = getelementptr i64, ptr %sizes, i64 1
  %n = load i64, ptr %np
  %op = getelementptr i64, ptr %sizes, i64 2
  %order = load i64, ptr %op
  %sp = getelementptr i64, ptr %sizes, i64 3
  %stride = load i64, ptr %sp
  %wp = getelementptr i64, ptr %sizes, i64 5
  %watched = load i64, ptr %wp
  %lp = getelementptr double, ptr %reals, i64 3
  %limit = load double, ptr %lp
  %t = load double, ptr %reals
  %to = mul i64 %stride, {TIME}
  %tp = getelementptr double, ptr %rows, i64 %to
  %tp1 = getelementptr double, ptr %tp, i64 1
  store double %t, ptr %tp
  store double 1.0, ptr %tp1
  br label %orders
orders:
  %k = phi i64 [0, %entry], [%knext, %statesdone]
  %knext = add i64 %k, 1
  call void @sweep(ptr %code, i64 %count, ptr %rows, i64 %stride, ptr %numbers, i64 %k)
  %first = icmp eq i64 %k, 0
  %is = icmp sge i64 %watched, 0
  %look = and i1 %first, %is
  br i1 %look, label %watch, label %advance
watch:
  %vo = mul i64 %watched, %stride
  %vp = getelementptr double, ptr %rows, i64 %vo
  %v = load double, ptr %vp
  %large = fcmp ogt double %v, %limit
  br i1 %large, label %stop, label %advance
advance:
  %kd = sitofp i64 %knext to double
  br label %each
each:
  %i = phi i64 [0, %advance], [%inext, %each]
  %xp = getelementptr i64, ptr %state, i64 %i
  %fp = getelementptr i64, ptr %rates, i64 %i
  %x = load i64, ptr %xp
  %f = load i64, ptr %fp
  %xo = mul i64 %x, %stride
  %fo = mul i64 %f, %stride
  %xk = add i64 %xo, %knext
  %fk = add i64 %fo, %k
  %xv = getelementptr double, ptr %rows, i64 %xk
  %fv = getelementptr double, ptr %rows, i64 %fk
  %rate = load double, ptr %fv
  %c = fdiv double %rate, %kd
  store double %c, ptr %xv
  %inext = add i64 %i, 1
  %imore = icmp slt i64 %inext, %n
  br i1 %imore, label %each, label %statesdone
statesdone:
  %kmore = icmp slt i64 %knext, %order
  br i1 %kmore, label %orders, label %done
done:
  ret i64 0
stop:
  ret i64 1
}}

define internal double @largest(ptr %rows, ptr %state, i64 %n, i64 %stride, i64 %k) nounwind {{
entry:
  br label %each
each:
  %i = phi i64 [0, %entry], [%inext, %each]
  %m = phi double [0.0, %entry], [%larger, %each]
  %xp = getelementptr i64, ptr %state, i64 %i
  %x = load i64, ptr %xp
  %xo = mul i64 %x, %stride
  %xk = add i64 %xo, %k
  %vp = getelementptr double, ptr %rows, i64 %xk
  %v = load double, ptr %vp
  %a = call double @llvm.fabs.f64(double %v)
  %not = fcmp ule double %a, %m ; also for NaN, which stays
  %isnan = fcmp uno double %a, %m
  %kept = select i1 %not, double %m, double %a
  %larger = select i1 %isnan, double 0x7FF8000000000000, double %kept
  %inext = add i64 %i, 1
  %more = icmp slt i64 %inext, %n
  br i1 %more, label %each, label %done
done:
  ret double %larger
}}

define i64 @propagate(ptr %code, ptr %rows, ptr %numbers, ptr %state, ptr %rates, ptr %sizes, ptr %reals, ptr %times,
                      ptr %steps, ptr %kept) nounwind {{
entry:
  %np = getelementptr i64, ptr %sizes, i64 1
  %n = load i64, ptr %np
  %orp = getelementptr i64, ptr %sizes, i64 2
  %order = load i64, ptr %orp
  %sp = getelementptr i64, ptr %sizes, i64 3
  %stride = load i64, ptr %sp
  %mp = getelementptr i64, ptr %sizes, i64 4
  %most = load i64, ptr %mp
  %furtherp = getelementptr i64, ptr %sizes, i64 7
  %further = load i64, ptr %furtherp
  %furtherrows = getelementptr i64, ptr %rates, i64 %n
  %bytes = mul i64 %order, 8
  %donep = getelementptr i64, ptr %sizes, i64 6
  %tlp = getelementptr double, ptr %reals, i64 1
  %gp = getelementptr double, ptr %reals, i64 2
  %target = load double, ptr %gp
  %fp = getelementptr double, ptr %reals, i64 4
  %factor = load double, ptr %fp
  %before = sub i64 %order, 1
  %od = sitofp i64 %order to double
  %bd = sitofp i64 %before to double
  %e1 = fdiv double 1.0, %od
  %e2 = fdiv double 1.0, %bd
  %width = add i64 %order, 1
  %size = mul i64 %width, %n
  store i64 0, ptr %donep
  %tstart = load double, ptr %reals
  store double %tstart, ptr %times
  br label %step
step:
  %s = phi i64 [0, %entry], [%snext, %again]
  %seen = call i64 @coefficients(ptr %code, ptr %rows, ptr %numbers, ptr %state, ptr %rates, ptr %sizes, ptr %reals)
  %bad = icmp ne i64 %seen, 0
  br i1 %bad, label %watched, label %length
watched:
  ret i64 {WATCHED}
length:
  %m0 = call double @largest(ptr %rows, ptr %state, i64 %n, i64 %stride, i64 0)
  %m1 = call double @largest(ptr %rows, ptr %state, i64 %n, i64 %stride, i64 %before)
  %m2 = call double @largest(ptr %rows, ptr %state, i64 %n, i64 %stride, i64 %order)
  %small = fcmp olt double %m0, 1.0
  %scale = select i1 %small, double 1.0, double %m0
  %q1 = fdiv double %scale, %m1
  %q2 = fdiv double %scale, %m2
  %h1 = call double @llvm.pow.f64(double %q1, double %e2)
  %h2 = call double @llvm.pow.f64(double %q2, double %e1)
  %less = fcmp olt double %h1, %h2
  %rho = select i1 %less, double %h1, double %h2
  %wish = fmul double %rho, %factor
  %nan = fcmp uno double %h1, %h2
  %none = fcmp ole double %wish, 0.0
  %lost = or i1 %nan, %none
  br i1 %lost, label %failed, label %cut
failed:
  ret i64 {NOT_FINITE}
cut:
  %t = load double, ptr %reals
  %tl = load double, ptr %tlp
  %far = fsub double %target, %t
  %left = fsub double %far, %tl
  %leftsize = call double @llvm.fabs.f64(double %left)
  %ends = fcmp oge double %wish, %leftsize
  %forward = fcmp oge double %left, 0.0
  %back = fneg double %wish
  %signed = select i1 %forward, double %wish, double %back
  %h = select i1 %ends, double %left, double %signed
  %place = mul i64 %s, %size
  %store = getelementptr double, ptr %steps, i64 %place
  br label %keep
keep:
  %j = phi i64 [0, %cut], [%jnext, %keepone]
  %jmore = icmp slt i64 %j, %further
  br i1 %jmore, label %keepone, label %states
keepone:
  %rp = getelementptr i64, ptr %furtherrows, i64 %j
  %r = load i64, ptr %rp
  %ro = mul i64 %r, %stride
  %from = getelementptr double, ptr %rows, i64 %ro
  %before_this = mul i64 %s, %further
  %place_j = add i64 %before_this, %j
  %place_k = mul i64 %place_j, %order
  %to = getelementptr double, ptr %kept, i64 %place_k
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  %jnext = add i64 %j, 1
  br label %keep
states:
  br label %each
each:
  %i = phi i64 [0, %states], [%inext, %summed]
  %xp = getelementptr i64, ptr %state, i64 %i
  %x = load i64, ptr %xp
  %xo = mul i64 %x, %stride
  %row = getelementptr double, ptr %rows, i64 %xo
  %co = mul i64 %i, %width
  %copy = getelementptr double, ptr %store, i64 %co
  br label %horner
horner:
  %k = phi i64 [%order, %each], [%kless, %horner]
  %sum = phi double [0.0, %each], [%new, %horner]
  %cp = getelementptr double, ptr %row, i64 %k
  %c = load double, ptr %cp
  %dp = getelementptr double, ptr %copy, i64 %k
  store double %c, ptr %dp
  %prod = fmul contract double %sum, %h
  %new = fadd contract double %prod, %c
  %kless = sub i64 %k, 1
  %kmore = icmp sge i64 %kless, 0
  br i1 %kmore, label %horner, label %summed
summed:
  store double %new, ptr %row
  %inext = add i64 %i, 1
  %imore = icmp slt i64 %inext, %n
  br i1 %imore, label %each, label %advance
advance:
  %ts = fadd double %t, %h
  %bb = fsub double %ts, %t
  %tb = fsub double %ts, %bb
  %ea = fsub double %t, %tb
  %eb = fsub double %h, %bb
  %err = fadd double %ea, %eb
  %tl2 = fadd double %tl, %err
  %hi = fadd double %ts, %tl2
  %hd = fsub double %hi, %ts
  %lo = fsub double %tl2, %hd
  %tnew = select i1 %ends, double %target, double %hi
  %lnew = select i1 %ends, double 0.0, double %lo
  store double %tnew, ptr %reals
  store double %lnew, ptr %tlp
  %snext = add i64 %s, 1
  store i64 %snext, ptr %donep
  %timep = getelementptr double, ptr %times, i64 %snext
  store double %tnew, ptr %timep
  br i1 %ends, label %reached, label %check
reached:
  ret i64 {REACHED}
check:
  %enough = icmp sge i64 %snext, %most
  br i1 %enough, label %pause, label %again
pause:
  ret i64 {ENOUGH}
again:
  br label %step
}}"""
