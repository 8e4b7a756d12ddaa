# Sets itself up: every target that needs Python makes .venv from the lock files, once.
# Paths are relative, so the directory's own path may hold spaces.

# Tried in order; the first that runs, is new enough and can make a venv is used.
PYTHON ?= python3.11 python3.12 python3.13 python3.14 python3 python

NEW_ENOUGH := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))
RUN := .venv/bin/python -m
# --no-deps: the locks are complete, so what they do not name is never installed.
INSTALL := $(RUN) pip install --quiet --no-deps

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start thousands of processes: each would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo demo-gui smoke test conformance agents test-agents agents-latest lint types coverage fuzz mutants bench compare \
	bench-check bench-ratios lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

demo: .venv/runtime ## watch an avatar work, crash and recover
	@$(RUN) examples.avatar_demo

demo-gui: .venv/dev ## look at the app: the embedded agent plays a scripted afternoon
	@.venv/bin/avatar gui --demo

smoke: .venv/runtime ## half a minute: one answer, then faults on purpose; needs no development tools
	@$(RUN) avatar_actors chat --provider embedded "6*7"
	@$(RUN) avatar_actors chaos --quick

test: .venv/dev ## run all tests
	@$(RUN) pytest -n 4 --dist loadgroup tests

conformance: .venv/dev ## what is too slow for make test: more dialects, transports, sizes, rounds
	@THOROUGH=1 $(RUN) pytest -n 4 --dist loadgroup -m conformance tests

agents: .venv/dev ## install the real agents for tests, once, outside the checkout; needs node and npm
	@$(RUN) tests.real_agents.install

test-agents: agents ## play every real agent on a loopback model; writes docs/agents.md
	@$(RUN) tests.real_agents

agents-latest: .venv/dev ## the same with their newest versions: what differs
	@$(RUN) tests.real_agents.install --latest
	@$(RUN) tests.real_agents --latest

lint: .venv/dev ## check style and formatting
	@$(RUN) ruff check
	@$(RUN) ruff format --check

types: .venv/dev ## check types; the public ones must be 100 % known
	@$(RUN) mypy
	@$(RUN) basedpyright
	@# --verifytypes reads no configuration: it asks the first python on the PATH.
	@PATH="$$PWD/.venv/bin:$$PATH" $(RUN) basedpyright --verifytypes supervisors --ignoreexternal

SECONDS ?= 600
SEED ?=

fuzz: .venv/dev ## any bytes and any text, for SECONDS=600, as SEED=… says; a failure is a test to paste
	@$(RUN) tests.fuzz --seconds "$(SECONDS)" --seed "$(SEED)"

coverage: .venv/dev ## measure branch coverage of supervisors; fails under 98 %
	@$(RUN) coverage run -m pytest tests/supervisors tests/hostile/test_child_border.py
	@$(RUN) coverage report

mutants: .venv/dev ## can the tests fail? plant 200 faults; MUTANTS="--since main --seed 7" chooses
	@$(RUN) tests.mutants $(MUTANTS)

bench: .venv/dev ## measure against plain trio, asyncio, pykka and the ACP SDK
	@$(RUN) bench.savina
	@$(RUN) bench.supervision
	@$(RUN) bench.throughput
	@$(RUN) bench.paced
	@$(RUN) bench.crossing
	@$(RUN) bench.startup
	@$(RUN) bench.recovery
	@$(RUN) bench.interrupt
	@$(RUN) bench.scale
	@$(RUN) bench.growth
	@$(RUN) bench.orphans
	@$(RUN) bench.hostile
	@$(RUN) bench.gui
	@$(RUN) bench.chaos

compare: .venv/dev ## beside avatar-engine and the SDKs, installed once; writes docs/benchmarks.md
	@$(RUN) bench.compare --markdown

bench-check: .venv/dev ## has anything become slower? ratios beside the committed ones
	@$(RUN) bench.check

bench-ratios: .venv/dev ## write down the ratios of today for bench-check; look at the diff
	@$(RUN) bench.check --write

clean: ## remove what the other targets made
	rm -rf .venv .coverage .coverage.* .hypothesis .mutants.json tests/fake_agents/.executables .mypy_cache .pytest_cache .ruff_cache
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# Pins stay where they are; `make lock UPGRADE=--upgrade` moves them to the newest versions.
LOCK = CUSTOM_COMPILE_COMMAND='make lock' $(RUN) piptools compile --quiet $(UPGRADE) \
	--generate-hashes --allow-unsafe --strip-extras --no-config \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links

lock: .venv/dev ## pin exact versions and hashes anew
	@$(LOCK) --output-file=requirements/runtime.txt --extra=cli --build-deps-for=editable \
		pyproject.toml
	@$(LOCK) --output-file=requirements/dev.txt --constraint=requirements/runtime.txt \
		--extra=dev --build-deps-for=editable pyproject.toml
	@for library in avatar-engine claude-agent-sdk; do \
		$(LOCK) --output-file=bench/comparison/locks/$$library.txt \
			bench/comparison/locks/$$library.in || exit 1; \
	done

# --clear: a half-made environment, or one from an older lock, is never built upon.
.venv/runtime: requirements/runtime.txt pyproject.toml
	@echo "Making .venv (once) ..."
	@for python in $(PYTHON); do \
		if $$python -c '$(NEW_ENOUGH)' 2>/dev/null; then exec $$python -m venv --clear .venv; fi; \
	done; \
	echo "No Python 3.11 or newer that can make a venv among: $(PYTHON)" >&2; \
	echo "Install one (on Debian with its -venv package), or name it: make PYTHON=/path/to/python3" >&2; \
	exit 1
	@$(INSTALL) --require-hashes -r requirements/runtime.txt
	@$(INSTALL) --no-build-isolation --editable .
	@touch $@

.venv/dev: requirements/dev.txt .venv/runtime
	@echo "Installing the development tools into .venv (once, about a minute) ..."
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@
