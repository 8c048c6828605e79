"""The report in a real browser: Chromium without a window."""

import re

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the report describes data frames")

import pandas as pd

from clusterings import HOSTILE, clustering_of, flowers
from dogc.app.report import render, summarise

PHONE = {"width": 390, "height": 844}
# How many dots of the picture have the colour of each of the first three clusters.
COLOURS = """() => {
  const shown = document.querySelector("canvas.scatter");
  const copy = new OffscreenCanvas(shown.width, shown.height);
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(shown, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  const style = getComputedStyle(document.documentElement);
  return [0, 1, 2].map((cluster) => {
    const hex = style.getPropertyValue(`--c${cluster}`).trim();
    const ink = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
      const away = ink.reduce((sum, part, k) => sum + Math.abs(data[i + k] - part), 0);
      if (data[i + 3] > 200 && away < 12) count++;
    }
    return count;
  });
}"""


@pytest.fixture
def opened(browser, tmp_path):
    """Open a summary as a page; in the end nothing may have gone wrong or been asked for."""
    contexts, complaints, requests, addresses = [], [], [], set()

    def open_page(summary, **options):
        path = tmp_path / "report.html"
        path.write_text(render(summary), encoding="utf-8", newline="")
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        addresses.add(path.as_uri())
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    # The page itself; its icon is inside the page.
    assert {url for url in requests if not url.startswith("data:")} == addresses


@pytest.fixture(scope="module")
def garden():
    return flowers()


@pytest.fixture(scope="module")
def summary(garden):
    return summarise(garden)


def pressed(page):
    return page.locator("button[data-cluster][aria-pressed=true]").evaluate_all(
        "buttons => buttons.map((button) => Number(button.dataset.cluster))"
    )


def point_at(page, i):
    """Move the pointer to the i-th point of the picture."""
    canvas = page.locator("canvas.scatter")
    canvas.scroll_into_view_if_needed()
    canvas.focus()
    for _ in range(i + 1):
        page.keyboard.press("ArrowRight")
    ring = page.locator(".ring").bounding_box()
    canvas.blur()
    assert page.locator(".card").is_hidden()
    return ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2


def test_it_renders_all_sections_in_order(opened, garden, summary):
    page = opened(summary)
    headings = page.locator("h2").all_text_contents()
    assert headings == [
        "How large are the clusters, and how deep inside are their rows?",
        "How well do they match the known labels?",
        "Where are the rows?",
        "Which rows are typical?",
        "What makes each cluster different?",
        "How many clusters?",
        "What does the learned graph look like?",
        "Did it converge?",
        "What was done to the data?",
    ]
    title = page.locator("h1").inner_text()
    assert title == f"120 rows of {summary['source']} in 3 clusters by DOGC-OS"
    assert page.locator(".lede").first.inner_text() == "The clusters are clear."
    # One column decides here: that is said at the top, and nothing is ticked off.
    assert "The clusters follow “colour”" in page.locator(".headline").inner_text()
    assert page.locator(".verdict.good").count() == 0
    assert "It converged" in page.locator("#history .explain").inner_text()
    for section in page.locator("section").all():
        assert section.locator(".explain").inner_text().strip()
    assert min(page.evaluate(COLOURS)) > 100
    sizes = page.locator(".size-count b").all_text_contents()
    assert sizes == [str(count) for count in np.bincount(garden.rows.labels)]
    assert page.locator(".portrait").count() == 3
    assert page.locator(".chart").count() == 4 + len(summary["history"]["terms"])
    assert page.locator(".heat rect").count() > 60
    assert page.locator("#contents a").count() == 9


def test_values_show_as_text(opened, summary):
    page = opened(summary)
    assert page.locator("script").count() == 2
    assert "height <b>cm</b>" in page.locator(".portrait").first.inner_text()
    assert HOSTILE in page.locator("#data").inner_text()
    assert HOSTILE in page.locator(".confusion").first.inner_text()
    assert HOSTILE in page.locator("h1").inner_text()
    x, y = point_at(page, 3)
    page.mouse.move(x, y)
    assert "height <b>cm</b>" in page.locator(".card").inner_text()


def test_a_script_that_slipped_in_would_not_run(browser, summary, tmp_path):
    text = render(summary).replace("<main", "<script>window.slipped = 1</script><main")
    path = tmp_path / "slipped.html"
    path.write_text(text, encoding="utf-8", newline="")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("window.slipped") is None
    assert page.locator("h2").count() == 9
    page.close()


