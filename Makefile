# SPDX-License-Identifier: Apache-2.0
# The front door: every target installs and builds what it needs. `make help` lists them.
BUILD ?= build/release
PRESET ?= release
JOBS ?= $(shell nproc)
# Extra arguments of ctest: make test TESTS='-L fast'
TESTS ?=
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

# Debian packages, each with its reason in docs/internals/dependencies.md: to build and test, and further ones for `make fmt lint fuzz`.
LISTED := s/^| `\([a-z0-9.+-]*\)` |.*/\1/p
PACKAGES := $(shell sed -n '/^## Tools/q; $(LISTED)' docs/internals/dependencies.md)
TOOL_PACKAGES := $(shell sed -n '1,/^## Tools/d; /^## Browser/q; $(LISTED)' docs/internals/dependencies.md)
BROWSER_PACKAGES := $(shell sed -n '1,/^## Browser/d; /^## Office/q; $(LISTED)' docs/internals/dependencies.md)
OFFICE_PACKAGES := $(shell sed -n '1,/^## Office/d; /^## Terminal/q; $(LISTED)' docs/internals/dependencies.md)
TERMINAL_PACKAGES := $(shell sed -n '1,/^## Terminal/d; /^## Frameworks/q; $(LISTED)' docs/internals/dependencies.md)
FRAMEWORK_PACKAGES := $(shell sed -n '1,/^## Frameworks/d; /^## Real models/q; $(LISTED)' docs/internals/dependencies.md)
REAL_PACKAGES := $(shell sed -n '1,/^## Real models/d; $(LISTED)' docs/internals/dependencies.md)
# Debian's npm conflicts with a Node.js from elsewhere, which has its own.
PACKAGES += $(if $(shell command -v npm),,npm)

.PHONY: help long asan tsan fuzz-smoke lint-slice deps tools browser office terminal frameworks real pictures clang-tidy tidy build toolchain demo test sums sizes plans bounds replay conformance-real conformance-random conformance-ttsim conformance-ttsim-random kill robust train bench fmt lint fuzz install wheel deb deb-test clean
.DEFAULT_GOAL := help

help:
	@echo "make demo     install, build, compile two models of digits, run them, show what they did"
	@echo "make test     install, build, run all tests           make test TESTS='-L fast'   the fast ones"
	@echo "make long     the tests that take minutes each        make long PART=models    those of one part (.ci/run --parts)"
	@echo "make toolchain  build the tools and plugins only"
	@echo "make build    build into $(BUILD)                 make deps    install the Debian packages"
	@echo "make bench    run the benchmarks                      make fmt     format the sources"
	@echo "make lint     clang-tidy, layering laws, headers     make install install to PREFIX (/usr/local)"
	@echo "make tidy     clang-tidy's quick checks on what differs from origin/main or the last commit"
	@echo "make conformance-real  judge real models by other implementations; MODELS='mlsd|silero'   these only"
	@echo "make conformance-random  judge 5,000 random graphs of integers, 5,000 at the borders of integers and 5,000 with NaN and infinities"
	@echo "make conformance-ttsim  OPENBUDA_TTSIM=FILE   examples whole on the vendor's simulator, compared with golden's bits"
	@echo "make conformance-ttsim-random  OPENBUDA_TTSIM=FILE   300 random ops (GENERATED=300 FIRST=0), whole, the same way"
	@echo "make replay   NETLISTS=FOLDER   the tables by which movers carry tiles, of all netlists there, replayed without a simulator"
	@echo "make kill     kill tools and runs with SIGKILL at random moments; KILLS=100   so often"
	@echo "make robust   hostile plugins, cut files, little memory, failing compiles, attacks on servers (some minutes)"
	@echo "make asan tsan fuzz-smoke lint-slice   parts of CI: the lowest modules with sanitizers and fuzzed, some sources checked"
	@echo "make wheel    the Python module for pip, in dist"
	@echo "make sums     sums of up to a million numbers of one sign, for both architectures (some minutes)"
	@echo "make sizes    softmax and products over 1 to 160 tiles, prime numbers next to others; SIZES=1:160"
	@echo "make plans    plans of random graphs that no later check may refuse; DRAWN=0:10000   first seed and count"
	@echo "make bounds   random plans on target grid against the lower bound for any plan; PLANS=50   so many"
	@echo "make train    transformers, random architectures and training modes learn as in PyTorch, and recomputation changes no bit; ARCHITECTURES=10   so many"
	@echo "make deb      Debian packages, in build/deb          make deb-test  install them in a bare system and use them"
	@echo "make fuzz     libFuzzer on every reader, with sanitizers; SECONDS_EACH=60, or RUNS=1000000"

