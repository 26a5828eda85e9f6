# The course's commands. `make help` lists them.
PYTHON ?= python3
PORT ?= 8888
BROWSER ?= 1
NOTEBOOK ?=
DATA ?= core

VENV := .venv
COMMANDS := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(COMMANDS)/python
# A stamp is written last, so that a broken install is tried again.
COURSE := $(VENV)/course.stamp
TEST := $(VENV)/test.stamp
BOOK := $(VENV)/book.stamp
GRADING := $(VENV)/grading.stamp
ASKED := pyproject.toml course/pyproject.toml constraints.txt
INSTALL = $(BIN) -m pip install --disable-pip-version-check --quiet -c constraints.txt -e . -e

# Several hundred processes import the course in a test run: what Python has compiled is kept.
unexport PYTHONDONTWRITEBYTECODE

# nbgrader and JupyterLab start other commands of the environment by name.
export PATH := $(CURDIR)/$(COMMANDS):$(PATH)

# The whole course is in the file browser; NOTEBOOK opens first, or else what was open last.
LAB_OPTIONS := --config=course/jupyterlab/lab.json --ServerApp.port=$(PORT)
ifneq ($(NOTEBOOK),)
LAB_OPTIONS += --LabApp.default_url=/lab/workspaces/bertlab/tree/$(NOTEBOOK)
endif
ifeq ($(BROWSER),0)
LAB_OPTIONS += --no-browser
endif
ifeq ($(shell id -u),0)
LAB_OPTIONS += --allow-root
endif

.DEFAULT_GOAL := help
.NOTPARALLEL: # two installs at once would disturb each other
.PHONY: help lab check test quick lint lectures book slides launch exercises grading handout setups format data clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

lab: $(COURSE) data ## set up on the first call, then open JupyterLab (BROWSER=0, PORT=8888)
	$(BIN) -m jupyter lab $(LAB_OPTIONS)

check: $(COURSE) data ## is everything here, and how far is each exercise in a fresh kernel
	$(BIN) -m course.feedback

# only instructors
test: $(TEST) data lint ## the whole suite (PYTEST="-k attention" a part, DATA=all every corpus)
	$(BIN) -m pytest -n auto --durations 20 $(PYTEST)

quick: $(TEST) data ## the tests that are quick: at each save
	$(BIN) -m pytest -n logical -q -m "not slow and not notebooks and not browser" $(PYTEST)

lint: $(TEST)
	$(BIN) -m ruff check .
	$(BIN) -m ruff format --check .
	$(BIN) -m mypy

lectures: $(COURSE) data ## run every lecture offline; time, memory and budget of each
	$(BIN) -m course.publishing.lectures

book: $(BOOK) data ## the lectures with their outputs as web pages, in book/site (offline, no server; REPOSITORY adds a link)
	$(BIN) -m course.publishing.book

slides: $(BOOK) data ## the lectures as slides with notes for the speaker, in book/slides (offline)
	$(BIN) -m course.publishing.slides

launch: $(COURSE) ## links in the README, lectures for a notebook service (COURSE_URL, REPOSITORY)
	$(BIN) -m course.publishing.launch

exercises: $(COURSE) ## what comes from solutions/: students' notebooks, values of known mistakes, lists and sums
	$(BIN) -m course.publishing.mistakes
	$(BIN) -m course.publishing.tables
	cd course && ../$(BIN) -m nbgrader generate_assignment "*" --no-db --force

grading: $(GRADING) data ## set up what the instructor's commands need (course/README.md)

handout: $(COURSE) ## the course as students get it, in handout/ and handout.zip
	$(BIN) -m course handout --to handout --zip

setups: ## every documented way to set up, each in a clean environment (about an hour, 3 GB)
	$(PYTHON) -m tests.house.clean_setups

format: $(TEST) ## put code and notebooks into their normal form
	$(BIN) -m ruff check --fix --quiet . || true
	$(BIN) -m ruff format --quiet .
	$(BIN) -m course.publishing.notebooks
# end

data: $(COURSE)
	@$(BIN) -m bertlab.data fetch $(DATA)

clean: ## remove the environment and what runs leave behind (the fetched corpora stay)
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis submitted to-sort-out autograded feedback backups similarity book handout handout.zip

$(BIN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "The course needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	         "Say which one to use: make lab PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(COURSE): $(BIN) $(ASKED)
	$(INSTALL) ./course
	@touch $(COURSE)

# only instructors
$(GRADING): $(BIN) $(ASKED)
	$(INSTALL) "./course[grading]"
	@touch $(COURSE) $(GRADING)

$(BOOK): $(BIN) $(ASKED)
	$(INSTALL) "./course[book]"
	@touch $(COURSE) $(BOOK)

$(TEST): $(BIN) $(ASKED)
	$(INSTALL) "./course[test]"
	@touch $(COURSE) $(TEST)
# end
