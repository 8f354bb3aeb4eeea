# SPDX-License-Identifier: GPL-2.0-or-later
#
# The one Makefile. Sources are found by wildcard: adding a file needs no edit here.
#
#   make [V=1] [WERROR=1] [SAN=address,undefined] [CC=clang] [BUILD=dir]
#   make check [T=tests/read/x.t]   the fast tier of tests, or those named
#   make check CHANGED=1            what your change can have broken; CHANGED=main: since that revision
#   make check-full                 every test; check-rest: those that the fast tier leaves out
#   make check-unit [LAYER=format]  unit programs and fuzz seeds alone: no program, no recording
#   make fuzz [TIME=seconds]        each fuzz target in turn
#   make bench                      cost, size and reading, side by side with perf; ten minutes, as root
#
# `make check`, `make demo` and `make bench` install what is missing first (`make deps`).

VERSION	:= 0.1.0

BUILD	?= build
# A space ends a name for make: such a directory is built in through a link that has none.
ifneq ($(words $(BUILD)),1)
BUILD_DIR := $(BUILD)
override BUILD := build-$(firstword $(shell printf %s '$(BUILD_DIR)' | cksum)).link
$(if $(shell mkdir -p '$(BUILD_DIR)' && ln -sfn "$$(realpath '$(BUILD_DIR)')" $(BUILD) && echo y),,\
	$(error no link to the directory '$(BUILD_DIR)' can be made here: take a BUILD without a space))
endif
PREFIX	?= /usr/local
# As it stands at the beginning of names: without the slash at its end.
override PREFIX := $(patsubst %/,%,$(PREFIX))
$(if $(filter-out /%,$(PREFIX)),$(error PREFIX=$(PREFIX): not a name from the root on))
DESTDIR	?=
bindir	?= $(PREFIX)/bin
sbindir	?= $(PREFIX)/sbin
libexecdir ?= $(PREFIX)/libexec
datadir	?= $(PREFIX)/share
mandir	?= $(datadir)/man
# Where zsh looks: Debian keeps site-functions of /usr for the administrator.
zshdir	?= $(datadir)/zsh/$(if $(and $(filter /usr/share,$(datadir)),$(wildcard /etc/debian_version)),vendor-completions,site-functions)
PKG_CONFIG ?= pkg-config
# Everything goes below PREFIX, except that /usr has its configuration in /etc.
sysconfdir ?= $(if $(filter /usr,$(PREFIX)),/etc,$(PREFIX)/etc)
# Of /usr where systemd says that it looks; "make unitdir= ..." installs none.
unitdir	?= $(or $(if $(filter /usr,$(PREFIX)),$(shell $(PKG_CONFIG) --variable=systemdsystemunitdir systemd 2>/dev/null)),$(PREFIX)/lib/systemd/system)
sysusersdir ?= $(PREFIX)/lib/sysusers.d
tmpfilesdir ?= $(PREFIX)/lib/tmpfiles.d
TIME	?= 60

ifeq ($(origin CC),default)
CC	:= gcc
endif
ifeq ($(origin CXX),default)
CXX	:= g++
endif
CLANG	?= clang
CFLAGS	?= $(if $(SAN),-O1,-O2) -g
Q	:= $(if $(V),,@)
say	= $(if $(V),@:,@printf '  %-7s %s\n')

# --- flags ---------------------------------------------------------------------------------

UAPI	:= -I format/uapi -I recorder/uapi
STD	:= -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -iquote . $(UAPI)
WARN	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
	   -Wcast-qual -Wpointer-arith -Wformat=2 -Wvla -Wundef \
	   -Werror=implicit-function-declaration $(if $(WERROR),-Werror)
HARDEN	:= -fstack-protector-strong -fPIE -fno-omit-frame-pointer
FIRST	:= -include floor.h -include banned.h
# glibc warns of fortification without optimization; a compiler may have a level of its own.
OPTIMIZE = $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS) $(CPPFLAGS))))
FORTIFY	= $(if $(and $(OPTIMIZE),$(if $(findstring _FORTIFY_SOURCE,$(CFLAGS) $(CPPFLAGS)),,1)),\
	   -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all,$(FORTIFY))