# Asks dpkg first, so that nothing needs the network or rights where all is there already.
deps: WANTED = $(PACKAGES)
tools: WANTED = $(TOOL_PACKAGES)
clang-tidy: WANTED = clang-tidy
browser: WANTED = $(BROWSER_PACKAGES)
office: WANTED = $(OFFICE_PACKAGES)
terminal: WANTED = $(TERMINAL_PACKAGES)
frameworks: WANTED = $(FRAMEWORK_PACKAGES)
real: WANTED = $(REAL_PACKAGES)
deps tools browser office terminal frameworks real clang-tidy:
	@missing=$$(for p in $(WANTED); do dpkg-query -W -f='$${db:Status-Status}\n' $$p 2>/dev/null | grep -qx installed || echo $$p; done); \
	if [ -n "$$missing" ]; then \
	  echo "== installing Debian packages:" $$missing; \
	  $(SUDO) apt-get update -q && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends $$missing; \
	fi

$(BUILD)/build.ninja: | deps
	@echo "== configuring $(BUILD)"
	cmake --preset $(PRESET) -B $(BUILD)

build: deps $(BUILD)/build.ninja
	@echo "== building with $(JOBS) jobs"
	cmake --build $(BUILD) -j $(JOBS)

# The tools and plugins, without the tests.
toolchain: deps $(BUILD)/build.ninja
	@echo "== building the tools with $(JOBS) jobs"
	cmake --build $(BUILD) -j $(JOBS) --target toolchain

demo: toolchain
	@sh share/examples/digits/demo.sh $(BUILD)

# The pictures alone, of which the tests need one: the package with all that it depends on is ten times as large.
pictures: SKIMAGE = /usr/lib/python3/dist-packages/skimage/data
pictures:
	@[ -d $(SKIMAGE) ] || [ -d $(BUILD)/real/pictures$(SKIMAGE) ] || { \
	  mkdir -p $(BUILD)/real/pictures && cd $(BUILD)/real/pictures && \
	  { apt-get download -q python3-skimage || { $(SUDO) apt-get update -q && apt-get download -q python3-skimage; }; } && \
	  dpkg-deb -x python3-skimage_*.deb . && rm python3-skimage_*.deb; }

test: build browser office terminal frameworks pictures
	@echo "== testing"
	cd $(BUILD) && ctest --output-on-failure -j $(JOBS) $(TESTS)

# The tests that `make test` leaves out for their length; PART: those of one label, as CI takes turns with them.
PART ?=
long: build browser frameworks
	cd $(BUILD) && ctest -C Long --no-tests=error --output-on-failure -j $(JOBS) -L '^long\.$(PART)'

# Sums that a destination register of 16 bits would lose; a short form is in `make test`.
sums: toolchain
	/usr/bin/python3 tests/flow/sums.py $(BUILD) --long

# Softmax and products over sizes of every number of tiles, by the estimate; SIZES=1:160.
SIZES ?= 1:160
sizes: toolchain
	/usr/bin/python3 tests/flow/tile_sizes.py $(BUILD) --sizes $(SIZES)

# No plan is refused after it was chosen: random graphs over boards, policies and microbatches. The first seed, and how many.
DRAWN ?= 0:10000
plans: toolchain
	/usr/bin/python3 tests/flow/plans_hold.py $(BUILD) --plans $(DRAWN)

# Random plans on target grid against the lower bound for any plan; a short form is in `make test`.
PLANS ?= 50
bounds: toolchain
	/usr/bin/python3 tests/flow/lower_bounds.py $(BUILD) --plans 0:$(PLANS)

