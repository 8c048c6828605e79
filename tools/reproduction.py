"""The tables of the documentation are those of docs/reproduction.

python tools/reproduction.py            # says which pages are not up to date
python tools/reproduction.py --write    # writes them
"""

from __future__ import annotations

import argparse
import pathlib
from collections.abc import Callable

import pandas as pd

from dogc.paper import departures
from dogc.paper.printed import OURS
from dogc.paper.protocol import UNITS
from dogc.paper.reproduction_page import NEAR, claims, read_rows, with_reached
from dogc.paper.runs import NO_SEED

DOCS = pathlib.Path(__file__).parents[1] / "docs"
OUTLINE = (departures.PRINTED, departures.ALL, departures.PUBLISHED, departures.DEFAULTS)
# The authors' code in GNU Octave: median ACC of ten seeds on z-scored columns, k about n/10, its
# other settings as they are; of cars with the make.
OCTAVE = {
    "solar": 0.42, "vehicle": 0.41, "vote": 0.61, "ecoli": 0.78, "wine": 0.77, "glass": 0.40,
    "lenses": 0.50, "heart": 0.64, "zoo": 0.56, "cars": 0.51, "auto": 0.30, "balance": 0.52,
}  # fmt: skip
THREE = "{:.3f}".format  # digits


def markdown_table(table: pd.DataFrame) -> str:
    """A table in Markdown."""
    rows = [list(table), ["---"] * len(table.columns), *table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def accuracy(folder: pathlib.Path) -> str:
    """ACC of the better of DOGC and DOGC-OS on every data set."""
    rows = with_reached(read_rows(folder / "main.csv"))
    rows = rows[(rows.metric == "acc") & rows.method.isin(OURS)]
    best = rows.loc[rows.groupby(["units", "data"], sort=False).oracle.idxmax()].set_index("data")
    protocol, paper, relative = (best[best.units == units] for units in UNITS)
    of_both = rows.groupby("data", sort=False)[["printed", "honest_median"]].max()
    chance = ", median " + paper.oracle_median.map(THREE)
    table = pd.DataFrame({
        "data": paper.index,
        "printed": of_both.printed.map(THREE),
        "oracle, its protocol": protocol.oracle.map(THREE) + " (" + protocol.reached + ")",
        "oracle, paper's units": paper.oracle.map(THREE),
        "by": paper.method,
        "seeds that reach it": paper.reached + chance.where(paper.oracle_start != NO_SEED, ""),
        "oracle, relative units": relative.oracle.map(THREE),
        "honest": of_both.honest_median.map(THREE),
        "k-means, honest": paper.kmeans.map(THREE),
        "reached by its protocol, in its units": [
            " / ".join("yes" if score >= goal - NEAR else "no" for score in scores)
            for *scores, goal in zip(protocol.oracle, paper.oracle, of_both.printed, strict=True)
        ],
    })  # fmt: skip
    return markdown_table(table)


def new_rows(folder: pathlib.Path) -> str:
    """Test ACC of DOGC-OS and of the best of the others."""
    rows = read_rows(folder / "out-of-sample.csv")
    rows = rows[rows.part == "test"]
    is_ours = rows.method == OURS[1]
    best = rows.loc[rows[~is_ours].groupby("data", sort=False).oracle.idxmax()]
    table = rows[is_ours][["data", "printed", "oracle", "honest_median"]].set_axis(
        ["data", "printed", "oracle", "honest"], axis="columns"
    )
    others = [f"{row.oracle:.3f} ({row.method})" for row in best.itertuples()]
    table["best of the others, oracle"] = others
    return markdown_table(
        table.map(lambda value: value if isinstance(value, str) else THREE(value))
    )


def departures_by_line(folder: pathlib.Path) -> str:
    """Three tables: each method by departure, and the data sets."""
    rows = read_rows(folder / "departures.csv")
    printed = rows[rows.variant == departures.PRINTED].set_index(["data", "method"]).acc_median
    change = rows.acc_median - rows.set_index(["data", "method"]).index.map(printed)
    rows = rows.assign(change=change, better=change > NEAR, worse=change < -NEAR,
                       spread=rows.acc_q3 - rows.acc_q1)  # fmt: skip
    parts = []
    for method, found in rows.groupby("method", sort=False):
        lines = found.groupby("variant", sort=False)
        mean, count = lines.mean(numeric_only=True), lines[["better", "worse"]].sum()
        counts = count.better.map(str) + " / " + count.worse.map(str)
        departed = mean.index != departures.PRINTED
        parts.append(pd.DataFrame({
            method: mean.index,
            "ACC": mean.acc_median.map(THREE),
            "change": mean.change.map("{:+.3f}".format).where(departed, ""),
            "better / worse": counts.where(departed, ""),
            "spread": mean.spread.map(THREE),
            "exact": mean.exact.map("{:.0%}".format),
            "empty": mean["empty"].map("{:.2f}".format),
            "rose": mean.rose.map("{:.0%}".format).replace("nan%", "-"),
        }))  # fmt: skip
    rows = rows[rows.variant.isin(OUTLINE)]
    quartiles = " [" + rows.acc_q1.map(THREE) + ", " + rows.acc_q3.map(THREE) + "]"
    cells = rows.acc_median.map(THREE) + quartiles.where(rows.spread > 5e-4, "")
    named = rows.assign(cells=cells, name=rows.method + ", " + rows.variant)
    by_data = named.pivot(index="data", columns="name", values="cells")
    by_data = by_data.loc[rows.data.unique(), named.name.unique()]
    octave = by_data.index.to_series().map(OCTAVE).map("{:.2f}".format)
    by_data["published code in Octave"] = octave.replace("nan", "-")
    by_data.insert(0, "ACC", by_data.index.str.split().str[0])
    parts.append(by_data)
    return "\n\n".join(map(markdown_table, parts))


END = "<!-- end of table -->"
# By the name that stands in the page: <!-- table: accuracy -->
SUMMARIES: dict[str, Callable[[pathlib.Path], str]] = {
    "accuracy": accuracy,
    "claims": lambda folder: markdown_table(claims(folder)),
    "new rows": new_rows,
    "departures": departures_by_line,
}


def filled(page: str, folder: pathlib.Path) -> str:
    """A page with every table between its marks made anew."""
    for name, make in SUMMARIES.items():
        start = f"<!-- table: {name} -->\n"
        if start in page:
            before, rest = page.split(start)
            page = f"{before}{start}{make(folder)}\n{rest[rest.index(END) :]}"
    return page


def out_of_date() -> dict[pathlib.Path, str]:
    """Pages whose tables are not those of the files, with what they should be."""
    wanted = {}
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        new = filled(text, DOCS / "reproduction")
        if new != text:
            wanted[page] = new
    return wanted


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true")
    write = options.parse_args().write
    for path, text in out_of_date().items():
        print(f"{path.name}: {'written' if write else 'not up to date'}")
        if write:
            path.write_text(text, encoding="utf-8")
