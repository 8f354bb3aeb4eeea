/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export: the forms that `spoor export` writes. A form is a row here and a function in a file of
 * its own.
 */
#ifndef SYMBOLIZER_VIEW_EXPORT_H
#define SYMBOLIZER_VIEW_EXPORT_H

#include <stdbool.h>

#include "symbolizer/load/load.h"

/* Options that are not for every form. Name in code, long name, argument, help. */
#define EXPORT_OPTIONS(X)                                                                          \
	X(weight, "weight", "WHAT", "counts are samples (default) or period")                      \
	X(labels, "labels", "LIST",                                                                \
	  "keep apart what of comm, pid, tid, cpu and cgroup is in LIST")                          \
	X(annotate_kernel, "annotate-kernel", NULL, "mark kernel functions with _[k]")             \
	X(max_size, "max-size", "SIZE",                                                            \
	  "leave out what would make the output larger than SIZE, and say what")                   \
	X(write_kallsyms, "write-kallsyms", "FILE",                                                \
	  "kernel symbols to a file of their own, for perf report --kallsyms")

enum export_option {
#define X(id, name, arg, help) EXPORT_##id,
	EXPORT_OPTIONS(X)
#undef X
		EXPORT_OPTIONS_MAX
};

/* Name of its export_NAME(), and then struct export_form. */
#define EXPORT_FORMS(X)                                                                            \
	X(folded, "folded", true, NULL,                                                            \
	  1u << EXPORT_weight | 1u << EXPORT_annotate_kernel | 1u << EXPORT_max_size)              \
	X(pprof, "pprof", true, NULL, 1u << EXPORT_labels | 1u << EXPORT_max_size)                 \
	X(speedscope, "speedscope", true, NULL,                                                    \
	  1u << EXPORT_weight | 1u << EXPORT_labels | 1u << EXPORT_max_size)                       \
	X(callgrind, "callgrind", true, NULL, 1u << EXPORT_weight | 1u << EXPORT_max_size)         \
	X(firefox, "firefox", true, NULL, 1u << EXPORT_weight | 1u << EXPORT_max_size)             \
	X(otlp, "otlp", true, NULL,                                                                \
	  1u << EXPORT_weight | 1u << EXPORT_labels | 1u << EXPORT_max_size)                       \
	X(perf_script, "perf-script", true, NULL, 1u << EXPORT_max_size)                           \
	X(json, "json", true, NULL, 1u << EXPORT_max_size)                                         \
	X(csv, "csv", true, NULL, 1u << EXPORT_max_size)                                           \
	X(perf_data, "perf-data", false, NULL, 1u << EXPORT_write_kallsyms)                        \
	X(perf_data_file, "perf-data-file", false, NULL, 1u << EXPORT_write_kallsyms)

struct export_request {
	struct load_options load;
	const char *output;		       /* NULL: standard output */
	const char *given[EXPORT_OPTIONS_MAX]; /* text, or "" of a flag; NULL: not given */
};

struct export_form {
	const char *name;     /* of -f */
	bool names;	      /* names are looked up; false: records are written as they are */
	const char *output;   /* where to without -o; NULL: standard output */
	unsigned int options; /* by 1 << enum export_option: those that it takes */
	int (*run)(const struct export_request *rq); /* the exit status, after a message if not 0 */
};

#define X(id, ...) int export_##id(const struct export_request *rq);
EXPORT_FORMS(X)
#undef X

#endif