# Training next to PyTorch: transformers in default formats, and architectures drawn anew each time; a short form of both is in `make test`.
ARCHITECTURES ?= 10
train: toolchain
	/usr/bin/python3 tests/flow/train_transformers.py $(BUILD) --steps 50 --golden 200
	/usr/bin/python3 tests/flow/train_random.py $(BUILD) --count $(ARCHITECTURES) --golden 5
	/usr/bin/python3 tests/flow/train_modes.py $(BUILD) . --long
	/usr/bin/python3 tests/flow/train_recompute.py $(BUILD) . --long

# Killed tools leave no half images, killed runs no mixed reports; a short form is in `make test`.
KILLS ?= 100
kill: toolchain
	/usr/bin/python3 tests/robustness/kill.py $(OF_DIGITS) --kills $(KILLS)
	/usr/bin/python3 tests/robustness/kill_report.py $(OF_DIGITS) --kills $(KILLS)

# What robustness.*_small does little of in `make test`.
OF_DIGITS := --build $(BUILD) --model share/examples/digits/digits.onnx --inputs share/examples/digits/digits.images.npz
robust: toolchain
	cmake --build $(BUILD) -j $(JOBS) --target hostile_plugin unit_frontends
	/usr/bin/python3 tests/robustness/plugins/hostile.py --build $(BUILD)
	/usr/bin/python3 tests/robustness/truncated.py --build $(BUILD)
	/usr/bin/python3 tests/robustness/scarce.py $(OF_DIGITS)
	/usr/bin/python3 tests/robustness/servers.py $(OF_DIGITS)
	/usr/bin/python3 tests/robustness/failing_compiles.py $(BUILD) .

# Models of npm's packages against onnxruntime and TensorFlow Lite, into docs/conformance/real.md; with MODELS only those whose names match.
MODELS ?=
conformance-real: toolchain real
	@mkdir -p $(BUILD)/real
	cp tests/conformance/real/package.json tests/conformance/real/package-lock.json tests/conformance/real/.npmrc $(BUILD)/real
	cd $(BUILD)/real && { [ node_modules/.package-lock.json -nt $(CURDIR)/tests/conformance/real/package-lock.json ] || npm ci --ignore-scripts --loglevel=error; }
	/usr/bin/python3 -B tests/conformance/real/judge.py --build $(BUILD) --page docs/conformance/real.md --models '$(MODELS)'

# Random graphs against the reference evaluation, on golden and some of them on tensix (docs/conformance/random.md). All are run, then told.
RANDOM_GRAPHS := $(BUILD)/tests/random_conformance --jobs $(JOBS) --stats
conformance-random: toolchain
	cmake --build $(BUILD) -j $(JOBS) --target random_conformance
	@status=0; \
	$(RANDOM_GRAPHS) --suite integers --seeds 0:5000 || status=1; \
	$(RANDOM_GRAPHS) --suite borders --seeds 0:5000 || status=1; \
	$(RANDOM_GRAPHS) --suite special --seeds 0:5000 || status=1; \
	$(RANDOM_GRAPHS) --suite integers --seeds 0:500 --device n150 --target tensix --set cache=$(BUILD)/random-kernels || status=1; \
	exit $$status

replay: build
	@cd $(BUILD) && BUDA_SOURCE_DIR=$(CURDIR) BUDA_REPLAY=$(abspath $(NETLISTS)) tests/unit_movers --gtest_filter=Replay.TablesOfAFolderDoWhatStreamsWouldDo

# Needs a library of ttsim, which is not part of this tree (docs/plugins/ttsim.md). WHOLE_CHIP_MODELS=FOLDER adds models, each X.onnx with
# X.inputs.npz.
conformance-ttsim: toolchain
	@/usr/bin/python3 -B tests/conformance/kernels/whole_chip.py --build $(BUILD) --netlists share/examples/netlists \
	  --model share/examples/digits/digits.onnx=share/examples/digits/digits.images.npz \
	  --model share/examples/digits/digits-conv.onnx=share/examples/digits/digits-conv.images.npz \
	  $(if $(WHOLE_CHIP_MODELS),--models $(WHOLE_CHIP_MODELS) )--page docs/conformance/whole-chip.md; status=$$?; [ $$status = 77 ] || exit $$status

