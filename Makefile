# `make demo` and `make test` need Python >= 3.11 and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Containers often set it: then every worker, and every process that tests start, would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-deploy demo-lab test test-long test-exhaustive test-all lint prose types compiled unit bench studies schema checks-doc
.PHONY: services reference docs man golden pictures format clean

help:
	@echo "make demo    generate the reference fabric into build/jvd, show a summary, prove it"
	@echo "make demo-deploy   emulate the switches of examples/lab, deploy, break a leaf, find the drift, repair it"
	@echo "make demo-lab   run examples/lab in network namespaces with real BGP: check, traffic, a failure, a push"
	@echo "make test    lint, types and all tests but the long ones: minutes"
	@echo "make test-long   the long tests: 20 minutes"
	@echo "make test-exhaustive   every case of the largest tables, and every property once more: an hour"
	@echo "make test-all    tests and long tests, the former with coverage"
	@echo "make services   install a real NetBox and a real Nautobot for the long tests: 4 minutes, once"
	@echo "make docs    build the documentation site into build/site, strictly: open build/site/index.html"
	@echo "make man     write man pages into build/man: man -M build/man ailb-gen"
	@echo "make studies   repeat the published experiments into docs/studies: an hour"
	@echo "make bench   measure against floors and peers"
	@echo "make format  format the code"

# The demos need the program only; all else needs the tools of the extra `dev` as well. nornir-nautobot is installed
# alone: jdiff, which its tasks need and its inventory does not, contradicts pybatfish (deepdiff < 9). Numbers: tests/test_makefile.py.
# pip takes what it installs from where its own configuration says (`pip config`, PIP_INDEX_URL): a mirror, too.
$(RUNTIME): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python >= 3.11 is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "Installing ailb-gen into $(VENV): 66 packages, 220 MB, about 20 s ..."
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

$(STAMP): $(RUNTIME)
	@echo "Installing the tools of the tests into $(VENV): 179 packages in all, 1.5 GB, 1 to 4 min ..."
	$(PIP) -e '.[dev]'
	$(PIP) --no-deps nornir-nautobot
	touch $@

demo: $(RUNTIME)
	$(BIN)/ailb-gen generate examples/jvd/fabric.yaml -o build/jvd
	@echo
	$(BIN)/ailb-gen explain examples/jvd/fabric.yaml stripe1-leaf1
	@echo
	$(BIN)/ailb-gen validate examples/jvd/fabric.yaml build/jvd

demo-deploy: $(RUNTIME)
	examples/lab/demo.sh build/demo-deploy $(BIN)/python

demo-lab: $(RUNTIME)
	examples/lab/demo-lab.sh build/demo-lab $(BIN)/python

test: $(STAMP)
	$(MAKE) --no-print-directory -j3 lint types unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(MAKE) --no-print-directory prose

prose: $(STAMP)
	$(BIN)/codespell README.md CONTRIBUTING.md CHANGELOG.md mkdocs.yml docs examples inventory templates ailb_gen
	$(BIN)/python docs/site/prose.py

types: $(STAMP)
	$(BIN)/mypy

