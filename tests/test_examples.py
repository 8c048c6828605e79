import ast
import pathlib
import runpy
import time
import warnings

import pytest

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"
GALLERY = sorted(EXAMPLES.glob("plot_*.py"))
# The others take more than a second or two.
QUICK = ("plot_save_and_load", "plot_new_rows", "plot_outliers", "plot_how_many_clusters")
RUN = [
    pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else [pytest.mark.slow])
    for path in GALLERY
]


@pytest.fixture
def pyplot():
    """matplotlib without a screen, and no figure left behind."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
    yield plt
    plt.close("all")


@pytest.mark.parametrize("path", RUN)
def test_gallery_script_runs_draws_and_prints(path, pyplot, capsys):
    began = time.process_time()
    with warnings.catch_warnings():
        # plt.show() has no screen to show anything on here.
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
        runpy.run_path(str(path), run_name="__main__")
    assert time.process_time() - began < 30
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert 1 <= len(figures) <= 3
    for figure in figures:
        figure.canvas.draw()
        assert any(axes.has_data() for axes in figure.axes)
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("path", GALLERY, ids=lambda p: p.stem)
def test_gallery_script_has_a_title_a_paragraph_and_cells(path):
    text = path.read_text(encoding="utf-8")
    title, line, blank, *paragraph = ast.get_docstring(ast.parse(text)).splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert not blank
    assert len(" ".join(paragraph)) > 100
    assert "\n# %%\n# " in text
    assert len(text.splitlines()) <= 70


def test_there_is_a_gallery_and_nothing_else():
    assert len(GALLERY) >= 8
    assert sorted(EXAMPLES.glob("*.py")) == GALLERY  # what is not plot_*.py would not be run
    titles = {path.read_text(encoding="utf-8").splitlines()[1] for path in GALLERY}
    assert len(titles) == len(GALLERY)
