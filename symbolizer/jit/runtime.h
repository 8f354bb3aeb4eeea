/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime: which runtime makes code in a process, by the path of an object that it has mapped, and what has it tell
 * the names of that code: an option of its next start, or a question while it runs (`spoor names`).
 */
#ifndef SYMBOLIZER_JIT_RUNTIME_H
#define SYMBOLIZER_JIT_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

/* Of a major and a minor version; 0: not known, or none. */
#define RUNTIME_VERSION(major, minor) ((uint32_t)(major) << 16 | (uint32_t)(minor))

/*
 * key, name; its objects: patterns of file names, with '|' between them, in which '#' is a version and a last '*'
 * anything; words behind one of which the rest of the path has the version, where the file name has none; since which
 * version it takes the option, and which that is; since which version it can be asked while it runs (0: it cannot);
 * whether functions that it interprets have names then as well, as callers of the interpreter's own.
 *
 * A process with objects of several is of the first: Python in a JVM makes no code, and Java in Python does. OpenJ9 has a
 * libjvm.so as well, and does not have what is asked of HotSpot's.
 *
 * Sources: java: Compiler.perfmap and DumpPerfMapAtExit, which is a diagnostic option (JDK-8254723). openj9: its
 * manual, -XX:+PerfTool. dotnet: EnablePerfMap of the diagnostics protocol. erlang: BeamAsm. php: zend_jit.h,
 * ZEND_JIT_DEBUG_PERF. ruby: doc/yjit. luajit: lj_trace.c. python: perf_profiling of its manual; PEP 768.
 */
#define RUNTIMES(X)                                                                                \
	X(openj9, "OpenJ9", "libj9vm*", "", 0, "java -XX:+PerfTool", 0, false)                     \
	X(java, "Java", "libjvm.so", "/java-|/jdk-", RUNTIME_VERSION(17, 0),                       \
	  "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit", RUNTIME_VERSION(17, 0),    \
	  false)                                                                                   \
	X(dotnet, ".NET", "libcoreclr.so", "/Microsoft.NETCore.App/", 0,                           \
	  "DOTNET_PerfMapEnabled=1", RUNTIME_VERSION(8, 0), false)                                 \
	X(node, "Node.js", "node|nodejs|node-#|libnode.so*", "", 0, "node --perf-basic-prof", 0,   \
	  false)                                                                                   \
	X(erlang, "Erlang", "beam.smp", "", 0, "erl +JPperf true", 0, false)                       \
	X(julia, "Julia", "libjulia.so*|libjulia-internal.so*|libjulia-codegen.so*", "", 0,        \
	  "ENABLE_JITPROFILING=1", 0, false)                                                       \
	X(php, "PHP", "opcache.so|php|php#|php-fpm|php-fpm#|php-cgi|php-cgi#|libphp*", "",         \
	  RUNTIME_VERSION(8, 0), "php -d opcache.jit_debug=16", 0, false)                          \
	X(ruby, "Ruby", "ruby|ruby#|libruby.so.#*|libruby-#*", "", RUNTIME_VERSION(3, 3),          \
	  "ruby --yjit --yjit-perf", 0, false)                                                     \
	X(luajit, "LuaJIT", "luajit|luajit-#*|libluajit-5.1.so*", "", 0,                           \
	  "luajit built with XCFLAGS=-DLUAJIT_USE_PERFTOOLS", 0, false)                            \
	X(python, "Python", "python#*|libpython#*", "", RUNTIME_VERSION(3, 12), "python3 -X perf", \
	  RUNTIME_VERSION(3, 14), true)

enum runtime_kind {
	RUNTIME_none,
#define X(key, ...) RUNTIME_##key,
	RUNTIMES(X)
#undef X
		RUNTIME_KINDS
};

struct runtime {
	enum runtime_kind kind;
	uint32_t version; /* 0: the path does not tell */
};

/* Of an object that is mapped from this path, as the kernel gives it (" (deleted)" behind it is passed over). */
struct runtime runtime_of_path(const char *path);
/* Which of two tells more of a process that has objects of both. */
struct runtime runtime_prefer(struct runtime a, struct runtime b);

const char *runtime_key(enum runtime_kind kind);    /* "java"; "none" */
const char *runtime_name(enum runtime_kind kind);   /* "Java"; NULL of none */
const char *runtime_option(enum runtime_kind kind); /* NULL of none */
/* RUNTIME_VERSION(); 0: any. */
uint32_t runtime_option_since(enum runtime_kind kind);
/* Can it be asked while it runs, since which version? 0: it cannot. */
uint32_t runtime_asked_since(enum runtime_kind kind);

/* Do functions that it interprets have names as callers, where it tells names? */
bool runtime_names_callers(enum runtime_kind kind);

/* Is it, or may it be as far as its path tells, of this version or a later one? */
static inline bool
runtime_may_be(const struct runtime *r, uint32_t version)
{
	return r->version == 0 || r->version >= version;
}

#endif