# Random ops, and the netlists of a folder, whole on ttsim. GENERATED=300   so many, from FIRST on
conformance-ttsim-random: toolchain
	@/usr/bin/python3 -B tests/conformance/kernels/matrix.py --build $(BUILD) --chip --library "$(OPENBUDA_TTSIM)" --first $(or $(FIRST),0) --cases $(or $(GENERATED),300); status=$$?; [ $$status = 77 ] || exit $$status

bench: build
	@for b in $(BUILD)/bench/*; do echo "== $$b"; $$b || exit 1; done

fmt: tools
	git ls-files '*.cpp' '*.hpp' '*.h' | xargs clang-format -i

# What a change touches, with the quick checks: a second or two for each source.
tidy: deps clang-tidy
	python3 tests/laws/tidy.py $(JOBS)

# In a build of its own, for a unity build has no compile command for a single source.
lint: deps tools
	python3 tests/laws/check.py .
	cmake --preset $(PRESET) -B build/lint -D BUDA_UNITY=OFF
	cmake --build build/lint --target buda_abi_headers
	python3 tests/package/headers.py c++ core build/lint/include
	git ls-files 'core/*.cpp' 'apps/*.cpp' 'plugins/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy -p build/lint --quiet

# Every reader for SECONDS_EACH seconds, or RUNS times; what is found stays in build/fuzz/found.
SECONDS_EACH ?= 60
RUNS ?=
fuzz: deps tools toolchain
	cmake --preset fuzz
	cmake --build build/fuzz -j $(JOBS) --target fuzz_readers
	sh tests/fuzz/run.sh build/fuzz $(BUILD) $(SECONDS_EACH) $(RUNS)

# Parts of CI (.ci/run --parts), each in a build of its own. With sanitizers the tests of the modules that all others stand on (BUDA_GROUND in
# core/CMakeLists.txt), of which tsan takes those with threads; their readers under a fuzzer; clang-tidy's quick checks on one slice of all
# sources after the other, SLICE=N the Nth.
asan: UNITS = base diag io schema cache tensor graph
tsan: UNITS = base io cache tensor graph
asan tsan: deps
	cmake --preset $@ -D CMAKE_CXX_COMPILER=clang++ > /dev/null
	cmake --build build/$@ -j $(JOBS) --target $(UNITS:%=unit_%)
	for unit in $(UNITS); do BUDA_SOURCE_DIR=$(CURDIR) build/$@/tests/unit_$$unit --gtest_brief=1 || exit 1; done

fuzz-smoke: deps
	cmake --preset fuzz > /dev/null
	cmake --build build/fuzz -j $(JOBS) --target fuzz_json fuzz_yaml fuzz_tensors fuzz_graph
	sh tests/fuzz/smoke.sh build/fuzz 5

SLICE ?= $(shell git rev-list --count HEAD)
lint-slice: deps clang-tidy
	python3 tests/laws/tidy.py $(JOBS) $(SLICE)

# The Python module with all that it needs, for pip: python3 -m venv --system-site-packages V; V/bin/pip install --no-index --no-deps dist/*.whl
wheel: toolchain
	@rm -rf $(BUILD)/wheel && cmake --install $(BUILD) --prefix $(BUILD)/wheel > /dev/null
	@/usr/bin/python3 -B apps/python/wheel.py $(BUILD)/wheel $(shell sed -n 's/^project.OpenBuda VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt) dist
	@rm -rf $(BUILD)/wheel

# openbuda, libopenbuda1, libopenbuda-dev and python3-openbuda, in build/deb.
deb: deps tools
	cmake --preset $(PRESET) -B build/deb -D BUDA_PACKAGES=ON -D BUDA_BUILD_TESTS=OFF -D CMAKE_INSTALL_PREFIX=/usr
	cmake --build build/deb -j $(JOBS) --target toolchain man_pages
	cd build/deb && cpack
	ls -l build/deb/*.deb

# Installs them in a bare system, and uses them there.
deb-test: deb
	sh tests/package/chroot.sh build/deb .

install: toolchain
	cmake --build $(BUILD) --target man_pages
	cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean:
	rm -rf build
