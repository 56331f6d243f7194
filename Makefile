# `make run` opens TensorBoard on a sample trace, `make test` runs every check. Both set up what they
# need from nothing, and both work without a network from the second time on.
#
#   make run LOGDIR=/path/to/logdir PORT=6007
#   make test PYTHON=python3.12

PYTHON ?= python3
LOGDIR ?= examples/logdir
HOST ?= localhost
PORT ?= 6006
SEED ?= 1
INPUTS ?= 100000
EXAMPLES ?= 400
CALLS ?= 10000
BIN := .venv/bin

export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help run test check quick fuzz bench dist clean python

help:
	@echo 'make run    TensorBoard with tbprof on LOGDIR ($(LOGDIR)), PORT ($(PORT))'
	@echo 'make test   lint, types, unit, parity, frontend and browser tests'
	@echo 'make quick  lint, types and the fast tests of what has changed'
	@echo 'make fuzz   damaged traces, requests and profiler servers: SEED (1), for as long as it takes'
	@echo 'make bench  the measurements of benchmarks/README.md'
	@echo 'make dist   source distribution and wheel in dist/'
	@echo 'make clean  removes what the build made; environments stay (make clean ENVS=1: they go)'

python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	  echo 'error: $(PYTHON) was not found; tbprof needs Python 3.10 or newer (make PYTHON=...)' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "error: $(PYTHON) is $$($(PYTHON) --version 2>&1); tbprof needs 3.10 or newer (make PYTHON=...)" >&2; exit 1; }

run: python
	@$(PYTHON) scripts/bootstrap.py run
	@echo 'Profile tab: http://$(HOST):$(PORT)/#profile   (Ctrl+C ends it)'
	@exec $(BIN)/tensorboard --logdir '$(LOGDIR)' --host '$(HOST)' --port $(PORT)

test: python
	@$(PYTHON) scripts/bootstrap.py dev node
	@SET_UP='$(PYTHON) scripts/bootstrap.py xprof profile record azurite' \
	  TBPROF_CHROMIUM="$$($(PYTHON) scripts/bootstrap.py chromium)" scripts/check

# As `make test`, with the environments as they are.
check:
	@scripts/check

# In the environments as they are: what has changed since the last commit, or since SINCE.
quick:
	@scripts/check quick

# What docs/security.md records: each run prints its seed; the same seed makes the same inputs.
fuzz: python
	@$(PYTHON) scripts/bootstrap.py dev
	@cd tests && export PYTHONPATH=..:. && \
	  ../$(BIN)/python -m xplane.fuzz --seed $(SEED) --inputs $(INPUTS) --pages 4 && \
	  ../$(BIN)/python -m serving.http_fuzz --seed $(SEED) --examples $(EXAMPLES) && \
	  ../$(BIN)/python -m capturing.server_fuzz --seed $(SEED) --calls $(CALLS)

bench: python
	@$(PYTHON) scripts/bootstrap.py dev xprof node
	@$(BIN)/python -m benchmarks.run

dist: python
	@$(PYTHON) scripts/bootstrap.py dev
	@rm -rf dist
	@$(BIN)/python -m hatchling build --target sdist --target wheel

clean:
	rm -rf build dist tbprof/static tbprof/_pb/descriptors.* tbprof/kernels/*.so tbprof/kernels/*/*.so tbprof/kernels/.inputs* .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis test-results frontend/dist frontend/coverage
	find tbprof tests scripts benchmarks -name __pycache__ -prune -exec rm -rf {} +
	$(if $(ENVS),rm -rf .venv .venv-xprof .venv-profile .venv-record .venv-azurite frontend/node_modules)
