# `make demo` and `make test` are all the set-up a fresh clone needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check format api docs pictures package bench lock locked audit clean

demo: $(STAMP)
	$(BIN)/leanset demo --out runs/demo --overwrite

test: $(STAMP) check
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

api: $(STAMP)
	$(BIN)/python docs/make_api.py

# The site, into site/; every link is checked and nothing is fetched.
docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# The pictures of the gallery, by the scripts that they are about. Those of the report page and of
# networks: docs/making/report_pictures.py and network_picture.py.
pictures: $(STAMP)
	for name in $$(grep -l savefig examples/*.py); do $(BIN)/python $$name docs/images/gallery/$$(basename $$name .py).png || exit 1; done

# The wheel, tried in two clean environments where nothing may be compiled: by itself, and with all extras.
package: $(STAMP)
	rm -rf dist .venv-package && $(BIN)/python -m hatchling build --target wheel
	for extras in "" "[all]"; do \
	  $(PYTHON) -m venv --clear .venv-package && \
	  .venv-package/bin/pip install --quiet --only-binary :all: --constraint constraints.txt "$$(echo dist/*.whl)$$extras" && \
	  .venv-package/bin/leanset doctor || exit 1; \
	done

bench: $(STAMP)
	$(BIN)/python -m benchmarks

# The versions of the development set-up with the digests of their files, for this Python and system.
lock: $(STAMP)
	$(BIN)/python tools/lock.py

# The same set-up from these very files: pip refuses any other.
locked:
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $(STAMP)

# Is what is installed what is locked, does it fit together, and has it known weaknesses? The last needs the network.
audit: $(STAMP)
	$(BIN)/python tools/lock.py --check
	$(BIN)/python -m pip check
	$(PYTHON) -m venv .venv-audit && .venv-audit/bin/pip install --quiet pip-audit
	.venv-audit/bin/pip-audit --require-hashes --disable-pip --requirement requirements.lock

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $(STAMP)

clean:
	rm -rf $(VENV) .venv-package .venv-audit dist site runs .mypy_cache .pytest_cache .ruff_cache
