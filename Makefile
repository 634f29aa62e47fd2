.DEFAULT_GOAL := help
GO ?= go
# Versions of the linters; go run fetches and builds them, so nothing is installed.
GOLANGCI_LINT ?= github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT ?= github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
# npx fetches the compiler; only page-types needs Node.js.
TYPESCRIPT ?= typescript@7.0.2

FUZZTIME ?= 30s
# Go's own minute for each input that finds new code is spent on the first one, where inputs
# are long: it tries to leave out each part of them, which are as many as the square of the length.
FUZZMINIMIZE ?= 1s
RUNS ?= 1000
EXPLORETIME ?= 1h
HISTORIES ?= 10000
GATEBUDGET ?= 2m
# The module core, whose packages are named by their import paths: ./... ends at its go.mod.
# The packages in which goroutines meet: they run under the race detector. The mutants do
# not: a race in them is theirs, and the suites that catch them race over the sound ones.
CONCURRENT = $(filter-out %/conformance/mutants,$(shell $(GO) list ./bench/... ./conformance/... ./ctrlqueue ./impl/... ./internal/coretest/... ./load/... \
	$(CORE)/impl/... $(CORE)/indexer $(CORE)/informer/... $(CORE)/queue/... $(CORE)/synthetic))

.PHONY: help build test race degraded planted explore e2e your-store lint ci-lint gate-test page-types fuzz bench turns instruments verify mutants mechanical healthy faults report selfcheck results proofs

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build the benchrun command into ./benchrun
	$(GO) build -o benchrun ./cmd/benchrun

test: ## Run every test, also those of the module core
	$(GO) test ./...

race: ## Run the concurrent packages under the race detector
	$(GO) test -race $(CONCURRENT)

degraded: ## Run the tests of what can be built to take its rare paths all the time
	$(GO) test -tags degraded,invariants $(CORE)/impl/lockfree $(CORE)/queue/delay ./internal/coretest/...

EXPLORED = ./internal/coretest/stores $(CORE)/impl/lockfree $(CORE)/queue/deltafifo $(CORE)/queue/workqueue
INTERLEAVINGS = $(GO) test -count=1 -v -timeout=0 -run='^TestExploreInterleavings'

planted: ## Find the faults that the explorer must find, and print each with its program and schedule
	$(GO) vet -tags explore $(CORE)/explore ./conformance/linear ./conformance/mutants $(EXPLORED)
	$(GO) test -count=1 -tags explore $(CORE)/explore
	$(GO) test -count=1 -v -tags explore -run='^TestExplore' -skip=Interleavings ./conformance/linear ./conformance/mutants $(EXPLORED)
	$(GO) test -count=1 -v -tags explore,degraded -run='^TestExplorePlanted' ./internal/coretest/stores

explore: ## Explore interleavings for EXPLORETIME (1h)
	$(INTERLEAVINGS) -tags explore ./internal/coretest/stores -explore.time=$(EXPLORETIME) -explore.share=0.25
	$(INTERLEAVINGS) -tags explore,degraded ./internal/coretest/stores -explore.time=$(EXPLORETIME) -explore.share=0.35
	$(INTERLEAVINGS) -tags explore $(CORE)/impl/lockfree -explore.time=$(EXPLORETIME) -explore.share=0.1
	$(INTERLEAVINGS) -tags explore $(CORE)/queue/deltafifo -explore.time=$(EXPLORETIME) -explore.share=0.15
	$(INTERLEAVINGS) -tags explore $(CORE)/queue/workqueue -explore.time=$(EXPLORETIME) -explore.share=0.15

e2e: ## Run every test against a real API server, under the race detector (module e2e)
	cd e2e && $(GO) test -race -count=1 -v -timeout=60m .

your-store: ## Build and run an implementation from outside: its suite, go test -bench, its benchrun (module examples/your-store)
	cd examples/your-store && $(GO) vet ./... && $(GO) mod tidy -diff && $(GO) test -count=1 -timeout=10m ./...

lint: ## Run gofmt, go vet, staticcheck and golangci-lint
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt -w these"; exit 1; }
	for module in . core e2e examples/your-store; do \
		(cd $$module && $(GO) vet ./... && $(GO) mod tidy -diff && $(GO) run $(STATICCHECK) ./... && $(GO) run $(GOLANGCI_LINT) run ./...) || exit 1; \
	done

