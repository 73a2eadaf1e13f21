# Targets are listed by `make help`. What a target needs beyond Go is installed by scripts/setup, which says so first.

VERSION ?= $(shell cat VERSION)
PREFIX ?= /usr/local
DESTDIR ?=
GO ?= go
GOTESTFLAGS ?=
BENCH ?= .

# A newer node than the system's, if scripts/setup had to get one.
export PATH := $(CURDIR)/.tools/bin:$(PATH)

.DEFAULT_GOAL := build

commands := $(notdir $(patsubst %/,%,$(wildcard cmd/vp-*/)))
tool := $(GO) tool -modfile=scripts/tools/go.mod
page := lib/report/web
shell_scripts := scripts/vperf scripts/setup .ci/run examples/check/check.sh $(wildcard lib/*/*/*.sh)

# packages 1: the packages whose tests may record with perf; 0: the others.
packages = $$($(GO) list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}} ' ./... | \
	awk '($$0 ~ / vperf\/lib\/perf\/perftest /) == $(1) { print $$1 }')

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' Makefile

# The go command knows what is up to date. No version control stamp: it fails in a checkout that another user owns.
.PHONY: build
build: ## the filters: bin/vp-* (the default)
	@mkdir -p bin
	$(GO) build -trimpath -buildvcs=false -ldflags '-X vperf/lib/tool.Version=$(VERSION)' -o bin/ ./cmd/...

.PHONY: examples
examples: ## workloads to profile: examples/bin
	$(MAKE) -C examples

.PHONY: demo
demo: ## build, profile an example, and leave a report to open
	scripts/setup demo
	$(MAKE) build examples
	scripts/vperf run --force -o demo -- examples/bin/threads
	@echo
	@echo "Open it in a browser:"
	@echo "    xdg-open .vperf/demo/report.html"

.PHONY: check
check: ## fast checks: vet, and the tests that record nothing
	$(GO) vet ./...
	$(GO) test $(GOTESTFLAGS) $(call packages,0)

# Tests that record run one after another: at the same time they would share the counters and the processors. What scripts/setup
# installs has to be there: without it a test fails that elsewhere is skipped.
.PHONY: test
test: export VPERF_TEST := full
test: ## all tests: examples, page (also in a browser), Go packages
	scripts/setup test
	$(MAKE) build
	$(MAKE) -C examples check
	cd $(page) && npm run --silent test
	cd $(page) && npm run --silent browser
	$(GO) test $(GOTESTFLAGS) $(call packages,0)
	$(GO) test -p 1 $(GOTESTFLAGS) $(call packages,1)

.PHONY: race
race: ## the tests that record nothing, under the race detector
	$(GO) test -race $(GOTESTFLAGS) $(call packages,0)

.PHONY: lint lint-setup lint-go lint-shell lint-page
lint: lint-go lint-shell lint-page ## formatting and linters: Go, shell, the page

lint-setup:
	scripts/setup lint

lint-go: lint-setup
	@unformatted=$$($(tool) gofumpt -l cmd lib scripts) && \
		{ [ -z "$$unformatted" ] || { echo "not formatted, run gofumpt -w on:"; echo "$$unformatted"; exit 1; }; }
	$(GO) vet ./...
	$(tool) staticcheck ./...
	@find cmd lib scripts -name node_modules -prune -o \( -name '*.go' -o -name '*.js' \) -exec wc -l {} + | \
		awk '$$1 > 500 && $$2 != "total" { print "note: " $$2 " has " $$1 " lines" }'

lint-shell: lint-setup
	shellcheck $(shell_scripts)
	shfmt -d $(shell_scripts)

lint-page: lint-setup
	cd $(page) && npm run --silent check

.PHONY: ci
ci: ## what continuous integration runs: lint, demo, race, test
	$(MAKE) lint
	$(MAKE) demo
	test -s .vperf/demo/report.html
	$(MAKE) race
	$(MAKE) test

.PHONY: bench
bench: ## benchmarks (BENCH=REGEXP selects those in Go), and what the page does at a million samples
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $$(grep -rl --include='*_test.go' '^func Benchmark' cmd lib scripts | xargs -n 1 dirname | sort -u | sed 's|^|./|')
	scripts/setup test
	$(MAKE) build
	cd $(page) && node --test browser/speed.test.js

bindir := $(DESTDIR)$(PREFIX)/bin
sharedir := $(DESTDIR)$(PREFIX)/share

# Builds only what is missing, so that `make && sudo make install` compiles nothing as root.
$(commands:%=bin/%) &:
	$(MAKE) build

.PHONY: install
install: $(commands:%=bin/%) ## install below PREFIX (/usr/local): commands, man pages, completion
	install -d '$(bindir)' '$(sharedir)/man/man1' '$(sharedir)/bash-completion/completions' \
		'$(sharedir)/zsh/site-functions' '$(sharedir)/fish/vendor_completions.d'
	install -m 755 $(commands:%=bin/%) scripts/vperf '$(bindir)'
	@set -e; for c in $(commands:%=bin/%) scripts/vperf; do \
		echo "$$c --man, --completion"; \
		$$c --man > '$(sharedir)/man/man1'/$${c#*/}.1; \
		$$c --completion bash > '$(sharedir)/bash-completion/completions'/$${c#*/}; \
		$$c --completion zsh > '$(sharedir)/zsh/site-functions'/_$${c#*/}; \
		$$c --completion fish > '$(sharedir)/fish/vendor_completions.d'/$${c#*/}.fish; \
	done

.PHONY: uninstall
uninstall: ## remove what install put there
	rm -f $(foreach c,vperf $(commands),'$(bindir)/$(c)')
	rm -f $(foreach c,vperf $(commands),'$(sharedir)/man/man1/$(c).1' '$(sharedir)/bash-completion/completions/$(c)' \
		'$(sharedir)/zsh/site-functions/_$(c)' '$(sharedir)/fish/vendor_completions.d/$(c).fish')

.PHONY: clean
clean: ## remove what was built, not the profiles
	rm -rf bin examples/bin
