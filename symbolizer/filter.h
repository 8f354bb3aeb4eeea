/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter: which samples a reading command looks at: --comm --pid --tid --cpu --dso
 * --symbol --event --time. One parser and one meaning for all commands.
 */
#ifndef SYMBOLIZER_FILTER_H
#define SYMBOLIZER_FILTER_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

struct filter;

struct filter *filter_new(void);
void filter_free(struct filter *f);

/* long option names, for a command's getopt_long table */
#define FILTER_OPTIONS(X)                                                                          \
	X(comm, "NAMES", "only these command names (comma-separated)")                             \
	X(pid, "PIDS", "only these processes")                                                     \
	X(tid, "TIDS", "only these threads")                                                       \
	X(cpu, "CPUS", "only these CPUs, e.g. 0-3,7")                                              \
	X(dso, "NAMES", "only samples in these objects")                                           \
	X(symbol, "NAMES", "only samples in these symbols")                                        \
	X(event, "NAMES", "only these events")                                                     \
	X(time, "A,B", "only between A and B: seconds as dump prints them, or 10%-20%")

enum filter_option {
	FILTER_OPTION_FIRST = 0x1000,
#define X(name, arg, help) FILTER_OPTION_##name,
	FILTER_OPTIONS(X)
#undef X
		FILTER_OPTION_END
};

/*
 * Takes one option; given again it adds to the list. 0, or -1 with a message in *reterr
 * (static).
 */
int filter_set(struct filter *f, int option, const char *arg, const char **reterr);

/* Resolves percent times against the recording's first and last sample. */
void filter_range(struct filter *f, uint64_t first_ns, uint64_t last_ns);
bool filter_needs_range(const struct filter *f);
/* [from, until); 0 and UINT64_MAX when there is no --time. */
void filter_window(const struct filter *f, uint64_t *ret_from, uint64_t *ret_until);

/* Before symbols are looked up. */
bool filter_sample(const struct filter *f, const char *comm, uint32_t pid, uint32_t tid,
		   uint32_t cpu, const char *event);
/*
 * After: of the leaf frame; symbol NULL for unknown, which "[unknown]" asks for. An asked-for
 * object with a '/' in it is compared with the path, any other with the short name.
 */
bool filter_leaf(const struct filter *f, const char *dso, const char *dso_path, const char *symbol);

#endif
