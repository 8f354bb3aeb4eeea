/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_series: how much each service (process, function...) used, and when: the stacks of one event of
 * a profile with buckets of time, added up by what they are of and by columns of equal width.
 *
 * Of the heaviest rows the columns are kept, of the others their sum. Numbers only; printing is the
 * views'.
 */
#ifndef SYMBOLIZER_PROFILE_TIME_SERIES_H
#define SYMBOLIZER_PROFILE_TIME_SERIES_H

#include "symbolizer/profile/profile.h"

/* name of the key, title of the column, what a row is */
#define TIME_SERIES_KEYS(X)                                                                        \
	X(unit, "Unit", "service, or other unit of systemd")                                       \
	X(cgroup, "Cgroup", "control group")                                                       \
	X(comm, "Command", "command name")                                                         \
	X(pid, "Process", "process")                                                               \
	X(dso, "Shared Object", "file or region the code was in")                                  \
	X(sym, "Symbol", "function")                                                               \
	X(cpu, "CPU", "CPU that was sampled")

enum time_series_key {
#define X(name, title, what) TIME_SERIES_##name,
	TIME_SERIES_KEYS(X)
#undef X
		TIME_SERIES_KEYS_MAX,
	TIME_SERIES_ALL = TIME_SERIES_KEYS_MAX, /* one row */
};

/* "unit"; symbol is sym, and service is unit. TIME_SERIES_KEYS_MAX: it is none. */
enum time_series_key time_series_key_of(const char *name);
/* Of keys below TIME_SERIES_KEYS_MAX. */
const char *time_series_key_name(enum time_series_key key);
const char *time_series_key_title(enum time_series_key key);

/*
 * What a profile has to keep apart, besides by_time, for rows by key; and by command, if or_comm. The
 * filter is that of *ret: without it, and where it asks nothing of places, none is looked up.
 */
void time_series_profile_options(enum time_series_key key, bool or_comm,
				 struct profile_options *ret);

#define TIME_SERIES_CELLS_MAX (16u << 20) /* 256 MiB */

struct time_series_options {
	enum time_series_key key;
	int event;
	bool by_samples; /* rows are ordered by samples; else by period */
	/* The first column is the buckets from on, per many in each; nr columns. */
	uint64_t from, per, nr;
	size_t rows_max;
};

struct time_series_row {
	const char *name; /* the resolver's; of a process its command; NULL: unknown */
	uint32_t number;  /* of a process or CPU; of a symbol: 1 in the kernel */
	size_t members;	  /* rows that were added up; of a row of its own 1 */
	struct profile_weight weight;
	struct profile_weight *cells; /* by column */
};

struct time_series;

/* 0, -FMT_E_NOMEM, -FMT_E_TOO_BIG: more cells than TIME_SERIES_CELLS_MAX. */
int time_series_build(const struct profile *p, const struct time_series_options *o,
		      struct time_series **ret);
void time_series_free(struct time_series *s);

/* Heaviest first, then by name and number. */
size_t time_series_rows(const struct time_series *s);
const struct time_series_row *time_series_row_at(const struct time_series *s, size_t i);
/* Those that rows_max left out, as one; members 0: none were. */
const struct time_series_row *time_series_others(const struct time_series *s);
/* All as one. */
const struct time_series_row *time_series_all(const struct time_series *s);

#endif
