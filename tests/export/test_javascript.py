"""One ES module without dependencies: the same numbers in a browser."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from click.testing import CliRunner

import browser
import vinculum as vn
from examples import puma560
from export.live import LIBRARY
from vinculum.cli.app import app
from vinculum.export import export_javascript
from vinculum.export.c_units import c_unit
from vinculum.export.samples import expected, random_values
from vinculum.model.examine import equations_of

IMPORTED = """async ([text, calls]) => {
  const module = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  return calls.map(([name, args, sizes]) => {
    const results = sizes.map((size) => new Float64Array(size));
    module[name](...args, ...results);
    return results.flatMap((row) => [...row]);
  });
}"""


@pytest.fixture(scope="module")
def page(running, tmp_path_factory):
    path = tmp_path_factory.mktemp("modules") / "empty.html"
    path.write_text("<link rel=icon href='data:,'><script>window.vinculumReady = true</script>")
    with browser.opened(running, path) as (page, _):
        yield page


@pytest.mark.parametrize("name", ["ball_and_beam", "four_bar", "overhead_crane", "wheel_with_reactions", "puma560"])
def test_every_function_has_the_numbers_of_the_graph(name, page, tmp_path):
    what = puma560.tree() if name == "puma560" else equations_of(vn.load(LIBRARY / f"{name}.toml"))
    options = {"points": {}} if name == "puma560" else {}
    text = export_javascript(what, tmp_path / name, **options).read_text()
    unit = c_unit(what, name, "double", False, None, options)
    calls, wanted = [], []
    for kernel in (kernel for kernel in unit.public if kernel.outputs):
        chosen = random_values(kernel, unit.values, 2)
        wanted += expected(kernel, chosen)
        for values in chosen:
            args = [values[g.nodes[0]] if g.scalar else [values[node] for node in g.nodes] for g in kernel.arguments]
            calls.append([kernel.name, args, [len(group) for group in kernel.results]])
    for (kernel, *_), row, pairs in zip(calls, page.evaluate(IMPORTED, [text, calls]), wanted, strict=True):
        assert all(abs(x - y) <= allowed for x, (y, allowed) in zip(row, pairs, strict=True)), kernel


def test_the_command_writes_a_module_with_the_numbers_of_the_model(page, tmp_path):
    model = tmp_path / "crank.toml"
    model.write_bytes((LIBRARY / "slider_crank.toml").read_bytes())
    done = CliRunner().invoke(app, ["export", str(model), "--to", "javascript", "-o", str(tmp_path / "crank.js")])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "crank.js").read_text()
    numbers = "async (url) => [...(await import(url)).parameters()]"
    assert page.evaluate(numbers, f"data:text/javascript,{quote(text)}") == list(
        vn.load(model).system.parameters.values()
    )


def test_left_out_results_are_not_computed(page, tmp_path):
    equations = equations_of(vn.load(LIBRARY / "four_bar.toml"))
    text = export_javascript(equations, tmp_path / "bar").read_text()
    unit = c_unit(equations, "bar", "double", False, None, {})
    rates = next(kernel for kernel in unit.public if kernel.name == "rates")
    values = random_values(rates, unit.values, 1)[0]
    args = [values[g.nodes[0]] if g.scalar else [values[node] for node in g.nodes] for g in rates.arguments]
    n = len(rates.results[0])
    few, all_of = page.evaluate(IMPORTED, [text, [["rates", args, [n]], ["rates", args, [n, len(rates.results[1])]]]])
    assert few == all_of[:n]
