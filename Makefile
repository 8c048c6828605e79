# Everything runs in .venv, made on first use. Override the interpreter: make test PYTHON=python3.12
PYTHON ?= python3
BIN := .venv/bin
# As many processes as there are processors; each runs whole files.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile
# What each target needs: the command line alone, everything to test with but torch, torch, what
# builds the pages, what builds the package.
CLI := .venv/.cli
READY := .venv/.ready
GPU := .venv/.gpu
DOCS := .venv/.docs
RELEASE := .venv/.release

SECONDS ?= 60
SEED ?= 0

.PHONY: demo test gpu-test nightly fuzz lint format bench docs package clean

demo: $(CLI)
	$(BIN)/dogc demo --force

test: $(READY)
	$(PYTEST)

# The tests of torch's part, on the first GPU instead of the processor.
gpu-test: $(READY) $(GPU)
	DOGC_TEST_DEVICE=cuda $(BIN)/python -m pytest tests/fitting/test_torch_rows.py tests/estimators/test_torch.py

# With what builds the pages at hand, the slow tests of the site run too.
nightly: $(READY) $(DOCS)
	$(PYTEST) -m "slow or not slow"
	$(MAKE) docs

# Attacks on arrays, files, model files and running programs, for as long as it is told.
fuzz: $(READY)
	$(BIN)/python tests/fuzz --seconds $(SECONDS) --seed $(SEED)

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
	$(BIN)/python benchmarks/history.py
	$(BIN)/python -m pip install --quiet genieclust
	$(BIN)/python benchmarks/battery.py

docs: $(DOCS)
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build

package: $(RELEASE)
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

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

$(GPU): pyproject.toml .venv/.made
	$(BIN)/python -m pip install --quiet --editable ".[gpu]"
	touch $@

$(DOCS): pyproject.toml .venv/.made
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

$(RELEASE): pyproject.toml .venv/.made
	$(BIN)/python -m pip install --quiet --editable ".[release]"
	touch $@

clean:
	rm -rf .venv demo-output dist docs/_build docs/gallery docs/api .pytest_cache .mypy_cache .ruff_cache .hypothesis
