/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_perf: options of perf record that change nothing in spoor record: those that are always so here or
 * needless are taken, others refused in words that say why and what to do instead.
 */
#ifndef SYMBOLIZER_RECORD_RECORD_PERF_H
#define SYMBOLIZER_RECORD_RECORD_PERF_H

#include <stdbool.h>

/*
 * X(id, letter or 0, name, argument, what is taken of it (see record_perf.c), help, why not else). First those
 * of which all, then those of which some, then those of which nothing is taken.
 */
#define RECORD_PERF_TABLE(X)                                                                       \
	X(ALL_CGROUPS, 0, "all-cgroups", NULL, ALL, "needless: always", "")                        \
	X(BPF_EVENT, 0, "bpf-event", NULL, ALL, "needless: always", "")                            \
	X(BUILDID_ALL, 0, "buildid-all", NULL, ALL, "needless: always", "")                        \
	X(BUILDID_MMAP, 0, "buildid-mmap", NULL, ALL,                                              \
	  "needless: always; --build-ids says by whom", "")                                        \
	X(NAMESPACES, 0, "namespaces", NULL, ALL, "needless: always", "")                          \
	X(NO_BPF_EVENT, 0, "no-bpf-event", NULL, ALL, "needless: they cost no thread", "")         \
	X(NO_BUILDID, 'B', "no-buildid", NULL, ALL, "needless: they cost no pass at the end", "")  \
	X(NO_BUILDID_CACHE, 'N', "no-buildid-cache", NULL, ALL, "needless: there is none", "")     \
	X(PERIOD, 'P', "period", NULL, ALL, "needless: always", "")                                \
	X(RUNNING_TIME, 0, "running-time", NULL, ALL, "needless: always", "")                      \
	X(SAMPLE_CPU, 0, "sample-cpu", NULL, ALL, "needless: always", "")                          \
	X(SAMPLE_IDENTIFIER, 0, "sample-identifier", NULL, ALL, "needless: always", "")            \
	X(TAIL_SYNTHESIZE, 0, "tail-synthesize", NULL, ALL,                                        \
	  "needless: names are kept current all the time", "")                                     \
	X(TIMESTAMP, 'T', "timestamp", NULL, ALL, "needless: always", "")                          \
	X(TIMESTAMP_BOUNDARY, 0, "timestamp-boundary", NULL, ALL, "needless: always", "")          \
	X(COMPRESSION_LEVEL, 'z', "compression-level", "[LEVEL]", LEVEL, "needless: always",       \
	  "a level from 1 to 22; it is always packed")                                             \
	X(MMAP_FLUSH, 0, "mmap-flush", "SIZE", SIZE, "needless: blocks have a size of their own",  \
	  "a size such as 64K")                                                                    \
	X(NUM_THREAD_SYNTHESIZE, 0, "num-thread-synthesize", "N", NUMBER,                          \
	  "needless: nothing waits for what /proc tells", "a number of threads")                   \
	X(PROC_MAP_TIMEOUT, 0, "proc-map-timeout", "MS", NUMBER,                                   \
	  "needless: nothing waits for what /proc tells", "milliseconds")                          \
	X(SYNTH, 0, "synth", "WHAT", WORD_ALL, "all: always; others are refused: says why",        \
	  "who runs, and what is mapped, is always recorded: without it samples have no names. "   \
	  "Only all is taken")                                                                     \
	X(AFFINITY, 0, "affinity", "HOW", NONE, "refused: says why",                               \
	  "not needed: one thread empties the rings of all CPUs, and sleeps meanwhile. "           \
	  "taskset(1) binds any program")                                                          \
	X(AIO, 0, "aio", "[N]", NONE, "refused: says why",                                         \
	  "not needed: writing is a thread of its own, which the rings do not wait for")           \
	X(AUX_SAMPLE, 0, "aux-sample", "[SIZE]", NONE, "refused: says why",                        \
	  "samples do not carry pieces of a trace: the event itself (intel_pt//) records the "     \
	  "trace, and with -S the end of it")                                                      \
	X(CLANG_OPT, 0, "clang-opt", "OPTIONS", NONE, "refused: says why",                         \
	  "spoor compiles and loads no BPF programs: uprobe:, kprobe: and tracepoints are "        \
	  "events by name")                                                                        \
	X(CLANG_PATH, 0, "clang-path", "PATH", NONE, "refused: says why",                          \
	  "spoor compiles and loads no BPF programs: uprobe:, kprobe: and tracepoints are "        \
	  "events by name")                                                                        \
	X(DEBUGINFOD, 0, "debuginfod", "[URLS]", NONE, "refused: says why",                        \
	  "recording asks no server: reading commands have --debuginfod, and ask those of "        \
	  "DEBUGINFOD_URLS")                                                                       \
	X(KCORE, 0, "kcore", NULL, NONE, "refused: says why",                                      \
	  "not copied: the recording has the kernel's names, and spoor annotate reads its code "   \
	  "from /proc/kcore or a vmlinux of the same build")                                       \
	X(LATENCY, 0, "latency", NULL, NONE, "refused: says why",                                  \
	  "reports do not weigh samples by how many threads ran beside them: --off-cpu records "   \
	  "where threads waited, --switch-events each switch")                                     \
	X(PFM_EVENTS, 0, "pfm-events", "EVENT", NONE, "refused: says why",                         \
	  "libpfm4's names are not known here: spoor list prints those of this machine, and "      \
	  "-e cpu/event=0x3c,umask=1/ takes numbers")                                              \
	X(REALTIME, 'r', "realtime", "PRIORITY", NONE, "refused: says why",                        \
	  "not needed: the rings are emptied in time by their size, and what is lost is told. "    \
	  "chrt(1) gives any program a priority")                                                  \
	X(SETUP_FILTER, 0, "setup-filter", "ACTION", NONE, "refused: says why",                    \
	  "spoor loads no BPF programs: --filter is of tracepoints, and reading commands choose "  \
	  "samples by what they are")                                                              \
	X(THREADS, 0, "threads", "[HOW]", NONE, "refused: says why",                               \
	  "not needed: one thread empties the rings of all CPUs, one more packs and writes")       \
	X(VMLINUX, 0, "vmlinux", "FILE", NONE, "refused: says why",                                \
	  "recording reads no vmlinux: reading commands have --vmlinux")

enum {
	RECORD_PERF = 0x500, /* first of those without a letter */
#define RECORD_PERF_ID(id, ...) RECORD_PERF_##id,
	RECORD_PERF_TABLE(RECORD_PERF_ID)
#undef RECORD_PERF_ID
};

/* Rows of a table of struct cli_option. */
#define RECORD_PERF_ROW(id, letter, name, arg, takes, help, why)                                   \
	{ (letter) ? (letter) : RECORD_PERF_##id, letter, name, arg, help },
#define RECORD_PERF_OPTIONS RECORD_PERF_TABLE(RECORD_PERF_ROW)

/* Is it one of them? Then *ret is CLI_GO_ON, or the status of a usage error, which was told. */
bool record_perf_set(int value, const char *text, int *ret);

#endif