LINK	:= -pie -Wl,-z,relro,-z,now -Wl,--as-needed -pthread $(if $(SAN),-fsanitize=$(SAN))
FUZZFLAGS := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all \
	   -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
FIXFLAGS := -O1 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls \
	   -D_GNU_SOURCE -pthread $(UAPI)

# pkg-config is asked when a recipe first needs the answer, so that `make deps` can install it.
lazy	= $(eval $(1) := $(shell $(PKG_CONFIG) $(2)))$($(1))
PKGS	:= libbsd libmd libzstd libelf libdw jansson zlib liblzma capstone
# HN_IEC_PREFIXES; ZSTD_CCtx_setParameter(), ZSTD_DCtx_reset()
NEEDED	:= 'libbsd >= 0.10' 'libzstd >= 1.4.0' libmd libelf libdw jansson zlib liblzma 'capstone >= 4'
PC_CFLAGS = $(call lazy,PC_CFLAGS,--cflags $(PKGS))
LIBS_format = $(call lazy,LIBS_format,--libs libbsd libmd libzstd)
LIBS_recorder = $(LIBS_format)
LIBS_symbolizer = $(LIBS_elf) -liberty -lm -ldl $(LIBS_format)
LIBS_daemon = $(LIBS_jansson) $(LIBS_format)
LIBS_jansson = $(call lazy,LIBS_jansson,--libs jansson)
LIBS_elf = $(call lazy,LIBS_elf,--libs libdw libelf jansson zlib liblzma capstone)
LIBS_cmocka = $(call lazy,LIBS_cmocka,--libs cmocka)
# Has its header what came with the limit? See symbolizer/resolve/demangle.c.
ENDLESS_RUST = $(eval ENDLESS_RUST := $(shell $(CC) $(CPPFLAGS) -E -include libiberty/demangle.h -x c /dev/null | \
	grep -q DEMANGLE_COMPONENT_MODULE_NAME; echo $$?))$(ENDLESS_RUST)

