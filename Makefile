.DEFAULT_GOAL := help
GO ?= go
# Versions of the linters; go run fetches and builds them, so nothing is installed.
GOLANGCI_LINT ?= github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT ?= github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
# npx fetches the compiler of the check of report.html's scripts.
TYPESCRIPT ?= typescript@7.0.2

NEXT ?= v0.38.0-beta.0
FUZZTIME ?= 30s
RUNS ?= 1000
HISTORIES ?= 10000
EXPLORETIME ?= 1h
# The packages in which goroutines meet. Left out: the mutants, since a race in them is theirs and
# the suites that catch them race over the sound ones; bench and the catalog, which run the loops and
# the suites of the packages listed here; client-go's own tests in dropin; and what starts no
# goroutine: heaps and their suite, traces and workloads.
CONCURRENT = $(filter-out %/conformance/mutants %/bench %/bench/catalog %/dropin %/queue/delay \
	%/conformance/delaytest %/load %/load/presets, \
	$(shell $(GO) list ./bench/... \
	./conformance/... ./dropin/... ./impl/... ./informer/... ./load/... ./objects/... ./peers/... ./queue/...))

.PHONY: help build test race next lint bench verify fuzz results proofs e2e

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build the benchrun command into ./benchrun
	$(GO) build -o benchrun ./cmd/benchrun

test: ## Run every test
	$(GO) test ./...

race: ## Run the concurrent packages under the race detector, random histories a tenth as long
	$(GO) test -race -short $(CONCURRENT)

# In a copy with its own go.mod: tests start the go command, here and in modules of their own. The
# module proxy lacks structured-merge-diff v7.0.1, and k8s.io/ktesting, which tidy -e passes over:
# only client-go's own tests import it. A test that imports a package which today's client-go lacks
# waits in testdata, for go mod tidy reads files of every build tag.
next: export GOTOOLCHAIN = go1.27.3
next: ## Build and test with the next client-go, in a copy of the tree with the build tag next
	@copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT && cp -a . "$$copy" && cd "$$copy" && \
		mv informer/testdata/clientgo_next_test.go informer && \
		export GOFLAGS="$$($(GO) env GOFLAGS) -tags=next" && \
		$(GO) mod edit -go=1.27.0 -replace=sigs.k8s.io/structured-merge-diff/v7=sigs.k8s.io/structured-merge-diff/v7@v7.0.0 \
			$(foreach m,api apimachinery client-go,-require=k8s.io/$(m)@$(NEXT)) && \
		$(GO) mod tidy -e && $(GO) vet ./... && \
		$(GO) test -timeout=20m ./bench/catalog ./conformance/... ./dropin/... ./impl/... ./informer/... ./peers/... ./queue/...

lint: ## Run gofmt, go vet, the linters, and checks of workflows and scripts
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt -w these"; exit 1; }
	for module in . e2e examples/your-store examples/peer-stores; do \
		(cd $$module && $(GO) vet ./... && $(GO) mod tidy -diff && $(GO) run $(STATICCHECK) ./... && \
			$(GO) run $(GOLANGCI_LINT) run ./...) || exit 1; \
	done
	$(GO) run $(ACTIONLINT)
	@if command -v shellcheck >/dev/null; then shellcheck .ci/run ci/*.sh upstream/*.sh; else echo "skipped: shellcheck is not installed"; fi
	@if command -v npx >/dev/null; then npx --yes --package $(TYPESCRIPT) tsc --noEmit --allowJs --checkJs --strict \
		--target es2023 --lib es2023,dom,dom.iterable report/*.js; else echo "skipped: no Node.js"; fi

bench: ## Run go test -bench over the catalog and show it by implementation
	$(GO) test -run='^$$' -bench=. -count=6 ./bench | tee bench.out
	$(GO) tool benchstat -col /impl bench.out

verify: ## Run the suites over the catalog, and over the mutants they must catch
	$(GO) run ./cmd/benchrun verify
	$(GO) run ./cmd/benchrun verify --mutants

# One second bounds how long a new input is made smaller: Go's own minute would go on the first.
fuzz: ## Run every fuzz target for FUZZTIME (30s)
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$pkg || exit 1; \
		done; \
	done

e2e: ## Run the tests against a real API server, and of report.html in Chromium
	cd e2e && $(GO) test -race -count=1 -v -timeout=60m ./...

results: ## Measure what changed, into results/ (an hour; -n lists it, ONLY="stores" limits it)
	+@ONLY='$(ONLY)' $(GO) run ./results $(if $(findstring n,$(firstword -$(MAKEFLAGS))),-n)

# The explorer's planted faults are found, then schedules are explored for EXPLORETIME.
EXPLORED = ./impl/lockfree ./queue/deltafifo ./queue/workqueue
INTERLEAVED = $(GO) test -p 1 -count=1 -v -timeout=0

# go test runs all of it too, shortly: few histories, few seeds.
proofs: ## Run suites RUNS times, HISTORIES of faults, and the explorer (5 hours)
	$(INTERLEAVED) -tags explore -run='^TestExplore' -skip=Interleavings ./conformance/linear ./conformance/mutants $(EXPLORED)
	$(INTERLEAVED) -tags explore,degraded -run='^TestExplorePlantedFaults$$' ./impl/lockfree
	$(INTERLEAVED) -tags explore -run='^TestExploreInterleavings' $(EXPLORED) -explore.time=$(EXPLORETIME)
	$(INTERLEAVED) -tags explore,degraded -run='^TestExploreInterleavings$$' ./impl/lockfree -explore.time=$(EXPLORETIME)
ifneq ($(RUNS),0)
	$(GO) test -count=1 -v -timeout=0 -run='^TestGate$$' ./ci -gate.real
	$(GO) test -count=6 -v -timeout=0 -run='^TestNoSuiteHangs$$' ./conformance/mutants
	$(GO) test -count=20 -v -timeout=0 -run='^TestInterruptedAtAnyMoment$$' ./cmd/benchrun/benchcmd
	$(GO) test -count=1 -v -timeout=0 -run='^TestNoHealthyImplementationIsAccused$$' ./bench/catalog -healthy.runs=$(RUNS)
	$(GO) test -count=1 -v -timeout=0 -run='^TestNoFaultIsLost$$' ./bench/catalog -faults.histories=$(HISTORIES)
	$(GO) test -count=1 -v -timeout=0 -run='^TestLongHistories$$' ./bench/catalog -histories.effort=30
	$(GO) test -count=1 -v -timeout=0 -parallel=8 -run='^TestReadYourWrites$$' ./informer -ryw.rounds=$(RUNS)
endif
