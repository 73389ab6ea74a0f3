# make run      everything, on the bundled sample
# make test     all tests
# make lint     style of Python, Snakemake and the workflow
# make bench    measurements beside what people would use instead
# make bench-gpu  the LLM stages on a GPU, with random weights of Llama 3.1-8B's architecture
# make soak     the long versions of the tests
PYTHON ?= python3
CORES ?= 2
VENV := .venv
BIN := $(VENV)/bin

export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run test lint format bench bench-gpu soak setup models clean

run: models
	@snakemake --cores $(CORES) --quiet host reason
	@echo
	@echo "Run id:    $$(cat results/run_id.txt)"
	@echo "Report:    results/report.html"
	@echo "Tables:    results/tables/  (arXiv 2512.05700)   results/audit/  (arXiv 2609.29145)"
	@echo "Notebook:  results/notebooks/disagreement.ipynb"
	@echo "Verify:    sha256sum -c results/manifest.sha256   or   $(BIN)/faithfuse manifest verify"

test: models
	pytest

lint: setup
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile rules
	snakemake --lint

format: setup
	ruff format .
	ruff check --fix .
	snakefmt Snakefile rules

bench: models
	python tests/benchmarks/run.py

bench-gpu: setup
	@python tests/benchmarks/bench_gpu.py

soak: models
	FAITHFUSE_SOAK=1 pytest

setup: $(VENV)/installed

$(VENV)/installed: envs/lock.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("faithfuse needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	@echo "Installing the pinned packages into $(VENV) (a few minutes the first time)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement envs/lock.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

models: setup
	@faithfuse models fetch --embedded

clean:
	rm -rf results/* .snakemake .cache
	git checkout -- results/README.md 2>/dev/null || true