def test_pointing_at_a_row_shows_it(opened, garden, summary):
    page = opened(summary)
    x, y = point_at(page, 5)
    page.mouse.move(x, y)
    card = page.locator(".card")
    assert card.is_visible()
    plant = card.locator(".card-title").inner_text().removeprefix("plant ")
    row = garden.rows.frame.index[garden.rows.frame["plant"] == plant][0]
    text = card.inner_text()
    share = garden.rows.membership[row]
    assert f"Cluster {garden.rows.labels[row]}, membership {share:.2f}" in text
    assert garden.rows.frame["remark"][row] in text
    assert garden.rows.frame["kind"][row] in text
    assert f"{abs(garden.rows.frame['height <b>cm</b>'][row]):g}" in text
    page.mouse.move(5, 5)
    assert card.is_hidden()


def test_a_click_isolates_a_cluster_and_another_shows_all(opened, summary):
    page = opened(summary)
    before = page.evaluate(COLOURS)
    button = page.locator(".legend button").nth(1)
    button.click()
    assert pressed(page) == [1, 1]  # in the list of sizes and in the legend
    first, second, third = page.evaluate(COLOURS)
    assert (first, third) == (0, 0)
    assert second >= 0.9 * before[1]
    shown = page.locator(".portrait:visible")
    assert shown.count() == 1
    assert shown.get_attribute("aria-label") == "Cluster 1"
    assert page.locator("#isolated").inner_text().startswith("Cluster 1 only")
    button.click()
    assert pressed(page) == []
    assert page.evaluate(COLOURS) == before
    assert page.locator(".portrait:visible").count() == 3
    assert page.locator("#isolated").is_hidden()


def test_the_map_magnifies_and_shows_the_whole_again(opened, summary):
    page = opened(summary)
    before = page.evaluate(COLOURS)
    nearer, farther, whole = (page.locator(".lens button").nth(i) for i in range(3))
    assert farther.is_disabled()
    nearer.click()
    nearer.click()
    assert page.locator(".lens output").inner_text() == "\u00d74"
    assert page.evaluate(COLOURS) != before
    x, y = point_at(page, 60)
    page.mouse.move(x, y)
    assert page.locator(".card").is_visible()
    magnified = page.evaluate(COLOURS)
    page.mouse.down()
    page.mouse.move(x + 40, y + 30)
    page.mouse.up()
    assert page.evaluate(COLOURS) != magnified
    whole.click()
    assert page.evaluate(COLOURS) == before
    page.locator("canvas.scatter").focus()
    page.keyboard.press("+")
    assert page.locator(".lens output").inner_text() == "\u00d72"
    page.keyboard.press("-")
    assert page.evaluate(COLOURS) == before


def test_clusters_are_isolated_by_keyboard(opened, summary):
    page = opened(summary)
    page.locator(".legend button").first.focus()
    steps = [("ArrowRight", []), ("Enter", [1, 1]), ("ArrowRight", [2, 2]),
             ("ArrowRight", [0, 0]), ("End", [2, 2]), ("Escape", [])]  # fmt: skip
    for key, isolated in steps:
        page.keyboard.press(key)
        assert pressed(page) == isolated, key


def test_the_tab_key_reaches_everything_and_the_focus_shows(opened, summary):
    page = opened(summary)
    seen = []
    name = "node.id || node.className || node.tagName"
    focus = f"((node) => [{name}, getComputedStyle(node).outlineStyle])(document.activeElement)"
    while not seen or seen[-1] != "SUMMARY":
        page.keyboard.press("Tab")
        name, outline = page.evaluate(focus)
        assert outline != "none", name
        seen.append(name)
    assert seen[0] == "skip"
    assert "theme" in seen
    assert "scatter" in seen
    # One stop for each group of clusters: arrows go on from there.
    assert seen.count("cluster") == 2


def test_the_charts_share_one_reading(opened, summary):
    page = opened(summary)
    history = summary["history"]
    reading = page.locator(".chart b").first
    assert reading.inner_text() == str(history["components"][-1])
    page.locator(".reader input").focus()
    page.keyboard.press("Home")
    assert reading.inner_text() == str(history["components"][0])
    assert page.locator(".iteration").inner_text().startswith("iteration 1 of")
    picture = page.locator(".chart svg").nth(2)
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 10)
    assert reading.inner_text() == str(history["components"][-1])


