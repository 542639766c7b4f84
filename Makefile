# make demo       a fresh environment, the base install, and a short story told through it
# make test       everything that must hold before a commit lands: style, types, contracts, fast tests
# make slow       what takes longer: kill -9, leak hunting in every store, model conversion, retrieval quality
# make test-neo4j the graph in Neo4j: fetches the server with Maven once, starts it, stops it
# make bench      the figures in docs/benchmarks.md
# make baselines  the retrieval figures `make slow` holds later changes to ($NEXUS_DATA)

PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES  ?= $(shell getconf _NPROCESSORS_ONLN)
BIN    := .venv/bin
DATA   ?= $(or $(NEXUS_DATA),../shared/data)

# Each worker has one core; and what tests and programs they start import is compiled once, also
# where the environment says otherwise.
fast slow test-neo4j: export OPENBLAS_NUM_THREADS := 1
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test fast slow test-neo4j bench baselines check clean

demo: .venv-demo/ready
	@.venv-demo/bin/python examples/story.py

test: .venv/ready
	@$(MAKE) --no-print-directory -j2 check fast  # types alone would leave the other cores idle

fast: .venv/ready
	$(BIN)/pytest -q -n $(CORES) --dist worksteal -m "not slow and not neo4j"

check: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

slow: .venv/ready
	$(BIN)/pytest -q -n $(CORES) --dist worksteal -m "slow and not neo4j"

test-neo4j: .venv/ready
	$(BIN)/pytest -q -rs -m neo4j

bench: .venv/ready
	$(BIN)/python bench/embedded.py

baselines: .venv/ready
	for benchmark in locomo beam; do \
	  $(BIN)/nexus eval $$benchmark --data $(DATA) --ranking contextual --config nexus.example.yaml \
	    --save-baseline bench/results/eval-$$benchmark.json \
	    --plot docs/images/eval-$$benchmark.svg || exit; \
	  $(BIN)/nexus eval $$benchmark --data $(DATA) --ranking contextual --config bench/minilm.yaml \
	    --save-baseline bench/results/eval-$$benchmark-minilm.json || exit; \
	done

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

.venv-demo/ready: pyproject.toml
	@echo "Setting up a fresh environment (the base install, nothing else) …"
	@$(PYTHON) -m venv .venv-demo
	@.venv-demo/bin/python -m pip install --quiet --editable .
	@touch $@

clean:
	rm -rf .venv .venv-demo build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
