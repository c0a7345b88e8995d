# Everything a checkout needs. `make demo` and `make test` are the two commands of the README.
VENV ?= .venv
BIN = $(VENV)/bin

.DEFAULT_GOAL := help

.PHONY: help install demo stop test check lint types lock clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(VENV)/.installed: deploy/requirements-dev.lock pyproject.toml
	python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r deploy/requirements-dev.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	touch $@

install: $(VENV)/.installed ## install everything into .venv

demo: install ## start Strata, read the sample files, ask three questions
	$(BIN)/strata demo

stop: ## stop what `make demo` or `strata serve --detach` started
	$(BIN)/strata stop

test: install ## run every test
	$(BIN)/python -m pytest -q

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: install
	$(BIN)/mypy

check: lint types test ## lint, types and tests: what has to hold before a commit

lock: ## pin the dependencies anew
	$(BIN)/uv pip compile --quiet --no-header --generate-hashes --python-version 3.11 deploy/requirements.in -o deploy/requirements.lock
	$(BIN)/uv pip compile --quiet --no-header --generate-hashes --python-version 3.11 -c deploy/requirements.lock deploy/requirements-dev.in -o deploy/requirements-dev.lock

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