def test_the_graph_is_read_cell_by_cell(opened, summary):
    page = opened(summary)
    picture = page.locator(".heat")
    picture.scroll_into_view_if_needed()
    box = page.locator(".heat .field").bounding_box()
    readout = page.locator(".heat-figure .readout")
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 3)
    assert readout.inner_text() == "No weight between these slices of cluster 0 and cluster 2."
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    assert "of its weight to a slice of cluster 0" in readout.inner_text()


@pytest.mark.parametrize("width", [320, 768])
def test_narrow_screens_do_not_scroll_sideways(opened, summary, width):
    page = opened(summary, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".legend button").first.click()
    page.locator("details summary").click()
    for more in page.locator("button.more:visible").all():
        more.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def brightness(page):
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 3


def wait_until_painted(page):
    page.wait_for_function(f"() => Math.min(...({COLOURS})()) > 100", timeout=10_000)


def test_light_and_dark_follow_the_system_and_the_button(opened, summary):
    page = opened(summary, color_scheme="light")
    assert brightness(page) > 200
    page.emulate_media(color_scheme="dark")
    assert brightness(page) < 60
    wait_until_painted(page)  # again, in the colours of the dark
    page.locator("#theme").click()
    assert brightness(page) > 200
    wait_until_painted(page)
    page.reload()
    assert brightness(page) > 200


def test_paper_is_white(opened, summary):
    page = opened(summary, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert brightness(page) > 200
    assert page.locator(".bar").is_hidden()
    assert page.locator(".hint").first.is_hidden()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert brightness(page) < 60


def test_what_a_method_does_not_tell_is_left_out(opened, garden):
    rows, names = garden.rows, garden.feature_names
    page = opened(summarise(clustering_of(rows.frame, garden.X, rows.labels, feature_names=names)))
    ids = page.locator("section").evaluate_all("all => all.map((section) => section.id)")
    assert ids == ["sizes", "where", "exemplars", "features", "data"]
    assert page.locator(".size-inside").count() == 0
    assert "This method gives no membership" in page.locator("#sizes .explain").inner_text()


def test_one_cluster_one_feature_one_row(opened):
    frame = pd.DataFrame({"a": [1.0]})
    page = opened(summarise(clustering_of(frame, frame.to_numpy(), [0])))
    assert page.locator("h1").inner_text() == "1 row of table.csv in 1 cluster by SimpleNamespace"
    assert page.locator("section").count() == 4


def test_many_rows_in_many_clusters(opened):
    rng = np.random.default_rng(0)
    n, c = 6_000, 30
    labels = np.sort(rng.integers(0, c, n))
    labels[::500] = -1
    X = rng.standard_normal((n, 8)) + 6.0 * rng.standard_normal((c, 8))[labels]
    frame = pd.DataFrame(X, columns=[f"feature_{j}" for j in range(8)])
    page = opened(summarise(clustering_of(frame, X, labels, membership=rng.random(n))),
                  viewport=PHONE)  # fmt: skip
    assert re.search(r"shows [\d,]+ of 6,000 rows", page.locator("#where figcaption").inner_text())
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.locator(".size-row:visible").count() == 12
    page.locator("#sizes .more").click()
    assert page.locator(".size-row:visible").count() == c + 1
    page.locator(".legend button[data-cluster='27']").click()
    assert page.locator(".portrait:visible h3").inner_text().startswith("Cluster 27")


def test_only_clear_clusters_have_a_tick_and_representatives_are_told(opened, summary):
    free = {**summary, "deciding": [], "deciding_cuts": None}
    for name in ("clear", "plausible", "doubtful", "none", None):
        page = opened({**free, "verdict": {**summary["verdict"], "verdict": name}})
        assert page.locator(".headline .verdict").count() == (name == "clear")
    page = opened({**summary, "graph": {**summary["graph"], "representatives": 200}})
    sentence = page.locator("#graph .explain").inner_text()
    assert sentence.startswith("The graph joins 200 representatives, which stand for 120 rows.")


def test_the_map_has_a_layout_by_the_graph(opened, summary):
    page = opened(summary)
    before = page.evaluate(COLOURS)
    page.get_by_role("button", name="Graph").click()
    assert "each cluster an island" in page.locator("#where .explain").inner_text()
    assert page.evaluate(COLOURS) != before
    page.get_by_role("button", name="Directions").click()
    assert page.evaluate(COLOURS) == before
