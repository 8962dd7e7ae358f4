"""Equations of motion in C: kernels, projection, consistent start, and steps of a Runge-Kutta method.

All functions of one model have the same arguments as those of any other; arrays that a model does not have may be NULL.
"""

from __future__ import annotations

from vinculum.export.c_code import array, literal, vector
from vinculum.export.equation_kernels import EquationKernels, Level
from vinculum.export.kernel import Kernel
from vinculum.simulation.problem.pivots import WATCH_LIMIT
from vinculum.simulation.stabilization.stabilization import AFTER_STEPS, CONTINUOUS, HELD

_DIGITS = {"double": ("1e-10", "1e-14", "1e-9"), "float": ("1e-5f", "1e-6f", "1e-3f")}  # rank, converged, near enough

STATUS = """/* What functions that return int return. */
#define {NAME}_DONE 0
#define {NAME}_NOT_FINITE 1 /* a number is infinite or not a number; the state is unchanged */
#define {NAME}_SINGULAR 2 /* the elimination is close to singular here; the state is unchanged */
#define {NAME}_NOT_REACHED 3 /* Newton's method did not reach the constraints */"""

DECLARED = """/* The values of the parameters with which the code was exported. */
void {name}_parameters({real} p[]);

/* The state with which the code was exported. */
void {name}_initial({real} x[]);

/* Moves the states onto the constraints with the least change, positions first. */
int {name}_project({real} t, {real} x[], const {real} p[]);

/*
 * A consistent start: solves the constraints for the coordinates and velocities s whose entry of held is 0, with the
 * least change, then sets the states x. States that a controller adds keep their values.
 */
int {name}_start({real} t, {real} s[], const int held[], const {real} p[], {real} x[]);

/* One step h of the method {method} with constant inputs; constraints: {stabilization}. */
int {name}_step({real} t, {real} h, {real} x[], const {real} u[], const {real} p[]);"""

LEAST_NORM = """/* The smallest d with J d = f. Rows are made orthogonal, the longest first; dependent ones drop out. */
static void least_norm(int rows, int columns, {real} J[], {real} f[], {real} d[])
{{
    int i, j, k;
    for (i = 0; i < rows; ++i) {{
        {real} length = 0;
        for (j = 0; j < columns; ++j) length += J[i * columns + j] * J[i * columns + j];
        length = sqrt{f}(length);
        if (length > 0) {{
            for (j = 0; j < columns; ++j) J[i * columns + j] /= length;
            f[i] /= length;
        }}
    }}
    for (j = 0; j < columns; ++j) d[j] = 0;
    for (k = 0; k < rows; ++k) {{
        {real} largest = 0;
        int best = k;
        for (i = k; i < rows; ++i) {{
            {real} square = 0;
            for (j = 0; j < columns; ++j) square += J[i * columns + j] * J[i * columns + j];
            if (square > largest) {{
                largest = square;
                best = i;
            }}
        }}
        if (!(largest > {rank} * {rank})) return;
        largest = sqrt{f}(largest);
        for (j = 0; j < columns; ++j) {{
            const {real} swapped = J[best * columns + j];
            J[best * columns + j] = J[k * columns + j];
            J[k * columns + j] = swapped / largest;
        }}
        {{
            const {real} swapped = f[best];
            f[best] = f[k];
            f[k] = swapped / largest;
        }}
        for (i = k + 1; i < rows; ++i) {{
            {real} along = 0;
            for (j = 0; j < columns; ++j) along += J[i * columns + j] * J[k * columns + j];
            for (j = 0; j < columns; ++j) J[i * columns + j] -= along * J[k * columns + j];
            f[i] -= along * f[k];
        }}
        for (j = 0; j < columns; ++j) d[j] += f[k] * J[k * columns + j];
    }}
}}
"""

