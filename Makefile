# Everything runs from a virtual environment that these targets make and keep in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests run in parallel processes; torch's own threads would then only fight over the cores.
TEST_ENV := OMP_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo kernels test test-long test-nightly lint format bench bench-train paper paper-quick pictures docs dist clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Two stamps, so that the demo does not install the developers' tools.
$(VENV)/run.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Setting up lcifr (first time: a few minutes; the next run starts at once) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[learn]' --constraint constraints.txt
	$(BIN)/python -m lcifr.prove
	@touch $@

$(VENV)/dev.stamp: pyproject.toml constraints.txt | $(VENV)/run.stamp
	@echo "Setting up the developers' tools ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --constraint constraints.txt
	@touch $@ $(VENV)/run.stamp

$(VENV)/docs.stamp: pyproject.toml constraints.txt | $(VENV)/run.stamp
	@echo "Setting up what builds the documentation ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]' --constraint constraints.txt
	@touch $@ $(VENV)/run.stamp

demo: $(VENV)/run.stamp  ## set up everything and run the main job on the built-in data
	@$(BIN)/lcifr demo

# Does nothing where the machine code is that of these sources: else every process of the tests would compile for minutes.
kernels: $(VENV)/dev.stamp
	@$(BIN)/python -m lcifr.prove

test: kernels  ## set up everything and run the tests (under ten minutes on 2 cores)
	$(TEST_ENV) $(BIN)/python -m pytest -n auto -m "not long and not nightly"

test-long: kernels  ## what takes longer: large samples, whole datasets, all examples
	$(TEST_ENV) LCIFR_ALL_EXAMPLES=1 $(BIN)/python -m pytest -n auto -m "(long or sampled) and not nightly"

test-nightly: kernels  ## the rest of the largest samples
	$(TEST_ENV) LCIFR_ALL_EXAMPLES=1 $(BIN)/python -m pytest -n auto -m nightly

lint: $(VENV)/dev.stamp  ## format, rules, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/dev.stamp  ## let ruff format and fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/dev.stamp  ## the benchmarks: both sides in one run, ratios printed
	$(BIN)/python -m benchmarks

bench-train: $(VENV)/dev.stamp  ## seconds of learning: an epoch against a plain one, 300 rounds of boosting (Adult, Health)
	$(TEST_ENV) $(BIN)/python -m benchmarks.train
	$(TEST_ENV) $(BIN)/python -m benchmarks.boosting adult health

paper: $(VENV)/dev.stamp  ## the paper's tables, to docs/results.md (resumable; one to two hours on 2 cores)
	$(TEST_ENV) $(BIN)/python -m experiments run
	$(BIN)/python -m experiments render

paper-quick: $(VENV)/dev.stamp  ## a slice of them in minutes, to runs/paper-quick.md
	$(TEST_ENV) $(BIN)/python -m experiments run --quick
	$(BIN)/python -m experiments render --quick --page runs/paper-quick.md

pictures: $(VENV)/dev.stamp  ## the pictures of README and of the workbench's page, from demos on this machine (needs Chromium)
	$(BIN)/lcifr demo --out lcifr-demo --picture docs/demo.svg
	$(BIN)/python -m tests.report.pictures lcifr-demo/report.html docs/report.png
	$(BIN)/python -m tests.workbench.pictures docs

docs: $(VENV)/docs.stamp  ## the documentation site, to docs/_build/html: its tutorials are run (some minutes the first time)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs docs/_build/html
	$(BIN)/python -m tests.dead_links docs/_build/html
	@echo "Open docs/_build/html/index.html"

dist: $(VENV)/dev.stamp  ## both wheels to dist/, and the demo's bundle through the small one in an empty environment
	rm -rf dist
	$(BIN)/python -m hatchling build -t wheel -d dist
	cd wheels/lcifr-check && $(abspath $(BIN))/python -m hatchling build -t wheel -d $(abspath dist)
	$(BIN)/lcifr demo --out dist/demo
	$(BIN)/python wheels/try_wheel.py dist/lcifr_check-*.whl dist/demo/proofs/trained

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
