# Needs python3 (3.11 or newer) and make; everything else goes into .venv/.
#
#   make test PYTHON=python3.12        another interpreter for a new environment
#   make test ARGS="-k wheel -x"       arguments for pytest, the demo or the benchmarks

PYTHON ?= python3
ARGS ?=

VENV := .venv
RUN := $(VENV)/bin/python
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz robots bench check docs browser clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(STAMP)  ## run the demonstration
	@$(RUN) examples/demo.py $(ARGS)

test: $(STAMP)  ## run the tests and the doctests, on all cores
	@$(RUN) -m pytest -n auto --dist loadfile $(ARGS)

fuzz: $(STAMP)  ## load a hundred thousand mutated model files
	@PYTHONPATH=tests $(RUN) -m files.fuzz $(ARGS)

robots: $(STAMP)  ## read published robots (130 MB) and compare them with Pinocchio
	@$(RUN) -m pip install --quiet example-robot-data==6.0.0
	@$(RUN) tests/bodies/robots.py $(ARGS)

bench: $(STAMP)  ## compare with the peers, side by side
	@$(RUN) -m benchmarks $(ARGS)

check: $(STAMP)  ## formatting, lint, types, the order of the stages
	@$(RUN) -m ruff format --check .
	@$(RUN) -m ruff check .
	@$(RUN) -m mypy src
	@$(VENV)/bin/lint-imports --no-logo --no-cache

docs: $(STAMP)  ## build the documentation into build/site, any warning an error
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --quiet $(ARGS)
	@echo "Open build/site/index.html"

browser:  ## install Chromium, in which reports are tested (Debian, Ubuntu)
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { \
		as=; [ "$$(id -u)" = 0 ] || as=sudo; echo "Installing chromium"; \
		$$as apt-get install -y -q chromium >/dev/null 2>&1 || { $$as apt-get update -q && $$as apt-get install -y -q chromium; }; }

clean:  ## remove the environment, caches and build products
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# The environment is made once, and brought up to date when a dependency or a pinned version changes.
$(STAMP): pyproject.toml constraints.txt
	@command -v "$(PYTHON)" >/dev/null || { \
		echo "$(PYTHON) was not found. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Vinculum needs Python 3.11 or newer; $(PYTHON) is $$("$(PYTHON)" -V 2>&1)." >&2; \
		echo "Name a newer one: make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "$(PYTHON) cannot create environments: its modules venv and ensurepip are missing." >&2; \
		echo "On Debian and Ubuntu install them with: apt install python3-venv" >&2; exit 1; }
	@$(RUN) -m pip --version >/dev/null 2>&1 || { \
		echo "Creating $(VENV) with $$("$(PYTHON)" -V)"; "$(PYTHON)" -m venv --clear $(VENV); }
	@echo "Installing Vinculum and its dependencies into $(VENV) (a minute or two, only this once)"
	@$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@