NEWTON = """typedef void (*{name}_level)({real} t, const {real} s[], const {real} p[], {real} f[], {real} J[]);

static {real} size_of(int count, const {real} f[])
{{
    {real} sum = 0;
    int i;
    for (i = 0; i < count; ++i) sum += f[i] * f[i];
    return sqrt{f}(sum);
}}

/* Residuals and Jacobian without what is held; where a start may violate a constraint that nothing can move, 0. */
static void masked({name}_level level, int rows, int first, int count, {real} t, const {real} s[], const int held[],
                   const {real} p[], {real} f[], {real} J[])
{{
    int i, j;
    level(t, s, p, f, J);
    for (i = 0; held && i < rows; ++i) {{
        int moves = !{approached};
        for (j = 0; j < count; ++j) {{
            if (held[first + j]) J[i * count + j] = 0;
            moves = moves || J[i * count + j] != 0;
        }}
        if (!moves) f[i] = 0;
    }}
}}

/* Newton's method with the least change of s[first], ..., s[first + count - 1]; steps that do not help are halved. */
static int newton({name}_level level, int rows, int first, int count, {real} t, {real} s[], int total,
                  const int held[], const {real} p[], int most)
{{
    {real} f[{rows}], J[{entries}], d[{columns}], point[{total}];
    {real} size, new_size = 0, change, scale, factor;
    int j, k;
    masked(level, rows, first, count, t, s, held, p, f, J);
    size = size_of(rows, f);
    for (k = 0; k < most; ++k) {{
        least_norm(rows, count, J, f, d);
        change = 0;
        scale = 1;
        for (j = 0; j < count; ++j) {{
            if (!isfinite(d[j])) return {NAME}_NOT_FINITE;
            if (fabs{f}(d[j]) > change) change = fabs{f}(d[j]);
            if (fabs{f}(s[first + j]) + 1 > scale) scale = fabs{f}(s[first + j]) + 1;
        }}
        if (change <= {converged} * scale) {{
            for (j = 0; j < count; ++j) s[first + j] -= d[j];
            return size <= {near} * scale ? {NAME}_DONE : {NAME}_NOT_REACHED;
        }}
        for (factor = 1; factor > ({real})1e-4; factor /= 2) {{
            for (j = 0; j < total; ++j) point[j] = s[j];
            for (j = 0; j < count; ++j) point[first + j] -= factor * d[j];
            masked(level, rows, first, count, t, point, held, p, f, J);
            new_size = size_of(rows, f);
            if (new_size <= (1 - ({real})0.1 * factor) * size) break;
        }}
        if (!(factor > ({real})1e-4)) return size <= {near} * scale ? {NAME}_DONE : {NAME}_NOT_REACHED;
        for (j = 0; j < total; ++j) s[j] = point[j];
        size = new_size;
    }}
    return size <= {near} ? {NAME}_DONE : {NAME}_NOT_REACHED;
}}
"""

STEP = """int {name}_step({real} t, {real} h, {real} x[], const {real} u[], const {real} p[])
{{
    {A}
    {b}
    {s}
    {real} K[{stages}][{n}], point[{n}], c[{m}] = {{0}}, k[{pivots}] = {{1}};
    int i, j, m;
{gains}    for (j = 0; j < {stages}; ++j) {{
        for (i = 0; i < {NAME}_STATES; ++i) {{
            {real} sum = 0;
            for (m = 0; m < j; ++m) sum += A[j][m] * K[m][i];
            point[i] = x[i] + h * sum;
        }}
{feedback}        {name}_rates(t + s[j] * h, point, u, c, p, K[j], k);
        for (i = 0; j == 0 && i < {NAME}_PIVOTS; ++i)
            if (k[i] < {least}) return isfinite(k[i]) ? {NAME}_SINGULAR : {NAME}_NOT_FINITE;
    }}
    for (i = 0; i < {NAME}_STATES; ++i) {{
        {real} sum = 0;
        for (j = 0; j < {stages}; ++j) sum += b[j] * K[j][i];
        point[i] = x[i] + h * sum;
        if (!isfinite(point[i])) return {NAME}_NOT_FINITE;
    }}
    for (i = 0; i < {NAME}_STATES; ++i) x[i] = point[i];
    return {end};
}}
"""


