"""The site tells the truth: its blocks run and print what it says, nothing is left out of it."""

import contextlib
import importlib
import inspect
import io
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag

import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances

import dogc

ROOT = pathlib.Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = ("_build", "gallery", "api")
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.relative_to(DOCS).parts[0] not in MADE)
# Pages whose blocks stand on their own; the others are run by test_docs.py with rows at hand.
GUIDES = [
    page for page in sorted((DOCS / "guides").glob("*.md")) if "```python" in page.read_text()
]
PASTED = [
    DOCS / "start.md",
    DOCS / "model_files.md",
    *sorted((DOCS / "user_guide").glob("*.md")),
    *GUIDES,
]
NEEDS = {"cells.md": "anndata", "customers.md": "pandas"}
BLOCK = re.compile(r"```(\S+)\n(.*?)```", flags=re.S)


def name(page):
    return page.relative_to(DOCS).with_suffix("").as_posix()


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder for what the blocks write, and no windows."""
    matplotlib = pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    yield tmp_path
    importlib.import_module("matplotlib.pyplot").close("all")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name(page), marks=[pytest.mark.slow] if page in GUIDES else [])
        for page in PASTED
    ],
)
def test_blocks_can_be_pasted_in_order_and_print_what_the_page_says(page, elsewhere):
    pytest.importorskip(NEEDS.get(page.name, "dogc"))
    names, printed, said = {"__name__": "__main__"}, None, 0
    for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, page.name, "exec"), names)
            printed = out.getvalue()
        elif kind == "text":
            assert printed == text
            said += 1
    assert names.keys() > {"__name__"}, "no block was run"
    assert said >= 6 or page.name != "start.md"


@pytest.mark.slow
def test_the_page_on_gpus_runs_on_fewer_rows_and_on_the_device_that_is_there():
    torch = pytest.importorskip("torch")
    page = (DOCS / "gpu.md").read_text(encoding="utf-8")
    (block,) = (text for kind, text in BLOCK.findall(page) if kind == "py")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    names = {}
    exec(block.replace("10_000_000", "10_000").replace('"cuda"', f'"{device}"'), names)
    assert names["model"].labels_.device.type == device
    assert len(names["model"].labels_) == 10_000


MIGRATING = (DOCS / "guides" / "migrating.md").read_text(encoding="utf-8")
CELLS = [
    cell
    for line in MIGRATING.splitlines()
    if line.startswith("|")
    for cell in re.findall(r"`([^`]*)`", line)
    if "(" in cell
]


@pytest.fixture(scope="module")
def iris_names():
    """What the cells of the tables for newcomers speak of."""
    names = {}
    for line in (
        "from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering",
        "from sklearn.metrics import silhouette_score",
        "from sklearn.neighbors import kneighbors_graph",
        "from sklearn.pipeline import make_pipeline",
        "from sklearn.preprocessing import StandardScaler",
        "from dogc import DOGC, NormalizedCut",
    ):
        exec(line, names)
    X = load_iris().data
    D = names["kneighbors_graph"](X, 15, mode="distance")
    A = (D > 0).maximum((D > 0).T).astype(float)
    return names | {"X": X, "c": 3, "D": D, "A": A, "w": X[:, 0], "B": pairwise_distances(X)}


@pytest.mark.slow
def test_every_cell_of_the_tables_for_newcomers_runs(iris_names, recwarn):
    assert len(CELLS) >= 44
    for cell in CELLS:
        assert eval(cell, iris_names) is not None, cell


def test_every_page_is_in_the_sidebar():
    listed = {"index"}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.S):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            folder = page.parent.relative_to(DOCS)
            listed.update(
                (folder / re.sub(r".*<(.*)>", r"\1", entry)).as_posix() for entry in entries
            )
    assert {name(page) for page in PAGES} == listed - {"gallery/index"}


def public_names():
    rooms = [item for item in dogc.__all__ if inspect.ismodule(getattr(dogc, item))]
    yield from (item for item in dogc.__all__ if not item.startswith("__") and item not in rooms)
    for room in rooms:
        module = importlib.import_module(f"dogc.{room}")
        for item in getattr(module, "__all__", vars(module)):
            home = getattr(getattr(module, item), "__module__", None) or ""
            meant = home.startswith(module.__name__) or room == "results"
            if meant and home and not item.startswith("_"):
                yield f"{room}.{item}"


def test_the_reference_has_every_public_name():
    pytest.importorskip("matplotlib")
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ([\w.]+)$", text, flags=re.M))
    assert set(public_names()) - listed == set()
    for item in listed:
        thing = dogc
        for part in item.split("."):
            thing = getattr(thing, part, None) or importlib.import_module(
                f"{thing.__name__}.{part}"
            )


def test_every_command_and_option_is_on_its_page():
    pytest.importorskip("typer")
    from typer.main import get_command

    from dogc.app.commands.command_line import app

    text = (DOCS / "command_line.md").read_text(encoding="utf-8")
    for command in get_command(app).commands.values():
        _, _, section = text.partition(f"\n## dogc {command.name}\n")
        assert section, command.name
        section = section.partition("\n## ")[0]
        for option in command.params:
            names = [flag for flag in option.opts if flag.startswith("--")]
            assert not names or f"`{names[0]}" in section, f"{command.name} {names}"


@pytest.mark.slow
def test_pictures_are_those_that_the_scripts_draw(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(DOCS))
    drawn = importlib.import_module("pictures")
    monkeypatch.setattr(drawn, "OUT", tmp_path)
    drawn.main()
    assert {path.name for path in tmp_path.iterdir()} | {"loop.svg"} == {
        path.name for path in (DOCS / "_static" / "pictures").iterdir()
    }


def test_the_drawing_of_the_architecture_is_that_of_the_source(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    drawing = importlib.import_module("architecture")
    assert (DOCS / "_static" / "architecture.svg").read_text(encoding="utf-8") == drawing.draw()


class Links(HTMLParser):
    """The links of a page, and the names inside it that links may name."""

    def __init__(self, page):
        super().__init__()
        self.names, self.targets = set(), []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names.add(given.get("id"))
        self.targets += [given[key] for key in ("href", "src") if given.get(key)]


def dead_links(site):
    """Links of a site to files and to names in files that are not there."""
    pages = {page: Links(page) for page in site.rglob("*.html")}
    for page, links in pages.items():
        # Pages of the source lead back to names as Python has them, not as the reference does.
        checked = {} if "_modules" in page.parts else pages
        for link in links.targets:
            if re.match(r"[a-z]+:", link):
                continue
            path, name = urldefrag(unquote(link))
            target = (page.parent / path.partition("?")[0]).resolve() if path else page
            lost = name and target in checked and name not in pages[target].names
            if lost or not target.exists():
                yield page.relative_to(site), link


def test_formulas_are_drawn_as_tex_does(monkeypatch):
    latex = pytest.importorskip("docutils.utils.math.latex2mathml", reason="the converter")
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS / "_extensions"))
    tidied = importlib.import_module("mathml").tidied

    def tree(formula):
        text = tidied(latex.tex2mathml(formula))
        return ET.fromstring(text.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))

    bars = tree(r"\|x\|_F^2").findall(".//mo")
    assert [bar.get("stretchy") for bar in bars] == ["false", "false"]
    accented = tree(r"\bar a_{jl}")[0]
    assert [accented.tag, accented[0].tag, accented[0][0].text] == ["msub", "mover", "a"]
    assert "".join(accented[1].itertext()).split() == ["j", "l"]
    row = tree(r"\lambda \operatorname{Tr}(F)")
    assert [element.tag for element in row][:3] == ["mi", "mspace", "mi"]
    fraction = tree(r"\frac{x}{\operatorname{Tr} y} + x_{\operatorname{max}}").find("mfrac")
    assert len(fraction) == 2


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_without_the_network(tmp_path):
    packages = "sphinx furo myst_parser numpydoc sphinx_copybutton sphinx_gallery typer"
    for package in packages.split():
        pytest.importorskip(package)
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns(*MADE))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for page in ("CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / page, tmp_path)
    command = ["-W", "--keep-going", "-q", "-D", "plot_gallery=0", "-b", "html", "docs", "site"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *command], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "demo" / "report.html").exists()  # what report.md shows
    assert list(dead_links((tmp_path / "site").resolve())) == []
    for page in (tmp_path / "site").rglob("*.html"):
        fetched = re.findall(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?:[^"]+)"',
                             page.read_text(encoding="utf-8"))  # fmt: skip
        assert not fetched, page.name
