# make run    builds everything and runs the samples
# make test   builds everything and runs all tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(wildcard acl_emu/cshim/*.c acl_emu/cshim/*.h acl_emu/cshim/build.py)
WORKERS ?= $(shell nproc)

.PHONY: run test check generate bench clean

$(VENV)/ready: pyproject.toml setup.py $(SOURCES)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

$(VENV)/check-ready: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[check]'
	touch $@

run: $(VENV)/ready
	$(BIN)/python samples/run_all.py

test: $(VENV)/ready
	$(BIN)/python -m pytest -n $(WORKERS)

check: $(VENV)/check-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m acl_emu.codegen --check

generate: $(VENV)/ready
	$(BIN)/python -m acl_emu.codegen

bench: $(VENV)/ready
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build dist *.egg-info acl_emu/lib64 .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find acl_emu aclnnop tests samples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
	find acl_emu -name '*.so' -delete
