/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_names: names of code that processes made at run time: those that the recording has (jit_kept),
 * and for one of this host and boot, where it has none, from the files that they left (jit_files). A
 * process's files are read when the first of its addresses is asked for. For one recording, one thread.
 */
#ifndef SYMBOLIZER_JIT_JIT_NAMES_H
#define SYMBOLIZER_JIT_JIT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/model/task_model.h"
#include "symbolizer/jit/jit_files.h"
#include "symbolizer/jit/jit_kept.h"

/* Of all processes together, of which each has a fair_part; each entry takes about 100 bytes. */
#define JIT_NAMES_ENTRIES_MAX (1u << 20)

struct jit_names;

struct jit_names_options {
	struct jit_kept *kept; /* owned from here on, also on failure; NULL: none */
	bool files;	       /* those of this host are the recording's, */
	bool doubtful;	       /* or may be another boot's */
	int64_t shift_ns;      /* what makes CLOCK_MONOTONIC of its times, about */
	bool timed; /* times are those of CLOCK_MONOTONIC; else a file's last name is taken */
};

struct jit_names *jit_names_new(const struct jit_names_options *options); /* NULL: out of memory */
void jit_names_free(struct jit_names *j);

/* A process mapped this: looked at where it is named jit-NUMBER.dump. 0, -FMT_E_NOMEM. */
int jit_names_map(struct jit_names *j, const struct perf_mmap *map);

struct jit_name {
	uint64_t start;
	const char *symbol; /* as the runtime wrote it; j's, as is dso */
	const char *dso;    /* "/tmp/perf-PID.map", whichever file it is from */
};

/* 1: *ret, 0: it has no name, -FMT_E_NOMEM. */
int jit_names_find(struct jit_names *j, const struct jit_process *process, uint64_t address,
		   uint64_t time_ns, struct jit_name *ret);

/* How code is unwound, by the jitdump that tells of it. */
struct jit_frames {
	const struct jit_table *table; /* with order it tells which code it is */
	uint32_t order;
	uint64_t start, size; /* of the code */
	struct span eh_frame; /* j's; where it lies: jitdump_frames */
};

/* Does it have any name of the process's code? 1, 0, -FMT_E_NOMEM. */
int jit_names_know(struct jit_names *j, const struct jit_process *process);

/* 1: *ret, 0: the address has none, -FMT_E_NOMEM. Those of files of this host alone. */
int jit_names_frames(struct jit_names *j, const struct jit_process *process, uint64_t address,
		     uint64_t time_ns, struct jit_frames *ret);

/* An address of the process may have another name at another time. */
bool jit_names_timed(const struct jit_names *j, uint32_t pid);

/* Entries that there was no room for. */
uint64_t jit_names_left_out(const struct jit_names *j);
/* Processes that have names from files which are doubtful. */
uint64_t jit_names_doubtful(const struct jit_names *j);
/* JIT blocks that were not read to their ends. */
uint64_t jit_names_bad_blocks(const struct jit_names *j);

#endif