ALL_CFLAGS = $(STD) $(WARN) $(HARDEN) $(SANFLAGS) $(FIRST) $(PC_CFLAGS) $(CFLAGS) $(CPPFLAGS)
COMPILE = $(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(XFLAGS) -MMD -MP -c -o $@ $<
LDLINK	= $(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@

# --- what there is -------------------------------------------------------------------------

LAYERS	:= $(wildcard format recorder symbolizer daemon)
MAINS	:= daemon/spoord.c daemon/ctl/spoorctl.c symbolizer/cmd/spoor.c symbolizer/unwinder/spoor-unwind.c
src	= $(filter-out $(MAINS),$(wildcard $(1)/*/*.c))
objs	= $(patsubst %.c,$(BUILD)/%.o,$(call src,$(1)))
lib	= $(patsubst %,$(BUILD)/lib%.a,$(1))

PROGS	:= $(addprefix $(BUILD)/,$(basename $(notdir $(MAINS))))
ARCHIVES := $(foreach l,$(LAYERS),$(call lib,$(l)))

UNIT_SRC := $(wildcard tests/unit/$(or $(LAYER),*)/*/test_*.c)
UNIT	:= $(patsubst %.c,$(BUILD)/%,$(UNIT_SRC))
FIX_C	:= $(wildcard tests/fixtures/*.c)
FIX_CC	:= $(wildcard tests/fixtures/*.cc)
FIX_LIB	:= $(filter tests/fixtures/lib%,$(FIX_C) $(FIX_CC))
FIX_BIN	:= $(filter-out $(FIX_LIB),$(FIX_C) $(FIX_CC))
FIXTURES := $(patsubst %,$(BUILD)/%.so,$(basename $(FIX_LIB))) $(patsubst %,$(BUILD)/%,$(basename $(FIX_BIN)))
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
BENCH	:= $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/*.c))
REPLAYS	:= $(patsubst %.c,$(BUILD)/%.replay,$(FUZZ_SRC))
FUZZERS	:= $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ_SRC))
SHELL_T	:= $(foreach d,read record daemon host meta,$(wildcard tests/$(d)/*.t))
MAN	:= $(foreach s,1 5 7 8,$(wildcard docs/*.$(s)))
C_FILES	:= $(foreach d,$(addsuffix /*,$(LAYERS)) daemon format/uapi/linux recorder/uapi/linux tests/unit/*/* tests/* tests,\
	   $(wildcard $(d)/*.[ch] $(d)/*.cc)) floor.h banned.h

all: $(ARCHIVES) $(PROGS)

# --- objects, archives, programs -----------------------------------------------------------

# Every object depends on this file; it changes only when the flags do.
$(BUILD)/flags: FORCE
	@missing=; $(PKG_CONFIG) --exists $(NEEDED) || \
		for p in $(NEEDED); do $(PKG_CONFIG) --exists "$$p" || missing="$$missing, $$p"; done; \
	if ! echo | $(CC) -E - >/dev/null 2>&1; then missing="$$missing, a compiler ($(CC))"; \
	elif ! echo '#include <libiberty/demangle.h>' | $(CC) $(CPPFLAGS) $(CFLAGS) -E - >/dev/null 2>&1; then \
		missing="$$missing, libiberty/demangle.h"; fi; \
	[ -z "$$missing" ] || { echo "spoor: missing: $${missing#, }; \"make deps\" installs what there is" >&2; exit 1; }
	@mkdir -p $(@D); f='$(CC) $(CXX) $(CLANG) $(VERSION) $(ALL_CFLAGS) $(LINK) $(LDFLAGS) $(FUZZFLAGS) $(FIXFLAGS)'; \
	printf '%s\n' "$$f" | cmp -s - $@ || printf '%s\n' "$$f" >$@

$(BUILD)/symbolizer/cmd/%.o $(BUILD)/symbolizer/record/%.o $(BUILD)/symbolizer/unwinder/%.o $(BUILD)/daemon/%.o: XFLAGS = -DSPOOR_VERSION=\"$(VERSION)\"
$(BUILD)/recorder/unwind/unwind_process.o: XFLAGS = -DSPOOR_LIBEXECDIR='"$(libexecdir)"'
# It takes the interface's description in as it is.
$(BUILD)/daemon/control/varlink_idl.o $(BUILD)/fuzz/daemon/control/varlink_idl.o: docs/io.spoor.Recorder.varlink
# Likewise what pages are made of.
$(patsubst %,$(BUILD)%symbolizer/page/page_files.o,/ /work/ /fuzz/ /fuzz/work/): $(wildcard symbolizer/page/*.html symbolizer/page/*.css symbolizer/page/*.js)
$(BUILD)/symbolizer/resolve/demangle.o $(BUILD)/work/symbolizer/resolve/demangle.o: XFLAGS = -DDEMANGLE_ENDLESS_RUST=$(ENDLESS_RUST)
$(BUILD)/fuzz/symbolizer/resolve/demangle.o $(BUILD)/fuzz/work/symbolizer/resolve/demangle.o: FUZZ_XFLAGS = -DDEMANGLE_ENDLESS_RUST=$(ENDLESS_RUST)
$(BUILD)/fuzz/symbolizer/cmd/%.o $(BUILD)/fuzz/symbolizer/record/%.o $(BUILD)/fuzz/daemon/%.o: FUZZ_XFLAGS = -DSPOOR_VERSION=\"$(VERSION)\"
# Before cmocka 2 a range is unsigned and its name does not say so.
CMOCKA_FLAGS = $(call lazy,CMOCKA_FLAGS,--exists 'cmocka < 2' && echo -Dassert_uint_in_range=assert_in_range)
$(BUILD)/tests/%.o: XFLAGS = -Wno-unused-parameter $(CMOCKA_FLAGS)

$(BUILD)/%.o: %.c $(BUILD)/flags Makefile
	$(say) CC $<
	$(COMPILE)

# The directory is a prerequisite so that a removed source leaves the archive as well.
define archive
$(call lib,$(1)): $(call objs,$(1)) $(wildcard $(1)/. $(1)/*/.)
	$$(say) AR $$@
	$$(Q)mkdir -p $$(@D) && rm -f $$@ && $(AR) rcs $$@ $$(filter %.o,$$^)
endef
$(foreach l,format recorder symbolizer daemon,$(eval $(call archive,$(l))))

$(BUILD)/spoor: $(BUILD)/symbolizer/cmd/spoor.o $(call lib,symbolizer) $(call lib,recorder) $(call lib,format)
	$(say) LINK $@
	$(LDLINK) $^ $(LIBS_symbolizer)

$(BUILD)/spoor-unwind: $(BUILD)/symbolizer/unwinder/spoor-unwind.o $(call lib,symbolizer) $(call lib,format)
	$(say) LINK $@
	$(LDLINK) $^ $(LIBS_symbolizer)

$(BUILD)/spoord: $(BUILD)/daemon/spoord.o
$(BUILD)/spoorctl: $(BUILD)/daemon/ctl/spoorctl.o
$(BUILD)/spoord $(BUILD)/spoorctl: $(call lib,daemon) $(call lib,recorder) $(call lib,format)
	$(say) LINK $@
	$(LDLINK) $(filter %.o,$^) $(filter %.a,$^) $(LIBS_daemon)

# --- tests ---------------------------------------------------------------------------------

# A unit test links its own layer and what is below, and what it takes from the lab.
BELOW_format :=
BELOW_recorder := format
BELOW_symbolizer := format
BELOW_daemon := recorder format
define unit
$(filter $(BUILD)/tests/unit/$(1)/%,$(UNIT)): $(BUILD)/tests/unit/$(1)/%: $(BUILD)/tests/unit/$(1)/%.o \
		$(BUILD)/liblab.a $(call lib,$(1)) $(call lib,$(BELOW_$(1)))
	$$(say) LINK $$@
	$$(LDLINK) $$^ $$(BESIDE) $$(LIBS_cmocka) $$(LIBS_$(1)) -ldl
endef
$(foreach l,format recorder symbolizer daemon,$(eval $(call unit,$(l))))

# What asks living processes looks at them as the recorder does.
$(filter $(BUILD)/tests/unit/symbolizer/names/%,$(UNIT)): $(call lib,recorder)
$(filter $(BUILD)/tests/unit/symbolizer/names/%,$(UNIT)): private BESIDE = $(call lib,recorder format)

# It runs the program.
$(BUILD)/tests/unit/symbolizer/unwinder/test_spoor_unwind: | $(BUILD)/spoor-unwind

$(BUILD)/liblab.a: $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/lab/*.c)) tests/lab/.
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# Fixtures are what tests record. A comment "@build: FLAGS" in a fixture's source adds flags.
fixflags = $(FIXFLAGS) $$(sed -n 's,.*@build: *\(.*[^ ]\) *\*/.*,\1,p' $<)
fixcc	= $(if $(filter %.cc,$<),$(CXX) -std=gnu++17,$(CC) -std=gnu11) -MMD -MP -MF $@.d
define fixture
$(BUILD)/%.so: %.$(1) $(BUILD)/flags
	$$(say) FIXTURE $$@
	$$(Q)mkdir -p $$(@D) && $$(fixcc) -shared -fPIC -o $$@ $$< $$(fixflags)
$(BUILD)/tests/fixtures/%: tests/fixtures/%.$(1) $(BUILD)/flags
	$$(say) FIXTURE $$@
	$$(Q)mkdir -p $$(@D) && $$(fixcc) -o $$@ $$< $$(fixflags) -ldl -lm
endef
$(foreach x,c cc,$(eval $(call fixture,$(x))))

# What tests of reading read: each load of tests/loads/ is recorded once, with the options of its line "@record". Where
# that fails, the recording is empty, NAME.spoor.log tells why, and the next make tries again: it is older than all.
LOADS	:= $(patsubst %.sh,$(BUILD)/%.spoor,$(wildcard tests/loads/*.sh))
$(LOADS): $(BUILD)/%.spoor: %.sh $(wildcard tests/loads/*) $(BUILD)/spoor $(FIXTURES) $(BUILD)/tests/host
	$(say) RECORD $@
	$(Q)BUILD='$(BUILD)' tests/record_load.sh $< $@

# The user and the host that the recordings are of. A recording of another user may lack the kernel, or be unreadable. A
# recording of another kernel, compiler or Python has names that are no longer there.
$(BUILD)/tests/host: FORCE
	@mkdir -p $(@D); { id -u; cat /proc/sys/kernel/perf_event_paranoid /proc/sys/kernel/kptr_restrict \
		/proc/sys/kernel/random/boot_id; $(CXX) --version; /usr/bin/python3 --version; } >$@.new 2>&1; \
	cmp -s $@.new $@ || cp $@.new $@

# fuzz_growth counts the work of these: each basic block of theirs calls it. What asks or records live processes is none.
WORK	= $(foreach l,symbolizer format,$(patsubst %.c,$(1)/%.o,$(filter-out symbolizer/cmd/% symbolizer/names/% symbolizer/record/%,\
		$(call src,$(l)))))
COUNTED	:= -fsanitize-coverage=trace-pc
$(BUILD)/work/%.o: %.c $(BUILD)/flags Makefile
	$(say) CC $< "(counted)"
	$(COMPILE) $(COUNTED)
$(BUILD)/tests/fuzz/fuzz_growth.replay: $(BUILD)/%.replay: $(BUILD)/%.o $(BUILD)/tests/fuzz/replay.o $(call WORK,$(BUILD)/work) \
		$(BUILD)/tests/lab/record_sample.o
	$(say) LINK $@
	$(LDLINK) $^ $(LIBS_symbolizer)

$(filter-out %/fuzz_growth.replay,$(REPLAYS)): $(BUILD)/%.replay: $(BUILD)/%.o $(BUILD)/tests/fuzz/replay.o \
		$(BUILD)/liblab.a $(call lib,symbolizer) $(call lib,daemon) $(call lib,recorder) $(call lib,format)
	$(say) LINK $@
	$(LDLINK) $^ $(LIBS_symbolizer)

# What benchmarks run, and tests of much data are made with.
$(BENCH): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/liblab.a $(call lib,symbolizer) $(call lib,format)
	$(say) LINK $@
	$(LDLINK) $^ $(LIBS_symbolizer)

check check-full check-rest check-unit demo bench: deps
	+$(Q)$(MAKE) --no-print-directory run-$@

# The counted build and what else only the full tier needs is not built for the fast one.
GROWTH	:= $(BUILD)/tests/fuzz/fuzz_growth.replay
FAST_UNIT := $(UNIT) $(filter-out $(GROWTH),$(REPLAYS))
build-tests: all $(FAST_UNIT) $(FIXTURES) $(LOADS) $(BENCH)
build-tests-full: build-tests $(GROWTH)

# A test of the full tier alone has a line "# @full" at its top, " * @full" in a C file.
FULL_T	= $(shell grep -l '^\# @full' $(SHELL_T)) \
	  $(patsubst %.c,$(BUILD)/%,$(shell grep -l '^ \* @full' $(UNIT_SRC)))
FAST	= $(filter-out $(FULL_T),$(FAST_UNIT) $(SHELL_T))
REST	= $(GROWTH) $(FULL_T)
suite	= BUILD='$(BUILD)' CC='$(CC)' tests/suite.sh $(1) $(2)
run_tests = $(Q)$(suite)
# The budgets are those of programs without a sanitizer.
FAST_TIER = $(if $(SAN),full,fast)

T	?= $(FAST)
run-check: build-tests $(filter $(GROWTH),$(T))
ifdef CHANGED
	$(Q)chosen=$$(BUILD='$(BUILD)' tests/changed.sh '$(CHANGED)' $(FAST_UNIT)) && $(call suite,$(FAST_TIER),$$chosen)
else
	$(call run_tests,$(FAST_TIER),$(T))
endif
run-check-rest: build-tests-full
	$(call run_tests,full,$(REST))
run-check-full: build-tests-full
	$(call run_tests,full,$(FAST) $(REST))

# Each test N times on a busy machine; prints what failed. The budgets of the fast tier hold for a quiet one.
N	?= 20
check-luck: deps
	+$(Q)$(MAKE) --no-print-directory run-check-luck
run-check-luck: build-tests $(filter $(GROWTH),$(T))
	$(Q)BUILD='$(BUILD)' CC='$(CC)' tests/luck.sh $(N) $(T)

# fuzz_growth only counts basic blocks: a sanitizer does not change the count.
# test_spoor_unwind reads its own stack as the kernel does, which AddressSanitizer refuses.
UNIT_T	= $(filter-out $(if $(SAN),%/test_spoor_unwind),$(UNIT)) $(if $(LAYER),,$(filter-out $(if $(SAN),$(GROWTH)),$(REPLAYS)))
run-check-unit: $(UNIT_T)
	$(call run_tests,full,$(UNIT_T))

# Under ThreadSanitizer, the programs of what has threads, helpers or both. It needs the addresses where it expects
# them. Not test_session and test_sideband_budget: they wait for CPUs that go, and count for minutes.
THREADS	= $(filter-out %/test_session %/test_sideband_budget,$(foreach d,recorder/ground recorder/helper recorder/live \
	  recorder/session recorder/writer daemon,$(filter $(BUILD)/tests/unit/$(d)/%,$(UNIT))))
check-threads: deps
	+$(Q)setarch -R $(MAKE) --no-print-directory run-check-threads CC='$(CLANG)' SAN=thread
run-check-threads: $(THREADS)
	$(call run_tests,full,$(THREADS))

# Needs root: boots a container with what `make install` installs.
check-systemd: deps
	$(Q)CC='$(CC)' .ci/deps systemd
	+$(Q)$(MAKE) --no-print-directory run-check-systemd
run-check-systemd: build-tests $(BUILD)/spoord.service $(BUILD)/spoor-names.service
	$(Q)BUILD='$(BUILD)' CC='$(CC)' MAKE='$(MAKE)' prove --directives -e tests/run.sh $(wildcard tests/systemd/*.t)

# Needs root: in a tree of Debian 13, made first. Variables are passed on; tests/root.sh takes other releases.
check-debian13:
	$(Q).ci/deps root
	$(Q)tests/root.sh trixie make -j$$(nproc) check $(MAKEOVERRIDES)

# Needs root: what tests/builds.sh has, by the compilers of Debian 13.
check-builds:
	$(Q).ci/deps root
	$(Q)tests/root.sh trixie tests/builds.sh

check-long: check-full
	$(Q)set -e; for t in $(wildcard tests/long/*.t); do BUILD='$(BUILD)' TEST_TIMEOUT=7200 prove -e tests/run.sh $$t; done

run-demo: all
	$(Q)BUILD='$(BUILD)' CC='$(CC)' tests/demo.sh

# Those of README.md, anew.
pictures: all
	$(Q)BUILD='$(BUILD)' tests/pictures.sh

# Settings: tests/bench/bench.py --help, as BENCH_ARGS.
run-bench: all $(BENCH)
	$(Q)python3 tests/bench/bench.py --build '$(BUILD)' $(BENCH_ARGS)

# --- fuzzing (clang) -----------------------------------------------------------------------

fuzz_objs = $(patsubst %.c,$(BUILD)/fuzz/%.o,$(call src,$(1)))
FUZZ_OBJ := $(foreach l,symbolizer daemon recorder format,$(call fuzz_objs,$(l)))

$(BUILD)/fuzz/%.o: %.c $(BUILD)/flags
	$(say) CLANG $<
	$(Q)mkdir -p $(@D) && $(CLANG) $(STD) $(FIRST) $(PC_CFLAGS) $(FUZZFLAGS) $(FUZZ_XFLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(BUILD)/fuzz/libhouse.a: $(FUZZ_OBJ) $(wildcard $(addsuffix /.,$(LAYERS)) $(addsuffix /*/.,$(LAYERS)))
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# By another name than that of libFuzzer's own. Without the sanitizers, which the other targets have.
$(BUILD)/fuzz/work/%.o: %.c $(BUILD)/flags
	$(say) CLANG $< "(counted)"
	$(Q)mkdir -p $(@D) && $(CLANG) $(STD) $(FIRST) $(PC_CFLAGS) $(filter-out -fsanitize=%,$(FUZZFLAGS)) $(FUZZ_XFLAGS) \
		-fsanitize=fuzzer-no-link $(COUNTED) -MMD -MP -c -o $@ $<
	$(Q)objcopy --redefine-sym __sanitizer_cov_trace_pc=growth_trace_pc $@

$(BUILD)/fuzz/fuzz_growth: $(BUILD)/fuzz/%: $(BUILD)/fuzz/tests/fuzz/%.o $(call WORK,$(BUILD)/fuzz/work) \
		$(BUILD)/fuzz/tests/lab/record_sample.o
	$(say) LINK $@
	$(Q)$(CLANG) $(FUZZFLAGS) -fsanitize=fuzzer -pthread -o $@ $^ -Wl,--as-needed $(LIBS_symbolizer)

$(filter-out %/fuzz_growth,$(FUZZERS)): $(BUILD)/fuzz/%: $(BUILD)/fuzz/tests/fuzz/%.o $(BUILD)/fuzz/tests/lab/record_sample.o \
		$(BUILD)/fuzz/libhouse.a
	$(say) LINK $@
	$(Q)$(CLANG) $(FUZZFLAGS) -fsanitize=fuzzer -pthread -o $@ $^ -Wl,--as-needed $(LIBS_symbolizer)

build-fuzz: $(FUZZERS)

fuzz: build-fuzz
	$(Q)tests/fuzz/run.sh $(TIME) $(FUZZERS)

# --- the rest ------------------------------------------------------------------------------

deps:
	$(Q)CC='$(CC)' .ci/deps build check

check-layers: all
	$(Q)BUILD='$(BUILD)' tests/layers.sh .

check-headers:
	$(Q)CC='$(CC)' tests/headers.sh .

check-docs:
	$(Q)tests/docs.sh .
	$(Q)tests/doc_names.sh .
	$(Q)tests/perf_events.sh .

lint:
	$(Q)tests/lint.sh
	$(Q)tests/perf_events.sh .

format-check:
	$(Q)tests/format.sh --check $(C_FILES)

format:
	$(Q)tests/format.sh --write $(C_FILES)

shape:
	$(Q)tests/shape.sh $(C_FILES)

# Every file that is installed, as SOURCE:TARGET:MODE; uninstall removes the same.
INSTALLED = $(foreach p,spoor spoorctl,$(BUILD)/$(p):$(bindir)/$(p):755) $(BUILD)/spoord:$(sbindir)/spoord:755 \
	$(BUILD)/spoor-unwind:$(libexecdir)/spoor-unwind:755 \
	$(foreach m,$(MAN),$(m):$(mandir)/man$(subst .,,$(suffix $(m)))/$(notdir $(m)):644) \
	docs/io.spoor.Recorder.varlink:$(datadir)/spoor/io.spoor.Recorder.varlink:644 \
	$(foreach p,spoor spoorctl,completions/$(p).bash:$(datadir)/bash-completion/completions/$(p):644 \
		completions/_$(p):$(zshdir)/_$(p):644) \
	$(if $(unitdir),$(BUILD)/spoord.service:$(unitdir)/spoord.service:644 \
		systemd/spoord.socket:$(unitdir)/spoord.socket:644 \
		$(BUILD)/spoor-names.service:$(unitdir)/spoor-names.service:644 \
		systemd/spoor-names.timer:$(unitdir)/spoor-names.timer:644 \
		systemd/spoord.sysusers:$(sysusersdir)/spoor.conf:644 \
		systemd/spoord.tmpfiles:$(tmpfilesdir)/spoor.conf:644)
CONF	= '$(DESTDIR)$(sysconfdir)/spoor/spoord.conf'
# Where systemd looks for units: systemd.unit(5).
UNIT_PATH := /etc/systemd/system /usr/local/lib/systemd/system /usr/lib/systemd/system /lib/systemd/system

# Made anew each time: the PREFIX of an install need not be that of the build before it.
UNITS	:= $(patsubst systemd/%.in,$(BUILD)/%,$(wildcard systemd/*.service.in))
$(UNITS): $(BUILD)/%: systemd/%.in FORCE
	$(Q)mkdir -p $(@D) && sed 's,@bindir@,$(bindir),;s,@sbindir@,$(sbindir),;s,@config@,$(if $(filter /etc,$(sysconfdir)),, -c $(sysconfdir)/spoor/spoord.conf),' $< >$@

# The configuration is the administrator's: one that is there stays.
install: all $(UNITS)
	@set -e; for f in $(INSTALLED); do \
		IFS=:; set -- $$f; unset IFS; \
		install -D -m $$3 "$$1" '$(DESTDIR)'"$$2"; \
	done
	@test -e $(CONF) || install -D -m 644 systemd/spoord.conf $(CONF)
	@echo 'configuration: '$(CONF)
	$(if $(unitdir),@echo 'units: $(DESTDIR)$(unitdir)/spoord.service and .socket'$(if $(filter-out $(UNIT_PATH),$(unitdir)),'; systemd does not look there: systemctl link them and give systemd-sysusers $(sysusersdir)/spoor.conf and systemd-tmpfiles --create $(tmpfilesdir)/spoor.conf'))
	@test -n '$(DESTDIR)' -o '$(sysconfdir)' = /etc -o ! -e /etc/spoor/spoord.conf || \
		echo '/etc/spoor/spoord.conf: not the configuration of what was installed now'

# A changed configuration stays.
uninstall:
	rm -f $(foreach f,$(INSTALLED),'$(DESTDIR)$(word 2,$(subst :, ,$(f)))')
	@if cmp -s systemd/spoord.conf $(CONF); then rm -f $(CONF); fi
	@rmdir '$(DESTDIR)$(sysconfdir)/spoor' '$(DESTDIR)$(datadir)/spoor' 2>/dev/null || :
	$(if $(filter-out /usr /usr/local,$(PREFIX)),@$(own_directories))

# Of another PREFIX also directories that are empty now: install may have made them.
own_directories = cd '$(DESTDIR)$(PREFIX)' 2>/dev/null && \
	for d in $(sort $(patsubst $(PREFIX)/%,%,$(filter $(PREFIX)/%,\
			$(foreach f,$(INSTALLED),$(dir $(word 2,$(subst :, ,$(f))))) $(sysconfdir)/))); do \
		rmdir -p --ignore-fail-on-non-empty "$$d" 2>/dev/null || :; \
	done; cd / && rmdir '$(DESTDIR)$(PREFIX)' 2>/dev/null || :

clean:
	rm -rf $(if $(BUILD_DIR),'$(BUILD_DIR)') $(BUILD)

FORCE:
.PHONY: all check check-full check-rest demo bench pictures deps install uninstall clean build-tests build-tests-full run-check run-check-full run-check-rest check-luck run-check-luck check-threads run-check-threads run-demo run-bench check-unit run-check-unit check-systemd run-check-systemd \
	check-debian13 check-builds check-long fuzz build-fuzz \
	check-layers check-headers check-docs lint format-check format shape FORCE
.DELETE_ON_ERROR:
.SECONDARY:

DEPS	:= $(foreach d,$(addsuffix /*,$(LAYERS)) daemon tests/unit/*/* tests/*,\
	   $(wildcard $(BUILD)/$(d)/*.d $(BUILD)/work/$(d)/*.d $(BUILD)/fuzz/$(d)/*.d $(BUILD)/fuzz/work/$(d)/*.d))
-include $(DEPS)
