# Needs python3 (3.11 or newer) and make; every target installs what else it needs, nearly all of it into .venv/.
#
#   make test PYTHON=python3.12        another interpreter for a new environment
#   make test ARGS="-k wheel -x"       arguments for pytest, the demo or the benchmarks

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; done; echo python3)
ARGS ?=

VENV := .venv
RUN := $(VENV)/bin/python
FOR_USERS := $(VENV)/.installed-for-users
FOR_DEVELOPERS := $(VENV)/.installed-for-developers

.DEFAULT_GOAL := help
.PHONY: help demo test check docs papers bench fuzz promises hostile urdfs carried faults soak histories robots browser compilers wheel lowest clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(FOR_USERS)  ## run the demonstration
	@$(RUN) examples/demo.py $(ARGS)

test: $(FOR_DEVELOPERS)  ## run the tests and the doctests, on all cores
	@$(RUN) tests/browser.py --optional
	@PYTHONPATH=tests $(RUN) tests/compilers.py --optional
	@$(RUN) -m pytest -n auto --dist loadfile --max-worker-restart 1 $(ARGS)

check: $(FOR_DEVELOPERS)  ## formatting, lint, types, the order of the stages
	@$(RUN) -m ruff format --check .
	@$(RUN) -m ruff check .
	@$(RUN) -m mypy src papers
	@$(VENV)/bin/lint-imports --no-logo --no-cache

docs: $(FOR_DEVELOPERS)  ## build the documentation into build/site, any warning an error
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --quiet $(ARGS)
	@echo "Open build/site/index.html"

papers: $(FOR_USERS)  ## compute the five papers again: build/papers.html
	@$(RUN) -m papers $(ARGS)

bench: $(FOR_DEVELOPERS)  ## compare with the peers, side by side
	@$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@$(RUN) -m benchmarks $(ARGS)

fuzz: $(FOR_DEVELOPERS)  ## load a hundred thousand mutated model files
	@PYTHONPATH=tests $(RUN) -m files.fuzz $(ARGS)

promises: $(FOR_DEVELOPERS)  ## make a thousand random runs with a promised accuracy and check every promise
	@PYTHONPATH=tests:. $(RUN) -m simulate.promises $(ARGS)

hostile: $(FOR_DEVELOPERS)  ## read a thousand run files of a stranger
	@PYTHONPATH=tests $(RUN) -m simulate.hostile $(ARGS)

faults: $(FOR_DEVELOPERS)  ## kill every writer and signal the command line, a hundred times each
	@PYTHONPATH=tests:. $(RUN) -m faults.kills $(ARGS)

soak: $(FOR_DEVELOPERS)  ## an hour of random systems, runs and reports in one process; nothing may grow
	@PYTHONPATH=tests:. $(RUN) -m faults.soak $(ARGS)

histories: $(FOR_DEVELOPERS)  ## examine every model in several orders: the same bits
	@$(RUN) tests/cases/histories.py $(ARGS)

urdfs: $(FOR_DEVELOPERS)  ## read a thousand URDF files of a stranger
	@PYTHONPATH=tests:. $(RUN) -m bodies.hostile_urdf $(ARGS)

carried: $(FOR_DEVELOPERS)  ## carry a thousand mutated models on through derivation, simulation and report
	@PYTHONPATH=tests:. $(RUN) -m files.carried $(ARGS)

robots: $(FOR_DEVELOPERS)  ## read published robots (130 MB) and compare them with Pinocchio
	@$(RUN) -m pip install --quiet example-robot-data==6.0.0
	@$(RUN) tests/bodies/robots.py $(ARGS)

browser: $(FOR_DEVELOPERS)  ## install Chromium, in which the tests open pages
	@$(RUN) tests/browser.py

compilers: $(FOR_DEVELOPERS)  ## install gcc and clang, which compile exported code in the tests
	@PYTHONPATH=tests $(RUN) tests/compilers.py

wheel: $(FOR_USERS)  ## build the wheel and try it without the developers' tools
	@tools/try_wheel $(RUN) constraints.txt

lowest: $(FOR_USERS)  ## try the lowest versions of the dependencies that are promised
	@if $(RUN) -c 'import sys; sys.exit(sys.version_info >= (3, 13))'; then \
		tools/try_wheel $(RUN) constraints-lowest.txt; \
	else echo "The lowest versions run on Python 3.11 and 3.12; $$($(RUN) -V) needs newer ones. Nothing was tried."; fi

clean:  ## remove the environment, caches and build products
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# Both are made once, and brought up to date when a dependency or a pinned version changes.
$(FOR_USERS): pyproject.toml constraints.txt
	@tools/environment "$(PYTHON)" .
	@touch $@

$(FOR_DEVELOPERS): pyproject.toml constraints.txt
	@tools/environment "$(PYTHON)" '.[dev]'
	@touch $(FOR_USERS) $@
