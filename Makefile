# Set-up, run, test and check. Everything lives in .venv; nothing outside the work tree changes.
#   PYTHON       the interpreter that makes .venv (3.11 to 3.14)
#   PYTEST_WORKERS  how many test processes run at once
#   PYTEST_ARGS  passed on to pytest, for instance PYTEST_ARGS="-q tests/unit"

PYTHON ?= python3
PIP_FLAGS ?= -q
PYTEST_ARGS ?=
PYTEST_WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
MINUTES ?= 30
SEED ?= 1
PACKAGES := ledger projections api bench
CLIENT := clients/python
NODE_CLIENT := clients/typescript
NODE_STAMP := $(NODE_CLIENT)/node_modules/.installed
SENDS ?= 2000

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install run test lint format bench torture torture-clients torture-gates test-clients-gates gate-programs audit-dependencies sbom \
  client-tools client-types test-clients torture-clients-typescript openapi-tools check-openapi check-deploy clean

help:
	@echo "make install  prepare $(VENV)"
	@echo "make run      start a demo ledger"
	@echo "make test     run the whole test suite"
	@echo "make lint     check style, types and import contracts"
	@echo "make format   rewrite the sources in the project's style"
	@echo "make bench    run the benchmarks"
	@echo "make torture  kill, stop and fail over a ledger under load for MINUTES, and judge what clients heard"
	@echo "make check-openapi  generate clients from the OpenAPI document, in Python and TypeScript"
	@echo "make check-deploy  let Prometheus and systemd check what stands in deploy/"
	@echo "make torture-clients  kill senders that use the Python client, SENDS mails on a bad network"
	@echo "make test-clients  test the TypeScript client; needs npm and redis-server"
	@echo "make torture-clients-typescript  the same as torture-clients for the TypeScript client"
	@echo "make client-types  make the TypeScript client's types from the OpenAPI document"
	@echo "make torture-gates  kill the SMTP and the HTTP gate and the MCP guard, SENDS mails on a bad network"
	@echo "make test-clients-gates  programs in JavaScript, Ruby and PHP behind the gates"
	@echo "make audit-dependencies  look for known vulnerabilities in the pinned packages"
	@echo "make sbom     write what a release is made of, as CycloneDX, to dist/send-ledger.cdx.json"
	@echo "make clean    remove $(VENV) and everything built"

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt $(CLIENT)/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' || { \
	  echo "send-ledger needs Python 3.11 to 3.14, '$(PYTHON)' is not one;" \
	    "name another: make $(or $(MAKECMDGOALS),install) PYTHON=python3.13" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make virtual environments (no ensurepip)." \
	    "On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(PIP_FLAGS) --disable-pip-version-check -c constraints.txt -e '.[dev]' -e $(CLIENT)
	@touch $@

run: install
	@exec $(BIN)/send-ledger demo

test: install
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadfile $(PYTEST_ARGS)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict $(PACKAGES)
	cd $(CLIENT) && $(CURDIR)/$(BIN)/mypy --strict sendledger
	$(BIN)/lint-imports --no-logo

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install
	$(BIN)/python -m bench

torture: install
	$(BIN)/python -m tests.torture --minutes $(MINUTES) --seed $(SEED)

torture-clients: install
	LEDGER_TEST_CLIENT_SENDS=$(SENDS) LEDGER_TEST_CLIENT_SEED=$(SEED) \
	  $(BIN)/python -m pytest -q -s -n 0 $(CLIENT)/tests/test_chaos.py

# What the TypeScript client is built and tested with; a user of the package gets none of it.
client-tools: $(NODE_STAMP)

$(NODE_STAMP): $(NODE_CLIENT)/package.json
	npm install --prefix $(NODE_CLIENT) --silent --no-fund --no-audit --no-package-lock
	@touch $@

client-types: install client-tools
	$(BIN)/python -m tests.openapi_clients.client_types

