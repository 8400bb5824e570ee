# make help lists the targets.
GO      ?= go
TOOL     = $(GO) tool -modfile=tools/go.mod
VULNMOD  = golang.org/x/vulndb@v0.0.0-20261105234957-e22db6528018
FUZZTIME ?= 10s
FUZZED   ?= 2000x

.PHONY: help demo build check test race lint fmt vuln fuzz fuzzed adapters-table fakes-check bench

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: build ## play the main job without any key: real processes, a real store, a real crash
	./bin/homing demo --once

build: ## build bin/homing, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o bin/homing ./cmd/homing

check: lint race fuzzed vuln build ## everything that must hold before a change lands

test: ## all tests
	$(GO) test ./...

race: ## all tests under the race detector
	$(GO) test -race ./...

lint: ## formatting, vet and linters
	@test -z "$$($(TOOL) gofumpt -l .)" || { $(TOOL) gofumpt -l .; echo "run make fmt"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags faultpoint ./...
	cd bench && $(GO) vet ./...
	GOOS=darwin $(GO) vet ./internal/process
	$(TOOL) golangci-lint run ./...

fmt: ## format the code
	$(TOOL) gofumpt -w .

vuln: ## known vulnerabilities in what is linked, from a pinned copy of the database
	./tools/vuln.sh $(VULNMOD)

fuzz: ## every fuzz target for FUZZTIME each
	./tools/fuzz.sh $(FUZZTIME)

fuzzed: ## every fuzz target with FUZZED inputs each, as a part of check
	./tools/fuzz.sh $(FUZZED)

adapters-table: ## what each adapter was seen to do, written anew into docs/adapters.md
	ADAPTERTEST_UPDATE=1 $(GO) test -count=1 -run '^TestConformance$$' ./adapters/...
	ADAPTERTEST_UPDATE=1 $(GO) test -count=1 -run '^TestTable$$' ./adapters/adaptertest

fakes-check: ## the fake platforms against client libraries of others; needs node and npm
	./tools/fakes.sh

bench: build ## measure against the disk's limit and a peer; writes docs/performance.md
	./tools/bench.sh
