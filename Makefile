# Every target sets up .venv by itself when it is missing or behind the lock file.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The same cases each time; report.json in the folder is what is kept of a run.
CONFORMANCE := --deterministic --require-level 4 --allow-kill --faults hook --workers 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow conformance selftest check format docs bench lock clean

help: ## say what each target does
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

setup: $(READY) ## make .venv from the lock file

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; say which with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

demo: $(READY) ## what-if, deploy, repeat, change and destroy a small web site
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python examples/site/demo.py

test: $(READY) ## the default test suite
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-slow: $(READY) ## the slow and heavyweight tests
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

conformance: $(READY) ## the conformance kit on the quickstart and on the files provider, green at L4
	$(BIN)/provider-conformance run $(CONFORMANCE) --folder build/conformance/quickstart \
	    --cwd examples/quickstart --probe "$(CURDIR)/$(BIN)/python probe.py" -- $(CURDIR)/$(BIN)/python -m quickstart
	root=$$(mktemp -d) && trap 'rm -rf "$$root"' EXIT && \
	    PATH="$(CURDIR)/$(BIN):$$PATH" FILES_ROOT="$$root" $(BIN)/provider-conformance run $(CONFORMANCE) \
	    --folder build/conformance/files --config examples/files/conformance.toml

SEEDS ?= 1

selftest: $(READY) ## the conformance kit against every planted bug, on one seed or SEEDS=10
	$(BIN)/provider-conformance selftest --seeds $(SEEDS) --workers 4 \
	    --matrix build/kill-matrix.json --matrix build/kill-matrix.md $(addprefix --matrix ,$(PAGE))

check: $(READY) ## lint, format, types, import contracts, documents in step
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/python docs/sync.py --check

format: $(READY) ## bring the sources into the house's form
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(READY) ## write the generated parts of the documents
	$(BIN)/python docs/sync.py

bench: $(READY) ## measure side by side with peers, as ratios
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement benchmarks/requirements.lock
	$(BIN)/python benchmarks/run.py

lock: $(READY) ## choose the newest versions that pyproject.toml allows
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	    --extra all --group dev pyproject.toml --output-file requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	    --group bench --constraint requirements.lock pyproject.toml --output-file benchmarks/requirements.lock

clean: ## remove what the targets made
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist
