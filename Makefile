# Each target sets up what it needs: a virtual environment with the exact versions of constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RUN ?= runs/quickstart

export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false
export KMP_BLOCKTIME ?= 0
export OMP_WAIT_POLICY ?= PASSIVE

.PHONY: quickstart test lint types bench install clean

quickstart: $(STAMP)
	$(BIN)/prm quickstart --output $(RUN)

test: $(STAMP)
	$(BIN)/python -m pytest

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(STAMP)
	$(BIN)/pyright

bench: $(STAMP)
	$(BIN)/python -m benchmarks

install: $(STAMP)

# torch comes first and alone: with it in place no other package pulls another build of it.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.x ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1" setuptools wheel
	$(BIN)/python -m pip install --quiet $$(grep '^torch==' constraints.txt)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable .
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist *.egg-info
