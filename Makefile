# Everything that is checked, run and measured here. Needs Go, make, git, bash and a C compiler (for -race); the linters
# come through the module proxy, pinned in tools/go.mod.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Steps run one after the other, whatever -j says: each uses all cores by itself, and their output stays readable.
.NOTPARALLEL:

# Each module is tested with its own go.mod, as those who import it get it: no workspace, and no command may mend go.mod
# in passing.
export GOWORK  := off
export GOFLAGS := $(strip $(filter-out -mod=%,$(GOFLAGS)) -mod=readonly)

# The nested modules that hold code: every folder with a go.mod, except the root, the linters, and the corpus, the
# recipes and the browser, which take too long for make test.
NESTED := $(sort $(patsubst ./%/go.mod,%,$(shell find . -mindepth 2 -name go.mod \
	-not -path '*/.*' -not -path '*/testdata/*' -not -path '*/node_modules/*' -not -path './tools/*' -not -path './gen/corpus/*' \
	-not -path './docs/recipes/*' -not -path './resilient/dashboard/browser/*')))
BROWSER := resilient/dashboard/browser
RECIPES := $(sort $(patsubst %/go.mod,%,$(wildcard docs/recipes/*/go.mod)))
CODE   := . $(NESTED)
ALL    := $(CODE) tools

# The modules with directives: those that have resilientgen for a tool. (Lines that look like directives are in the
# generator's own tests as well.)
GENERATED = $(shell grep -lE '^(tool)?[[:space:]]+github.com/seed42274fcc/stoic/cmd/resilientgen$$' \
	$(CODE:%=%/go.mod) | xargs -n 1 dirname)

BIN   := $(CURDIR)/.bin
GOFMT  = $(shell go env GOROOT)/bin/gofmt

V            ?=
ARGS         ?=
FUZZTIME     ?= 30s
TESTTIME     ?= 10m
NIGHTLY_FUZZ ?= 2m
NIGHTLY_RUNS ?= 10
RAPID_CHECKS ?= 10000

## Everyday

.PHONY: help
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^## / { printf "\n%s\n", substr($$0, 4) } \
		/^[a-z][a-z-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: test
test: check-format check-generate vet test-root test-nested lint not-run ## check everything: format, generated code, vet, tests (-race on the root), linters

.PHONY: demo
demo: ## run the example services (V=1 shows the logs; ARGS='-run 429' runs some)
	cd examples/services && go run . $(if $(V),-v) $(ARGS)

.PHONY: demo-agent
demo-agent: ## run the example agent, whose tool breaks (V=1 shows each round; ARGS='-redis URL')
	cd examples/agent && go run . $(if $(V),-v) $(ARGS)

.PHONY: bench
bench: redis ## measure this library side by side with its peers (ARGS=… is passed on)
	cd bench && go run . $(ARGS)
	cd bench/gen && go run .
	cd bench/fleet && go run .
	cd bench/sanitize && go run .

.PHONY: cover
cover: ## test the root module and write coverage.html
	go test -timeout $(TESTTIME) -coverpkg=./... -coverprofile=coverage.out ./...
	go tool cover -html=coverage.out -o coverage.html
	go tool cover -func=coverage.out | tail -n 1

.PHONY: generate
generate: ## write the wrappers of annotated interfaces anew, in every module that has them
	@for module in $(GENERATED); do echo "== go generate: $$module"; (cd $$module && go generate ./...); done

.PHONY: format
format: ## rewrite the Go files in gofmt's form
	@$(go-files) | xargs -0 $(GOFMT) -s -w

.PHONY: tidy
tidy: ## bring go.mod and go.sum of every module up to date
	@for module in $(ALL) $(RECIPES) $(BROWSER); do echo "== go mod tidy: $$module"; (cd $$module && GOFLAGS= go mod tidy); done

.PHONY: clean
clean: ## remove what the other targets made
	rm -rf $(BIN) coverage.out coverage.html

## The parts of make test

# Every Go file but test data, which may be wrong on purpose.
go-files = find . -name '*.go' -not -path '*/.*' -not -path '*/testdata/*' -not -path '*/node_modules/*' -print0

.PHONY: check-format
check-format: ## fail if a Go file is not in gofmt's form
	@echo "== gofmt"
	@unformatted=$$($(go-files) | xargs -0 $(GOFMT) -s -l); \
	if [[ -n $$unformatted ]]; then echo "not in gofmt's form (make format):"; echo "$$unformatted"; exit 1; fi

.PHONY: check-generate
check-generate: ## fail, with a diff, if generated code is out of date
	@modules="$(GENERATED)"; \
	if [[ -z $$modules ]]; then echo "no module with directives found"; exit 1; fi; \
	failed=; \
	for module in $$modules; do \
		echo "== resilientgen -check: $$module"; (cd $$module && go tool resilientgen -check ./...) || failed=1; \
	done; \
	if [[ -n $$failed ]]; then echo "generated code is out of date (make generate), or cannot be had"; exit 1; fi

.PHONY: check-tidy
check-tidy: ## fail if a go.mod or go.sum is not tidy
	@for module in $(ALL); do echo "== go mod tidy -diff: $$module"; (cd $$module && go mod tidy -diff); done

# What needs a redis-server fails where there is none if CI is set, and says so at the end elsewhere.
.PHONY: redis
redis: ## see that there is a redis-server, from the system's packages if need be (root, apt)
	@if command -v redis-server > /dev/null; then exit 0; fi; \
	if [[ $$(id -u) == 0 ]] && command -v apt-get > /dev/null; then \
		echo "== install redis-server"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends redis-server || true; \
	fi; \
	if ! command -v redis-server > /dev/null && [[ -n "$${CI:-}" || "$${STOIC_REDIS:-}" == required ]]; then \
		echo "there is no redis-server, and it cannot be installed" >&2; exit 1; \
	fi

# The same goes for the browser that the tests of the dashboard drive.
.PHONY: chromium
chromium: ## see that there is a Chromium, from the system's packages if need be (root, apt)
	@if command -v chromium > /dev/null; then exit 0; fi; \
	if [[ $$(id -u) == 0 ]] && command -v apt-get > /dev/null; then \
		echo "== install chromium"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium > /dev/null || true; \
	fi; \
	if ! command -v chromium > /dev/null; then echo "there is no chromium, and it cannot be installed" >&2; exit 1; fi

.PHONY: screenshot
screenshot: chromium ## take the picture of the dashboard in docs anew
	cd resilient/dashboard/browser && STOIC_BROWSER=required STOIC_SCREENSHOT=$(CURDIR)/docs/dashboard.png go test -count=1 -run '^TestOutage$$' ./...

.PHONY: not-run
not-run:
	@command -v promtool > /dev/null || echo "NOT RUN, for want of promtool: what the alerts do (make alerts)"
	@command -v redis-server > /dev/null || \
		echo "NOT RUN, for want of a redis-server: the tests of resilient/redisstore, examples/agent and cmd/resilientctl that need one, resilient/redisstore/chaos"

# The tests of make test leave vet out (-vet=off): it would go through all dependencies a second time.
.PHONY: vet
vet: ## go vet, in every module
	@for module in $(CODE); do echo "== go vet: $$module"; (cd $$module && go vet ./...); done

.PHONY: test-root
test-root: redis ## the library's tests under the race detector, fuzz seeds among them
	@echo "== go test -race: ."
	go test -race -vet=off -timeout $(TESTTIME) ./...
	go test -vet=off -tags stoicdebug -run Forgotten ./resilient

.PHONY: test-nested
test-nested: redis ## the tests of the nested modules
	@for module in $(NESTED); do echo "== go test: $$module"; (cd $$module && go test -vet=off -timeout $(TESTTIME) ./...); done

.PHONY: lint
lint: linters check-tidy ## staticcheck, errcheck and revive in every module, and tidy go.mod files
	@failed=; \
	for module in $(CODE); do \
		echo "== staticcheck: $$module"; (cd $$module && $(BIN)/staticcheck ./...) || failed=1; \
		echo "== errcheck: $$module"; (cd $$module && $(BIN)/errcheck -exclude $(CURDIR)/tools/errcheck.txt ./...) || failed=1; \
	done; \
	echo "== revive: the whole tree"; $(BIN)/revive -config tools/revive.toml -set_exit_status ./... || failed=1; \
	[[ -z $$failed ]]

# Not a file target: go install knows better than make does when a linter is out of date (another Go, another version).
.PHONY: linters
linters:
	@echo "== build the linters"
	@cd tools && GOBIN=$(BIN) go install tool

# The library's own analyzers, for the modules that their own test leaves out.
.PHONY: resilientvet
resilientvet:
	@go build -o $(BIN)/resilientvet ./cmd/resilientvet

## Longer

# Lists the fuzz targets as "package target" pairs; compiling every test is also how a broken one is noticed.
fuzz-targets = go test -list '^Fuzz' ./... | awk '/^Fuzz/ { names[++n] = $$1 } \
	/^(ok|\?)/ { for (i = 1; i <= n; i++) print $$2, names[i]; n = 0 }'

.PHONY: fuzz
fuzz: ## fuzz every target of the root module, FUZZTIME=30s each
	@targets=$$($(fuzz-targets)); \
	if [[ -z $$targets ]]; then echo "no fuzz target found"; exit 1; fi; \
	while read -r package target; do \
		echo "== fuzz: $$package $$target"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" < /dev/null; \
	done <<< "$$targets"

# The flag of rapid exists only in tests that import it.
rapid-packages = go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | awk '/pgregory.net\/rapid/ { print $$1 }'

.PHONY: test-repeated
test-repeated: ## the library's tests NIGHTLY_RUNS times, its property tests with RAPID_CHECKS cases
	go test -race -shuffle=on -count=$(NIGHTLY_RUNS) -timeout 60m ./...
	@packages=$$($(rapid-packages)); \
	if [[ -z $$packages ]]; then echo "no property test found"; exit 1; fi; \
	set -x; go test -timeout 60m $$packages -rapid.checks=$(RAPID_CHECKS)

.PHONY: corpus
corpus: linters ## wrap every exported interface of popular modules: compiled, or refused for a reason that is true
	cd gen/corpus && go mod tidy -diff && go generate ./... && go vet ./... && go test -timeout $(TESTTIME) ./...
	cd gen/corpus && $(BIN)/staticcheck ./... && $(BIN)/errcheck -exclude $(CURDIR)/tools/errcheck.txt ./...
	cd gen/corpus && go run .

.PHONY: browser
browser: chromium linters resilientvet ## the dashboard, driven in a headless Chromium
	cd $(BROWSER) && go mod tidy -diff && go vet ./... && STOIC_BROWSER=required go test -count=1 -timeout $(TESTTIME) -v ./...
	cd $(BROWSER) && $(BIN)/staticcheck ./... && $(BIN)/errcheck -exclude $(CURDIR)/tools/errcheck.txt ./...
	cd $(BROWSER) && go vet -vettool=$(BIN)/resilientvet ./...

.PHONY: recipes
recipes: linters resilientvet ## the recipes of docs/tools.md against the frameworks that they are for (minutes, and 3 GB, to compile)
	@if [[ -z "$(RECIPES)" ]]; then echo "no recipe found"; exit 1; fi; \
	for module in $(RECIPES); do \
		echo "== recipe: $$module"; \
		(cd $$module && go mod tidy -diff && go vet ./... && go test -timeout $(TESTTIME) ./... && $(BIN)/staticcheck ./... && \
			$(BIN)/errcheck -exclude $(CURDIR)/tools/errcheck.txt ./... && go vet -vettool=$(BIN)/resilientvet ./...); \
	done

.PHONY: vet-corpus
vet-corpus: ## resilientvet has nothing to say about popular modules that do not use the library
	go test -tags vetcorpus -run '^TestCorpus$$' -count=1 -timeout 30m -v ./cmd/resilientvet

.PHONY: chaos
chaos: redis ## the shared circuit at length: servers, processes and networks that fail, histories checked for linearizability
	cd resilient/redisstore/chaos && STOIC_NIGHTLY=1 go test -count=1 -timeout 60m -v ./...

.PHONY: alerts
alerts: ## the alerts and the board's queries against promtool, from the system's packages if need be (root, apt)
	@if ! command -v promtool > /dev/null && [[ $$(id -u) == 0 ]] && command -v apt-get > /dev/null; then \
		echo "== install prometheus, for promtool"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends prometheus; \
	fi
	cd integrations/otelguard && STOIC_PROMTOOL=required go test -count=1 -v -run 'Alerts|Board' .

.PHONY: sanitize
sanitize: ## the sanitizer at length: hostile passwords, random JSON, linear time, the string literals of popular modules
	go test -tags nightly -count=1 -timeout 60m -v -run 'Hostile|JSON|Idempotent|Linear|Literals|Rules' ./sanitize

.PHONY: mutation
mutation: ## change the circuit's rules and the delays in one place after another: each change must break a test
	go test -tags mutation -run '^TestEachChangeBreaksATest$$' -count=1 -timeout 180m -v ./internal/mutation

.PHONY: nightly
nightly: ## all of the above at length: hours rather than minutes
	$(MAKE) test
	$(MAKE) test-repeated
	$(MAKE) fuzz FUZZTIME=$(NIGHTLY_FUZZ)
	$(MAKE) chaos
	$(MAKE) demo
	$(MAKE) demo-agent
	$(MAKE) bench
	$(MAKE) corpus
	$(MAKE) recipes
	$(MAKE) browser
	$(MAKE) vet-corpus
	$(MAKE) sanitize
	$(MAKE) alerts
	$(MAKE) mutation