test-clients: install client-tools
	$(BIN)/python -m tests.openapi_clients.client_types --check
	cd $(NODE_CLIENT) && node build.mjs && node --test $$(ls test/*.test.mjs)
	$(BIN)/python -m pytest -q -n 0 $(NODE_CLIENT)/test

torture-clients-typescript: install client-tools
	cd $(NODE_CLIENT) && node build.mjs
	LEDGER_TEST_CLIENT_SENDS=$(SENDS) LEDGER_TEST_CLIENT_SEED=$(SEED) \
	  $(BIN)/python -m pytest -q -s -n 0 $(NODE_CLIENT)/test

torture-gates: install
	LEDGER_TEST_GATE_SENDS=$(SENDS) LEDGER_TEST_GATE_SEED=$(SEED) \
	  $(BIN)/python -m pytest -q -s -n 0 tests/faults/test_gates_chaos.py tests/faults/test_mcp_guard_chaos.py

# npm brings the providers' libraries; Ruby with Action Mailer and PHP with PHPMailer are Debian's.
gate-programs:
	mkdir -p .gate-programs
	cp tests/foreign_programs/package.json tests/foreign_programs/send.mjs .gate-programs/
	npm install --prefix .gate-programs --silent --no-fund --no-audit --no-package-lock

test-clients-gates: install gate-programs
	GATE_PROGRAMS=$(CURDIR)/.gate-programs $(BIN)/python -m pytest -q -n 0 tests/foreign_programs/check_programs.py

# In an environment of its own: the tool is none of the product's dependencies.
audit-dependencies:
	test -x .venv-audit/bin/pip-audit || { $(PYTHON) -m venv .venv-audit && \
	  .venv-audit/bin/pip install -qq pip-audit==2.10.1; }
	.venv-audit/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip

# Of what `pip install .` brings and no more: the tools of the tests are in no release.
sbom:
	test -x .venv-sbom/bin/cyclonedx-py || { $(PYTHON) -m venv .venv-sbom && \
	  .venv-sbom/bin/pip install $(PIP_FLAGS) --disable-pip-version-check cyclonedx-bom==7.5.0; }
	rm -rf .venv-release && $(PYTHON) -m venv --without-pip .venv-release
	.venv-sbom/bin/pip --python .venv-release install $(PIP_FLAGS) --disable-pip-version-check -c constraints.txt .
	mkdir -p dist
	.venv-sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type application \
	  --output-reproducible --output-file dist/send-ledger.cdx.json .venv-release/bin/python
	rm -rf .venv-release build

# The generators are none of the product's dependencies, and theirs may clash with its own.
openapi-tools:
	test -x .openapi/python/bin/openapi-python-client || { $(PYTHON) -m venv .openapi/python && \
	  .openapi/python/bin/pip install -qq --disable-pip-version-check openapi-python-client==0.29.1; }
	cp tests/openapi_clients/package.json .openapi/
	test -x .openapi/node_modules/.bin/tsc || \
	  npm install --prefix .openapi --silent --no-fund --no-audit --no-package-lock

check-openapi: install openapi-tools
	$(BIN)/python -m tests.openapi_clients .openapi

# systemd looks for the program, so it is exchanged for one that every machine has; a warning fails.
check-deploy:
	promtool check rules deploy/prometheus-rules.yml
	mkdir -p build/deploy
	sed 's#/opt/send-ledger/bin/send-ledger#/bin/true#' deploy/systemd/send-ledger.service \
	  > build/deploy/send-ledger.service
	@told=$$(systemd-analyze verify build/deploy/send-ledger.service 2>&1) && [ -z "$$told" ] || \
	  { echo "$$told" >&2; exit 1; }

clean:
	rm -rf $(VENV) .venv-audit .venv-sbom .venv-release .openapi .gate-programs build dist *.egg-info $(CLIENT)/*.egg-info $(CLIENT)/.mypy_cache $(NODE_CLIENT)/build $(NODE_CLIENT)/dist $(NODE_CLIENT)/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  .import_linter_cache .schemathesis htmlcov .coverage
	find ledger projections api clients tests bench -type d -name __pycache__ -prune -exec rm -rf {} + \
	  2>/dev/null || true
