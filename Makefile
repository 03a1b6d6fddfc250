# make        builds what has changed
# make run    builds everything and runs the samples
# make test   builds everything and runs all tests; ONLY="Softmax Add" those with such names, of operators or files, ONLY=tests/test_cli.py
#             those in a file
# make bench  measures, and writes docs/benchmarks.md; FULL=1 for everything; BASE=folder to compare with another checkout, built, row by
#             row; ONLY=SmoothL1 for some operators, or SHAPES=90 for so many seconds of shapes drawn at random, and nothing written
# make torch  runs torch's operator database with torch_npu, and writes docs/torch.md; TORCH_PYTHON=... of an environment that has torch_npu,
#             ONLY="add nn.functional.gelu" for some entries, and nothing written
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= $(shell nproc)
BENCH := .venv-bench
TORCH ?= torch==2.13.0
TORCH_NPU ?= torch_npu==2.13.0
TORCH_VENV := .venv-torch
TORCH_PYTHON ?= $(TORCH_VENV)/bin/python
FULL ?=
BASE ?=
ONLY ?=
SHAPES ?=

.DEFAULT_GOAL := build
.PHONY: build run test check generate bench torch clean

$(VENV)/ready: pyproject.toml setup.py
	$(PYTHON) -m venv $(VENV)
	@echo 'compiling the C parts and installing them into $(VENV), about a minute the first time ...'
	$(BIN)/python -m pip install --disable-pip-version-check --editable '.[test]'
	touch $@

$(VENV)/check-ready: $(VENV)/ready | build
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[check]'
	touch $@

# What has changed since is built, and nothing else.
build: $(VENV)/ready
	$(BIN)/python acl_emu/cface/build.py

run: build
	$(BIN)/python samples/run_all.py

FILES := $(filter tests/%,$(ONLY))
WORDS := $(filter-out $(FILES),$(ONLY))
space := $(subst ,, )

test: build
	$(BIN)/python -m pytest $(if $(ONLY),-n 0,-n $(WORKERS) --dist loadgroup) $(if $(WORDS),-k '$(subst $(space), or ,$(strip $(WORDS)))') $(FILES)

check: $(VENV)/check-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m acl_emu.codegen --check

generate: build
	$(BIN)/python -m acl_emu.codegen

# The packages of $(VENV), and torch where it can be had; the emulator is used from here.
$(BENCH)/ready: $(VENV)/ready
	$(PYTHON) -m venv $(BENCH)
	$(BIN)/python -m pip freeze --disable-pip-version-check --exclude-editable > $(BENCH)/constraints.txt
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -c $(BENCH)/constraints.txt numpy ml_dtypes cffi click setuptools
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH) || echo "no torch: its columns are left out"
	$(BENCH)/bin/python -c 'import sysconfig; open(sysconfig.get_path("purelib") + "/acl-emu.pth", "w").write("$(CURDIR)\n")'
	touch $@

bench: $(BENCH)/ready build
	$(BENCH)/bin/python -m $(if $(SHAPES),benchmarks.shapes $(SHAPES),benchmarks $(if $(FULL),--full) $(if $(BASE),--base $(BASE)) $(if $(ONLY),--only $(ONLY)))

# torch_npu loads the emulator from here. What its database of operators needs beside torch is installed, too.
$(TORCH_VENV)/ready: $(VENV)/ready
	$(PYTHON) -m venv $(TORCH_VENV)
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH) $(TORCH_NPU) numpy ml_dtypes cffi click \
		setuptools pyyaml scipy expecttest hypothesis pytest
	$(TORCH_VENV)/bin/python -c 'import sysconfig; open(sysconfig.get_path("purelib") + "/acl-emu.pth", "w").write("$(CURDIR)\n")'
	touch $@

torch: build $(if $(filter $(TORCH_VENV)/%,$(TORCH_PYTHON)),$(TORCH_VENV)/ready)
	$(BIN)/python -m tests.torch.database --python $(TORCH_PYTHON) --processes $(WORKERS) $(ONLY)

clean:
	rm -rf $(VENV) $(BENCH) $(TORCH_VENV) build dist *.egg-info acl_emu/lib64 include/aclnnop aclnnop/__init__.pyi .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find acl_emu aclnnop tests samples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
	find acl_emu -name '*.so' -delete
