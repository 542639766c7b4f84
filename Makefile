# make demo       install the package alone into .venv-demo and run examples/story.py
# make test       style, types, import contracts and fast tests: required before every commit
# make slow       slow tests: kill -9, leak tests on every store, model conversion, retrieval quality
# make test-neo4j tests on a real Neo4j: downloads the server with Maven once, starts and stops it
# make bench      measure the figures in docs/benchmarks.md
# make baselines  write the quality baselines that `make slow` compares with ($NEXUS_DATA)
# make lock       update requirements-dev.lock (needs uv)
# make clean      delete both environments and all caches

PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES  ?= $(shell getconf _NPROCESSORS_ONLN)
BIN    := .venv/bin
DATA   ?= $(or $(NEXUS_DATA),../shared/data)

# One thread per test process. Byte code is cached, also if the environment disables it: tests start
# many interpreters.
fast slow test-neo4j: export OPENBLAS_NUM_THREADS := 1
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test fast slow test-neo4j bench baselines check lock clean

demo: .venv-demo/ready
	@.venv-demo/bin/python examples/story.py

test: .venv/ready
	@$(MAKE) --no-print-directory -j2 check fast  # mypy uses one core only

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
	$(BIN)/nexus eval context locomo --data $(DATA) --config nexus.example.yaml \
	  --unanswerable bench/never_mentioned.jsonl \
	  --save-baseline bench/results/eval-context.json --plot docs/images/eval-context.svg
	$(BIN)/nexus eval context beam --data $(DATA) --config nexus.example.yaml \
	  --save-baseline bench/results/eval-context-beam.json
	$(BIN)/nexus eval chat --data $(DATA) --config nexus.example.yaml \
	  --save-baseline bench/results/eval-chat.json

# The lock file pins the versions; pip 25.1 is the first that installs dependency groups.
.venv/ready: pyproject.toml requirements-dev.lock
	@echo "Installing the development environment into .venv …"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --constraint requirements-dev.lock --group dev --editable '.[all]'
	@touch $@

.venv-demo/ready: pyproject.toml
	@echo "Installing the package without extras into .venv-demo …"
	@$(PYTHON) -m venv .venv-demo
	@.venv-demo/bin/python -m pip install --quiet --editable .
	@touch $@

lock:
	uv pip compile pyproject.toml --group dev --extra all --universal --python-version 3.11 --quiet \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	  --output-file requirements-dev.lock

clean:
	rm -rf .venv .venv-demo build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