ci-lint: ## Check the workflows, the job in docs/ci.md and the scripts in ci and upstream (the last if shellcheck is installed)
	$(GO) run $(ACTIONLINT)
	awk '/^```yaml$$/ { job = 1; next } /^```$$/ { job = 0 } job' docs/ci.md | $(GO) run $(ACTIONLINT) -
	@if command -v shellcheck >/dev/null; then shellcheck ci/*.sh upstream/*.sh; else echo "skipped: shellcheck is not installed"; fi

gate-test: ## Run the gate on clones with a planted regression, without, and while every core is busy (some 20 minutes; GATEBUDGET=2m for each)
	$(GO) test -count=1 -v -timeout=0 -run='^TestGate$$' ./ci -gate.full -gate.budget=$(GATEBUDGET)

page-types: ## Check the types of the scripts in report.html (needs Node.js and npm's registry)
	npx --yes --package $(TYPESCRIPT) tsc --noEmit --allowJs --checkJs --strict --target es2023 --lib es2023,dom,dom.iterable report/*.js

fuzz: ## Run every fuzz target for FUZZTIME (30s)
	@for pkg in $$($(GO) list ./... $(CORE)/...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime $(FUZZMINIMIZE) $$pkg || exit 1; \
		done; \
	done

bench: ## Run go test -bench over the catalog and show it by implementation
	$(GO) test -run='^$$' -bench=. -count=6 ./bench | tee bench.out
	$(GO) tool benchstat -col /impl bench.out

# $(call processes,FOLDER,LIST,MODULE) runs each NAME:PACKAGE:TIME:BENCHMARKS of the list in six
# processes, since each has its own memory layout and hash seeds, into results/FOLDER/NAME.txt.
define processes
@mkdir -p results/$(1)
@commit=$$(git describe --always --dirty); for which in $(2); do \
	set -- $$(echo "$$which" | tr : ' '); \
	out=results/$(1)/$$1.txt; echo "$$out"; \
	echo "commit: $$commit" > $$out.new; \
	for process in 1 2 3 4 5 6; do \
		$(GO) -C $(3) test -count=1 -timeout=0 -run='^$$' -bench="$$4" -benchtime="$$3" "./$$2" || exit 1; \
	done >> $$out.new || exit 1; \
	mv $$out.new $$out; \
done
endef

turns: ## Compare store, queue, FIFO and lister with bare structures in turns, into results/in-turns (8 GB, 20 minutes)
	$(call processes,in-turns,store:impl/lockfree:1s:InTurns queue:queue/workqueue:5s:InTurns fifo:queue/deltafifo:5s:InTurns lister:informer:5s:InTurns,core)

instruments: ## Measure the test API server and the search for changes over many runs, into results/instruments (3 minutes)
	$(call processes,instruments,apiserver:load/apiserver:1s:. changes:measure/stats:1x:HowOften histories:history:1x:HowOften,.)

verify: ## Run the conformance suites over the catalog
	$(GO) run ./cmd/benchrun verify

mutants: ## Run the suites over the broken implementations that they must catch
	$(GO) run ./cmd/benchrun verify --mutants

mechanical: ## Judge mistakes made by rule by the suites, into docs/mechanical-mutants.md (PACKAGES="impl/dense" for some, FLAGS="-journal file" to go on after Ctrl-C)
	$(GO) run ./internal/mechanical/run $(FLAGS) $(PACKAGES)

healthy: ## Run every suite RUNS times (1000, some two hours) with new seeds: nothing may be accused (COMPONENTS=store,queue or IMPL=lockfree for some; Ctrl-C prints the table so far)
	$(GO) test -count=1 -v -timeout=0 -run='^TestNoHealthyImplementationIsAccused$$' ./catalog -healthy.runs=$(RUNS) -healthy.components=$(COMPONENTS) -healthy.impl=$(IMPL)

faults: ## Play HISTORIES random histories of faults (10000) over each informer
	$(GO) test -count=1 -v -timeout=0 -run='^TestNoFaultIsLost$$' ./catalog -faults.histories=$(HISTORIES)

report: ## Run the default preset and write a report under results/
	$(GO) run ./cmd/benchrun run

selfcheck: ## Show on this machine that verdicts hold, into docs/selfcheck.md (some 80 minutes)
	$(GO) build -o benchrun ./cmd/benchrun
	./benchrun selfcheck > selfcheck.out; code=$$?; ! grep -q '^The check came to its end' selfcheck.out || mv selfcheck.out docs/selfcheck.md || exit 2; exit $$code

results: ## Measure what changed of the presets that pages cite, into results/ (an hour for all; make results -n lists what changed)
	+@$(GO) run ./results $(if $(findstring n,$(firstword -$(MAKEFLAGS))),-n)

proofs: ## Keep what mutants, healthy, faults, planted and explore print at this commit in results/proofs (some five hours; RUNS, HISTORIES and EXPLORETIME shorten it)
	@mkdir -p results/proofs
	@commit=$$(git describe --always --dirty); for proof in mutants healthy faults planted explore; do \
		echo "$$proof: results/proofs/$$proof.txt"; \
		{ echo "make $$proof, commit $$commit, $$(date -u +%F), $$(nproc) processors, $$($(GO) env GOVERSION)"; \
			$(MAKE) --no-print-directory $$proof RUNS=$(RUNS) HISTORIES=$(HISTORIES) EXPLORETIME=$(EXPLORETIME) 2>&1; } > results/proofs/$$proof.txt || \
			{ tail -n 20 results/proofs/$$proof.txt; echo "$$proof failed: see results/proofs/$$proof.txt"; exit 1; }; \
	done
