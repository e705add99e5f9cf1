# make test is what a change must pass; make demo shows what sluice is for.

GO      ?= go
RELEASE ?=
LINT     = $(shell $(GO) env GOPATH)/bin/golangci-lint

# Tests against servers wait more than they compute. The test cache does not see that
# they build sluice.
TESTFLAGS ?= -count=1 -timeout 40m -parallel 6
# What the race detector watches: everything with goroutines.
RACE      ?= . ./backend/... ./config/... ./proxy/... ./test/fault/...
FUZZTIME  ?= 30s
FUZZED    ?= ./...
ROUNDS    ?= 500

.PHONY: all build install test check lint unit race demo bench soak fuzz fuzz-short clean

all: build

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags="-s -w -X main.release=$(RELEASE)" -o bin/sluice .

install:
	@.ci/install

test: install check lint unit race fuzz-short

check:
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:" $$unformatted; exit 1; fi
	$(GO) vet ./...

lint:
	@.ci/install lint
	$(LINT) run ./...

unit:
	$(GO) test $(TESTFLAGS) ./...

race:
	$(GO) test -race $(TESTFLAGS) $(RACE)

demo:
	@test/demo/run

bench:
	@.ci/install
	@test/bench/run

# What takes longer than a change may wait: many more random kills, more bad clients,
# and streams of full size.
soak:
	@.ci/install
	SLUICE_CRASH_ROUNDS=$(ROUNDS) $(GO) test -count=1 -timeout 12h -v -run TestCrash ./test/fault/...
	SLUICE_LONG=yes $(GO) test -count=1 -timeout 1h -v -run 'TestConnectStorm|TestIdle|TestHalfLogins|TestGarbage|TestUnread|TestNoDescriptors' ./test/fault/...
	SLUICE_SIZES=all $(GO) test -count=1 -timeout 12h -v -run 'TestF0(47|49|51)' ./test/compat/...
	SLUICE_STREAM_MIB=2048 $(GO) test -count=1 -timeout 12h -v ./test/stream/...
	SLUICE_DRIVER_LARGEST=64M $(GO) test -count=1 -timeout 12h -v ./test/driver/...

# Every fuzz target in turn.
fuzz:
	@for package in $$($(GO) list $(FUZZED)); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

# What reads the network, for a few seconds: it has few packages to build for it.
fuzz-short:
	@$(MAKE) --no-print-directory fuzz FUZZED=./backend/wire FUZZTIME=4s

clean:
	rm -rf bin
