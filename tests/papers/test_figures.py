"""The figures of papers 003 and 004 are drawn by one call."""

from __future__ import annotations

from matplotlib.image import imread

from examples.paper_figures import draw_all


def test_all_figures_are_drawn(tmp_path):
    paths = draw_all(tmp_path, duration=5.0, step=1e-4)
    assert sorted(path.stem for path in paths) == [
        "003_figure_2", "003_figure_3", "003_figure_4", "003_figure_5",
        "004_figure_1", "004_figure_2", "004_interval_of_k",
    ]  # fmt: skip
    for path in paths:
        assert (imread(path)[..., :3].min(axis=-1) < 0.99).mean() > 0.005, path.name
