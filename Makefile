# Every target makes the environment first if it is missing, so each works on a bare checkout.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
INSTALL := VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install -q
UV := $(INSTALL) --no-deps
export OMP_NUM_THREADS ?= 1
export PYTHONHASHSEED ?= 0

.DEFAULT_GOAL := help
.PHONY: help env demo test test-slow check format campaign bench docs clean

help:  ## Say what each target does
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

env: $(READY)  ## Make .venv from requirements/lock.txt

# torch goes first: uv takes the build for this machine's card, or the CPU build, from PyTorch's own index;
# where that cannot be reached, pip takes what it finds.
$(READY): requirements/lock.txt pyproject.toml
	@echo "making $(VENV) (about two minutes) ..."
	@test -x $(BIN)/python || python3 -m venv $(VENV)
	@$(BIN)/pip install -q --disable-pip-version-check uv==0.13.7
	@UV_HTTP_RETRIES=0 $(INSTALL) -c requirements/lock.txt --torch-backend auto torch==2.13.0 2>/dev/null || \
	  $(BIN)/pip install -q --disable-pip-version-check -c requirements/lock.txt torch==2.13.0
	@$(UV) --compile-bytecode -r requirements/lock.txt
	@$(UV) --no-build-isolation -e .
	@touch $@

demo: env  ## Record, encode, train, compete and report on the arena, in minutes
	@$(BIN)/understudy demo

test: env  ## The quick tests
	@$(BIN)/pytest -n 2 -m "not slow"

test-slow: env  ## The slow tests
	@$(BIN)/pytest -m slow

check: env  ## Lint, format, types, and which module may import which
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: env  ## Mend what ruff can mend
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

campaign: env  ## Attack ourselves for 20 minutes: kills, damaged files, hostile agents
	@$(BIN)/understudy selftest --minutes 20

bench: env  ## Measure speed beside the peers (installs them first)
	@$(UV) -r requirements/bench.txt
	@$(BIN)/python benchmarks/arena_speed.py
	@$(BIN)/python benchmarks/refine_speed.py
	@$(BIN)/python benchmarks/scml_speed.py
	@$(BIN)/python benchmarks/scml_recording.py
	@timeout 300 $(BIN)/python benchmarks/dota_encode.py --many 5000

docs: env  ## The site, into build/site; every link is checked (installs mkdocs first)
	@$(UV) -r requirements/docs.txt
	@$(BIN)/mkdocs build --strict

clean:  ## Remove the environment and caches; runs/ stays
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
