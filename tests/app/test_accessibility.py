"""The pages by the rules of axe-core: labels, roles, names, contrast; wide, narrow, light, dark."""

import contextlib
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line")
pytest.importorskip("pandas", reason="the report describes data frames")

import pandas as pd

from dogc.app.commands.command_line import run

ROOT = pathlib.Path(__file__).parents[2]
VERSION = "4.14.0"
INSTALLED = ROOT / "node_modules" / "axe-core" / "axe.min.js"
KEPT = ROOT / ".cache" / f"axe-core-{VERSION}.min.js"
COMMANDS = ("cluster", "compare")
PAGES = [(command, table) for table in ("mixed", "twenty") for command in COMMANDS]
PAGES.append(pytest.param(("explore", "mixed"), marks=pytest.mark.slow))
# A figure of one digit is text too.
RULES = """() => axe.run(document, {
  resultTypes: ["violations"],
  checks: { "color-contrast": { options: { ignoreLength: true } } },
})"""
OPEN_ALL = """() => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  for (const button of document.querySelectorAll("button.more")) button.click();
}"""


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The script of axe-core, fetched once by npm; it is no part of the package."""
    for path in (INSTALLED, KEPT):
        if path.exists():
            return path
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm to install axe-core, or axe-core in node_modules")
    folder = tmp_path_factory.mktemp("axe")
    options = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0"]
    wanted = ["install", *options, "--prefix", str(folder), f"axe-core@{VERSION}"]
    try:
        subprocess.run([npm, *wanted], check=True, capture_output=True, timeout=60, cwd=folder)
    except subprocess.CalledProcessError as error:
        pytest.skip(
            f"npm could not install axe-core: {error.stderr.decode(errors='replace')}"[:500]
        )
    except subprocess.TimeoutExpired:
        pytest.skip("npm did not install axe-core within a minute")
    KEPT.parent.mkdir(exist_ok=True)
    draft = KEPT.with_suffix(f".{os.getpid()}")
    shutil.copy(folder / "node_modules" / "axe-core" / "axe.min.js", draft)
    return draft.replace(KEPT)  # whole or not at all, however many run at once


def twenty_kinds(n=160):
    """Numbers around twenty centres, with the name of each row's centre."""
    rng = np.random.default_rng(0)
    kinds = np.arange(n) % 20
    values = 8.0 * rng.standard_normal((20, 3))[kinds] + rng.standard_normal((n, 3))
    frame = pd.DataFrame(values.round(3), columns=["length", "width", "height"])
    return frame.assign(kind=[f"kind {k}" for k in kinds])


def members(n=120):
    """Names, numbers, dates, categories, yes/no, a few missing, and the name of the segment."""
    rng = np.random.default_rng(0)
    segment = np.arange(n) % 3
    plan = np.where(rng.random(n) < 0.8, segment, rng.integers(0, 3, n))
    days = 300 * segment + rng.integers(0, 200, n)
    spend = np.exp(rng.normal(np.array([3.0, 5.0, 6.0])[segment], 0.4)).round(2)
    spend[:5] = np.nan
    return pd.DataFrame(
        {
            "member": [f"M-{i:03d}" for i in range(n)],
            "age": rng.normal(np.array([25, 42, 60])[segment], 4.0).round(1),
            "spend": spend,
            "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D"),
            "plan": np.array(["basic", "plus", "pro"])[plan],
            "newsletter": np.where(rng.random(n) < np.array([0.9, 0.4, 0.1])[segment], "yes", "no"),
            "segment": np.array(["student", "family", "retired"])[segment],
        }
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write a page when it is first asked for."""
    folder = tmp_path_factory.mktemp("pages")
    tables = {"mixed": (members, "3", "segment"), "twenty": (twenty_kinds, "20", "kind")}
    files = {"cluster": "report.html", "compare": "compare.html", "explore": "explore.html"}

    def page(command, table):
        frame, clusters, truth = tables[table]
        out = folder / f"{command}-{table}"
        if not out.exists():
            file = folder / f"{table}.csv"
            frame().to_csv(file, index=False)
            numbers = ["-k", clusters, "--label-column", truth]
            if command == "explore":
                numbers = ["--from", "2", "--to", "4", "--drop", truth]
            assert not run([command, str(file), *numbers, "--out", str(out), "--quiet"])
        return out / files[command]

    return page


@contextlib.contextmanager
def opened(browser, axe, path):
    """A page with axe-core at hand; in the end nothing may have been complained of."""
    complaints = []
    context = browser.new_context(viewport={"width": 1400, "height": 900}, reduced_motion="reduce")
    context.add_init_script(path=axe)  # the policy of the page would keep out a script element
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    page.evaluate(OPEN_ALL)
    yield page
    context.close()
    assert complaints == []


@pytest.fixture(scope="module", params=PAGES, ids="-".join)
def page(request, browser, axe, pages):
    """One page after the other, each opened once."""
    with opened(browser, axe, pages(*request.param)) as page:
        yield page


@pytest.fixture
def spare(browser, axe, pages):
    """A report that a test may change."""
    with opened(browser, axe, pages("cluster", "mixed")) as page:
        yield page


def faults(page):
    """Faults that axe-core finds: the rule, and the first elements that break it."""
    return [
        (found["impact"], found["id"], [node["html"][:200] for node in found["nodes"][:5]])
        for found in page.evaluate(RULES)["violations"]
    ]


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_has_no_fault(page, scheme, width):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_that_shows_one_cluster_has_no_fault(spare, scheme):
    spare.emulate_media(color_scheme=scheme)
    spare.locator(".legend button").nth(1).click()
    assert spare.locator(".faded").count()
    assert faults(spare) == []


def test_faults_are_found(spare):
    spare.evaluate("document.querySelector('.explain').style.color = '#aaa'")
    spare.evaluate("document.querySelector('.zero').style.color = '#aaa'")  # one digit
    spare.evaluate("document.querySelector('.sort').textContent = ''")
    found = {rule: elements for _, rule, elements in faults(spare)}
    assert found.keys() >= {"color-contrast", "button-name"}
    assert len(found["color-contrast"]) == 2
