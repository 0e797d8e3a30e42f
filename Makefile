# People and CI run the same targets. `make help` explains them.

# pyspark 3.4 runs on 3.11 and 3.12: take one of these even where python3 is newer.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || echo python3)
LAKE := .venv/bin/lake
# Whose Spark and Hudi a lake on this machine can run on, beside the default's (lake/config/versions.py).
OTHER_RELEASE := emr-7.10.0
# Targets that run in parallel print their output when they are done, if this make can do so.
WHOLE_OUTPUTS := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.DEFAULT_GOAL := help
.PHONY: help setup demo test check unit spark synth rights charts kubeapi iam kube airflow account operations integration acceptance slow faults soak up down bench pages package lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## check the machine, then fetch and build everything: .venv/, build/, node_modules/; LAKE_RELEASE=emr-7.10.0 adds its Spark
	@$(PYTHON) tools/bootstrap.py

demo: setup ## the whole pipeline on real data: PostgreSQL to Hudi tables, live changes, and data validation
	@$(LAKE) demo

test: setup ## all that CI runs
	@# Three targets on two cores, because the lake's tests wait as often as they compute. The longest one starts first.
	@$(MAKE) --no-print-directory --jobs=3 $(WHOLE_OUTPUTS) BESIDE="nice -n 19" \
		integration kube spark check unit synth rights charts account operations

check: setup ## style, types, and Python 3.7 syntax for what runs on EMR
	$(BESIDE) .venv/bin/ruff check .
	$(BESIDE) .venv/bin/ruff format --check .
	$(BESIDE) .venv/bin/mypy
	$(BESIDE) .venv/bin/vermin --quiet --no-tips --violations -t=3.7- --eval-annotations spark_jobs constructs/lake_constructs/scripts

unit: setup ## fast tests, no services and no JVM
	$(BESIDE) .venv/bin/pytest tests/unit

spark: setup ## tests of the Spark jobs in one small session, no services
	$(BESIDE) .venv/bin/pytest tests/spark -m "not slow"

synth: setup ## the AWS stacks of every environment: snapshots, rules, rights
	$(BESIDE) .venv/bin/pytest tests/synth

rights: iam ## who calls what on AWS, judged by the policies of the stacks
	$(BESIDE) .venv/bin/pytest tests/rights

charts: setup ## the Helm charts, rendered and checked, and their programs
	$(BESIDE) .venv/bin/pytest tests/charts

kubeapi: setup ## build a real Kubernetes API server, once: about 5 minutes on two cores
	@$(BESIDE) $(PYTHON) tools/bootstrap.py kubeapi

kube: kubeapi ## the Helm charts on that server: validation, admission, rights, and the life of a release
	$(BESIDE) .venv/bin/pytest tests/kube_api

iam: setup ## build what a local lake with `kafka: {auth: iam}` needs: MSK's login for its broker
	@$(BESIDE) $(PYTHON) tools/bootstrap.py iam

airflow: setup ## install an Airflow into build/, for the tests of the example DAGs
	@$(BESIDE) $(PYTHON) tools/bootstrap.py airflow

account: setup ## deploy, change and destroy whole lakes in an emulated AWS account, by the real CDK command line
	$(BESIDE) .venv/bin/pytest tests/emulated_account -m "not (operations or slow)"

operations: setup ## run, watch, tear down and rebuild a lake in an emulated AWS account, by the lake command
	$(BESIDE) .venv/bin/pytest tests/emulated_account -m "operations and not slow"

integration: setup ## tests on a local lake, started for them
	.venv/bin/pytest tests/integration tests/acceptance tests/faults -m "not (slow or faults or soak)" --durations=12

acceptance: setup ## replay the cases of the posts, and write their table, docs/acceptance.md
	.venv/bin/pytest tests/acceptance --cases docs/acceptance.md

slow: iam airflow ## the schema change and fault tests and the example DAGs, which are too slow for every change
	@LAKE_RELEASE=$(OTHER_RELEASE) $(PYTHON) tools/bootstrap.py
	LAKE_RELEASE=$(OTHER_RELEASE) PYTHONPATH=build/$(OTHER_RELEASE)/python .venv/bin/pytest tests/spark
	.venv/bin/pytest tests/spark -m slow
	.venv/bin/pytest tests/integration tests/acceptance tests/faults -m slow
	LAKE_KILLS=20 .venv/bin/pytest tests/emulated_account -m "operations or slow"

pages: setup ## write docs/environments/, what each environment deploys, from the templates; docs/keys.md, from the models
	.venv/bin/python -m tools.keys_page
	.venv/bin/python -m tests.synth.pages

package: setup ## build dist/, the files that are deployed to AWS: the same bytes each time
	@$(LAKE) package

# Without rights to do so, the trials that cut the network or fill the disk are skipped, and say so.
APART = $(shell unshare --net --mount tests/faults/apart.sh true 2>/dev/null && \
	echo unshare --net --mount tests/faults/apart.sh)
SEED ?= 0
SOAK ?= 3600

faults: setup ## break every part on purpose and compare the lake with the source; SEED=n repeats a run, REPORT=docs/reliability.md
	$(APART) .venv/bin/pytest tests/faults -m faults --seed $(SEED) $(if $(REPORT),--report $(REPORT))

soak: setup ## an hour (SOAK=seconds) of load with kills of all processes, then the same check
	$(APART) .venv/bin/pytest tests/faults -m soak --seed $(SEED) --soak $(SOAK) $(if $(REPORT),--report $(REPORT))

up: setup ## start the local lake
	@$(LAKE) up

down: setup ## stop it; the data are kept
	@$(LAKE) down

bench: setup ## measure freshness and throughput
	.venv/bin/python -m benchmarks

lock: ## renew requirements/, jars/SHA256SUMS, go.sum and package-lock.json after a change of versions
	@$(PYTHON) tools/bootstrap.py lock

clean: ## stop the lake and remove everything that was made, including its data
	@if [ -d .lake ] && [ -x $(LAKE) ]; then $(LAKE) down; fi
	@echo "removing .lake/ (the local lake's data), build/ (jars), dist/, .venv/, node_modules/ and caches"
	@rm -rf .lake build dist .venv node_modules lake.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