# What every worker of the tests would otherwise do or wait for: the simulator is compiled, and, the first time, all
# modules of tests. Later few of them have changed, and to collect all others would take longer.
compiled: $(STAMP)
	$(BIN)/pytest -n 0 -k test_both_hash_alike $(if $(wildcard tests/*/__pycache__),tests/sim/fluid/test_run_packets.py)

# More workers than cores: tests of devices wait for answers and timers most of their time.
WORKERS ?= $(shell expr 2 \* $$(nproc))
# Long ones wait even more: for labs, for kills, for browsers.
LONG_WORKERS ?= $(shell expr 3 \* $$(nproc))
# The least percentage of coverage of `make test`. Without it nothing is measured, which halves the time of what runs in
# Python; what is long is never measured, for it adds nothing. What is compiled is not measured: the quick tests of the
# engine run once more without the compiler, all cases measured, and no more workers than cores: nothing waits there.
# Few random examples are drawn: `make test-exhaustive` draws many of the same properties.
COVERAGE ?=
PYTEST := $(BIN)/pytest -n $(WORKERS)
UNCOMPILED := $(addprefix tests/sim/engine/,test_run_edges.py test_run_conservation.py test_run_theory.py \
	test_parts.py::test_tasks_that_wait_where_others_end \
	test_credits.py::test_pulls_that_are_all_lost_are_made_up_for) \
	$(addprefix tests/sim/engine/balancers/test_,simple.py conweave.py::test_a_flow_alone_stays_where_it_is \
	conweave.py::test_marked_paths_are_avoided_for_the_pause hopper.py::test_a_flow_alone_stays_where_it_is \
	mp_rdma.py::test_acknowledgements_leave_their_paths plb.py::test_a_flow_moves_after_congested_round_trips_in_a_row \
	seqbalance.py::test_nothing_remains) \
	$(addprefix tests/sim/fluid/test_dcqcn.py::test_,the_first_cuts_of_two_flows_to_one_host a_queue_pair_goes_on_at_its_rate)
# Among these, what takes half the time without the compiler and reaches few lines that the others do not reach.
SLOW := dead_link or hashing_spreads or lost_end or more_link_changes or port_that_comes_back or random_member or \
	timeout-only or go-back-n or headroom_that_is or lossless_fabric_drops or loss_in_a_window
MEASURED := --cov=ailb_gen --cov-branch --cov-append

unit: compiled
	rm -f .coverage
	AILB_EXAMPLES=0.2 $(PYTEST) -m "not long" $(if $(COVERAGE),$(MEASURED) --cov-report=)
	$(if $(COVERAGE),AILB_EXAMPLES=0.1 AILB_MEASURED_S=inf NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n $$(nproc) --dist worksteal \
		-m "not long" -k "not ($(SLOW))" $(UNCOMPILED) $(MEASURED) --cov-report=term --cov-fail-under=$(COVERAGE))

test-long: compiled
	AILB_EXAMPLES=0.25 $(BIN)/pytest -n $(LONG_WORKERS) -m "long and not exhaustive" --durations=25

test-exhaustive: $(STAMP)
	$(BIN)/pytest -n $(LONG_WORKERS) -m "exhaustive or hypothesis or long"

# Otherwise the first tests that ask for one wait for this.
services: $(STAMP)
	$(BIN)/python -m tests.sot --install

test-all:
	$(MAKE) test test-long COVERAGE=95

bench: $(STAMP)
	$(BIN)/python -m benchmarks.generate
	$(BIN)/python -m benchmarks.parse
	$(BIN)/python -m benchmarks.validate
	$(BIN)/python -m benchmarks.sizes
	$(BIN)/python -m benchmarks.batfish
	$(BIN)/python -m benchmarks.draw
	$(BIN)/python -m benchmarks.gnmi
	$(BIN)/python -m benchmarks.report
	$(BIN)/python -m benchmarks.deploy
	$(BIN)/python -m benchmarks.lab
	$(BIN)/python -m benchmarks.simulate
	$(BIN)/python -m benchmarks.simulate_fluid

STUDIES := scale-unit recovery balancers queue-pairs hopper paths congestion
# Finished points are kept in build/studies; pages and figures go to docs/studies.
studies: $(STAMP)
	for name in $(STUDIES); do \
		$(BIN)/ailb-gen study $$name -o build/studies/$$name > /dev/null && mkdir -p docs/studies/$$name && \
		cp build/studies/$$name/study.md build/studies/$$name/*.svg docs/studies/$$name/ || exit 1; \
	done

# What is generated and kept in the repository; review the diff before you commit it.
schema: $(STAMP)
	$(BIN)/ailb-gen schema > docs/fabric.schema.json
	$(BIN)/ailb-gen schema cluster > docs/cluster.schema.json
	$(BIN)/ailb-gen schema scenario > docs/scenario.schema.json
	$(BIN)/ailb-gen schema what-if > docs/what-if.schema.json

checks-doc: $(STAMP)
	$(BIN)/ailb-gen checks --markdown > docs/checks.md
	$(BIN)/ailb-gen checks | sed -n 's/^  \(AILB...\)  .*/\1/p' > ailb_gen/checks/ids.txt

reference: $(STAMP)
	$(BIN)/python docs/site/reference.py docs/reference

man: $(STAMP)
	$(BIN)/python docs/site/man.py build/man/man1

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pictures: $(STAMP)
	AILB_UPDATE_GOLDEN=1 $(BIN)/pytest -n 0 tests/test_pictures.py

golden: $(STAMP)
	AILB_UPDATE_GOLDEN=1 $(BIN)/pytest -n 0 tests/render/test_golden.py tests/intent/test_golden_errors.py \
		tests/sim/scenario/test_load.py tests/study/what_if/test_load.py \
		tests/batfish/test_shadow.py tests/lab/bird/test_config.py tests/picture/test_golden.py \
		tests/cli/test_terminal.py tests/exports/test_registry.py tests/monitoring/test_stack.py

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