class EquationsInC:
    """The parts of header and source for equations of motion."""

    def __init__(self, kernels: EquationKernels, name: str, real: str) -> None:
        self.kernels, self.name, self.real = kernels, name, real
        rank, converged, near = _DIGITS[real]
        self.words = {
            "name": name, "NAME": name.upper(), "real": real, "f": "f" if real == "float" else "",
            "rank": rank, "converged": converged, "near": near,
            "method": kernels.plant.method.name, "stabilization": kernels.plant.stabilization.name,
            "approached": int(kernels.plant.approached),
        }  # fmt: skip

    @property
    def sizes(self) -> dict[str, int]:
        """The lengths of the arrays, for the header."""
        k = self.kernels
        outputs = {group.name: len(group) for group in k.outputs.results}
        return {
            "STATES": len(k.x), "INPUTS": len(k.u), "PARAMETERS": len(k.p), "CONSTRAINTS": len(k.c),
            "GAINS": len(k.g), "PIVOTS": len(k.rates.results[1]), "SYMBOLS": outputs["s"],
            "ACCELERATIONS": outputs["a"], "REACTIONS": outputs["r"], "LAWS": outputs["l"],
            "RESIDUALS": len(k.residuals.outputs), "EVENTS": len(k.events.outputs),
        }  # fmt: skip

    @property
    def public(self) -> list[Kernel]:
        """The kernels that a user calls."""
        k = self.kernels
        found = [k.rates, k.outputs, k.residuals, k.corrections, k.states, k.events, k.motion, k.derivative]
        return found if k.energy is None else [*found, k.energy]

    @property
    def private(self) -> list[Kernel]:
        """The kernels that only the other functions call."""
        return [level.kernel for level in self._levels]

    @property
    def _levels(self) -> list[Level]:
        return [*self.kernels.projections, *self.kernels.starts]

    @property
    def declarations(self) -> list[str]:
        """What the header has in addition to the kernels."""
        return [STATUS.format(**self.words), DECLARED.format(**self.words)]

    @property
    def functions(self) -> list[str]:
        """What the source has in addition to the kernels."""
        solving = [LEAST_NORM.format(**self.words), self._newton()] if self._levels else []
        return [self._parameters(), self._initial(), *solving, self._project(), self._start(), self._step()]

    def _parameters(self) -> str:
        own = [self.kernels.plant.values[p] for p in self.kernels.p.nodes]
        return self._fill(f"void {self.name}_parameters({self.real} p[])", "p", own)

    def _initial(self) -> str:
        return self._fill(f"void {self.name}_initial({self.real} x[])", "x", self.kernels.plant.start)

    def _fill(self, head: str, target: str, numbers: list[float]) -> str:
        lines = [f"    {target}[{i}] = {literal(x, self.real)};" for i, x in enumerate(numbers)] or [
            f"    (void){target};"
        ]
        return "\n".join([head, "{", *lines, "}\n"])

    def _newton(self) -> str:
        rows = max(level.rows for level in self._levels)
        columns = max(level.moved for level in self._levels)
        entries = max(level.rows * level.moved for level in self._levels)
        total = max(len(self.kernels.x), len(self.kernels.s))
        return NEWTON.format(**self.words, rows=rows, columns=columns, entries=entries, total=total)

    def _project(self) -> str:
        head = f"int {self.name}_project({self.real} t, {self.real} x[], const {self.real} p[])"
        return self._solved(head, self.kernels.projections, "x", len(self.kernels.x), "NULL", 8, [])

    def _start(self) -> str:
        real = self.real
        head = f"int {self.name}_start({real} t, {real} s[], const int held[], const {real} p[], {real} x[])"
        end = [f"    {self.name}_states(t, s, p, x);"]
        return self._solved(head, self.kernels.starts, "s", len(self.kernels.s), "held", 60, end)

    def _solved(
        self, head: str, levels: list[Level], space: str, total: int, held: str, most: int, end: list[str]
    ) -> str:
        calls = [self._solve_level(level, f"t, {space}, {total}, {held}, p, {most}") for level in levels]
        if not calls:
            idle = ["t", space, "p"] if not end else []
            calls = [f"    (void){name};" for name in (*idle, *([held] if held != "NULL" else []))]
        else:
            calls = ["    int status;", *calls]
        return "\n".join([head, "{", *calls, *end, f"    return {self.name.upper()}_DONE;", "}\n"])

    def _solve_level(self, level: Level, rest: str) -> str:
        first = f"{self.name}_{level.kernel.name}, {level.rows}, {level.first}, {level.moved}"
        done = f"    if (status != {self.name.upper()}_DONE) return status;"
        return f"    status = newton({first}, {rest});\n{done}"

    def _step(self) -> str:
        k, plant, method = self.kernels, self.kernels.plant, self.kernels.plant.method
        acts, constrained = plant.stabilization.acts, bool(len(k.c))
        feeds = constrained and acts in (CONTINUOUS, HELD)
        held = "j == 0" if acts == HELD else "1"
        call = f"        if ({held}) {self.name}_corrections(t + s[j] * h, point, g, p, c);\n"
        projects = constrained and acts == AFTER_STEPS
        return STEP.format(
            **self.words, stages=len(method.b), n=len(k.x), m=max(len(k.c), 1), pivots=max(self.sizes["PIVOTS"], 1),
            A=array("A", method.A.tolist(), self.real), b=vector("b", method.b.tolist(), self.real),
            s=vector("s", method.c.tolist(), self.real), gains=self._gains() if feeds else "",
            feedback=call if feeds else "", least=literal(WATCH_LIMIT**-0.5, self.real),
            end=f"{self.name}_project(t + h, x, p)" if projects else f"{self.name.upper()}_DONE",
        )  # fmt: skip

    def _gains(self) -> str:
        gains = self.kernels.plant.gains
        lines = [f"    {self.real} g[{max(len(gains), 1)}] = {{0}};"]
        for i, gain in enumerate(gains):
            lines.append(f"    g[{i}] = {' / '.join([literal(gain.number, self.real), *['h'] * gain.power])};")
        return "\n".join(lines) + "\n"
