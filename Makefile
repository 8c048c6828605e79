# Everything runs in .venv, made on first use. Override the interpreter: make test PYTHON=python3.12
PYTHON ?= python3
BIN := .venv/bin
# What each target needs: the command line alone, everything to test with, what builds the pages.
CLI := .venv/.cli
READY := .venv/.ready
DOCS := .venv/.docs

.PHONY: demo test nightly lint format bench docs clean

demo: $(CLI)
	$(BIN)/dogc demo --force

test: $(READY)
	$(BIN)/python -m pytest

nightly: $(READY)
	$(BIN)/python -m pytest -m "slow or not slow"

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/python benchmarks/uci.py
	$(BIN)/python benchmarks/wine.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/baselines.py
	$(BIN)/python benchmarks/convergence.py
	$(BIN)/python -m pip install --quiet genieclust
	$(BIN)/python benchmarks/battery.py

docs: $(DOCS)
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build

.venv/.made:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "dogc needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(CLI): pyproject.toml .venv/.made
	$(BIN)/python -m pip install --quiet --editable ".[cli]"
	touch $@

$(READY): pyproject.toml .venv/.made
	$(BIN)/python -m pip install --quiet --editable ".[test,lint]"
	touch $@ $(CLI)

$(DOCS): pyproject.toml .venv/.made
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

clean:
	rm -rf .venv demo-output docs/_build docs/gallery docs/api .pytest_cache .mypy_cache .ruff_cache .hypothesis
