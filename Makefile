# SPDX-License-Identifier: BSD-3-Clause
# Each target sets up what it needs by itself and is quick when nothing changed.
#   PYTHON=/path/to/python3  use this interpreter (>= 3.10)    VENV=dir  another place than .venv
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test test-all fuzz fuzz-chains fuzz-ranks fuzz-calls fuzz-kills fuzz-memory check-mode firedrake lint build wheel bench bench-record bench-suite docs stubs clean distclean
export PYTHON VENV

venv_python := $(or $(VENV),.venv)/bin/python

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## airfoil on 720 000 cells: 100 iterations on openmp, time per loop against STREAM
	@tools/setup.sh demo
	@$(venv_python) demos/airfoil.py --backend openmp --iterations 100

test: ## C++ tests, the same under ASan, UBSan and TSan, Python tests
	@tools/setup.sh test
	@tools/test.sh

test-all: export PYOP2CXX_TEST_ALL = 1
test-all: test ## the same with every case by every strategy on every backend

fuzz: ## random loops for hours: BACKEND="openmp opencl" TOGETHER=1 COUNT=100000 SEED=1 JOBS=2 KIND=structs RECORD=FILE
	@tools/setup.sh test
	@$(venv_python) tests/fuzz/run.py --backend $(or $(BACKEND),openmp) --count $(or $(COUNT),100000) \
	  --jobs $(or $(JOBS),$(shell nproc)) $(if $(MINUTES),--minutes $(MINUTES)) \
	  $(if $(SEED),--seed $(SEED)) $(KIND:%=--kind %) --cflags=$(or $(CFLAGS),-O0) \
	  $(if $(TOGETHER),--together) $(if $(WAYS),--ways $(WAYS)) $(if $(CHAINED),--chained $(CHAINED)) \
	  $(if $(RECORD),--json $(RECORD) --resume)

fuzz-chains: ## random chains of named loops: BACKEND="openmp opencl" COUNT=1000 SEED=1 JOBS=2
	@tools/setup.sh test
	@$(venv_python) tests/fuzz/chains.py --backend $(or $(BACKEND),openmp) --count $(or $(COUNT),1000) \
	  --jobs $(or $(JOBS),$(shell nproc)) --seed $(or $(SEED),0)

fuzz-ranks: ## the corpus and random loops on 1 to 4 processes of mpiexec: BACKEND="openmp opencl" COUNT=10000 SEED=1
	@tools/setup.sh test
	@$(venv_python) tests/fuzz/ranks.py $(if $(BACKEND),--backend $(BACKEND)) \
	  --count $(or $(COUNT),10000) --turns $(or $(TURNS),1) --seed $(or $(SEED),0) $(if $(MINUTES),--minutes $(MINUTES))

fuzz-calls: ## hostile calls of the interface: COUNT=1000000 SEED=1 JOBS=2
	@tools/setup.sh test
	@$(venv_python) tests/fuzz/hostile.py --count $(or $(COUNT),1000000) \
	  --jobs $(or $(JOBS),$(shell nproc)) $(if $(SEED),--seed $(SEED))

fuzz-kills: ## kill -9 while loops are compiled and cached: BACKEND="openmp opencl" COUNT=200 SEED=1
	@tools/setup.sh test
	@$(venv_python) tests/fuzz/kills.py --backend $(or $(BACKEND),sequential) \
	  --count $(or $(COUNT),200) --jobs $(or $(JOBS),$(shell nproc)) $(if $(SEED),--seed $(SEED))

fuzz-memory: ## the corpus as host code under ASan and UBSan
	@tools/setup.sh test
	@$(venv_python) tests/fuzz/sanitized.py --jobs $(or $(JOBS),$(shell nproc))

check-mode: ## demos, forms and PyOP2's programs in check mode: BACKEND="sequential opencl" JOBS=2 DEBUG=1
	@tools/setup.sh test
	@$(venv_python) tests/python/in_check_mode.py --backend $(or $(BACKEND),sequential openmp opencl) \
	  --jobs $(or $(JOBS),$(shell nproc)) $(if $(DEBUG),--debug)

firedrake: ## Firedrake's programs over pyop2cxx and over PyOP2: PYTHON=python-with-firedrake BACKEND=openmp NAMES="poisson slate"; its own tests: TESTS=sources/tests/firedrake FOLDERS=slate
	@PYTHONPATH=$(CURDIR) $(or $(PYTHON),python3) tests/firedrake/names.py
	@PYTHONPATH=$(CURDIR) $(if $(BACKEND),PYOP2CXX_BACKEND=$(BACKEND)) $(or $(PYTHON),python3) tests/firedrake/programs.py $(NAMES)
	@$(if $(TESTS),PYTHONPATH=$(CURDIR) $(if $(BACKEND),PYOP2CXX_BACKEND=$(BACKEND)) $(or $(PYTHON),python3) tests/firedrake/suite.py $(TESTS) $(FOLDERS))

lint: ## ruff, mypy, clang-format, stub, manual, -Wall -Wextra -Werror with g++ and clang 14
	@tools/setup.sh lint
	@tools/lint.sh

build: ## the package in editable mode and its C++ tests, after a change
	@tools/setup.sh test

wheel: ## a wheel in dist/, checked in an environment without build tools: PYTHON=python3.12
	@tools/wheel.sh

bench: ## every benchmark of benchmarks/, one after the other: NAMES="plan first_form"
	@tools/setup.sh bench
	@$(venv_python) benchmarks/run.py $(NAMES)

bench-suite: ## programs of the field on each backend, by loops, in chains and as graphs: ARGS="euler --size 0.1 --json suite.json"
	@tools/setup.sh bench
	@$(venv_python) benchmarks/suite/run.py $(ARGS)

bench-record: ## append to benchmarks/record.json what a few programs take here; the manual shows the record
	@tools/setup.sh bench
	@$(venv_python) benchmarks/record.py

docs: ## the manual, in build/docs
	@tools/setup.sh docs
	@$(venv_python) -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "build/docs/index.html"

stubs: ## rewrite pyop2cxx/_core/*.pyi from the built extension
	@tools/setup.sh lint
	@tools/make_stubs.sh

clean: ## remove what was built
	rm -rf build dist .setup .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f pyop2cxx/_core*.so

distclean: clean ## and the virtual environment
	rm -rf $(or $(VENV),.venv)
