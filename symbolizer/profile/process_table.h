/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_table: the processes that were sampled: what they are called, which runtime makes code in them, and how many
 * of their samples have no name, and why. Whoever reads a recording fills in the former by the model, whoever names its
 * samples the latter.
 */
#ifndef SYMBOLIZER_PROFILE_PROCESS_TABLE_H
#define SYMBOLIZER_PROFILE_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/slots.h"
#include "format/model/task_model.h"
#include "symbolizer/jit/runtime.h"
#include "symbolizer/object/resolve_miss.h"
#include "symbolizer/profile/task_comm.h"

/* In one table; each takes 150 bytes. Of more, samples are counted together, in no process. */
#define PROCESS_TABLE_MAX 65536
/* Maps that are looked at for runtimes, of all processes of a table together: a few seconds at most. */
#define PROCESS_TABLE_LOOKS_MAX (16u << 20)

struct sampled_process {
	uint32_t pid;
	char comm[TASK_COMM_BYTES]; /* of its first thread, as of its last sample; not escaped */
	bool known;		    /* it was among the model's tasks */
	bool ended;		    /* before the recording did */
	struct runtime runtime; /* of what it has mapped; looked for where code without a name ran */
	uint32_t looked;	/* how often that was */
	bool named;		/* some of the code that it made has names */
	uint64_t samples;	/* all of it that were chosen */
	/* Those of them that were taken outside of the kernel and have no name, by reason. */
	uint64_t missing[RESOLVE_MISSES];
	/* Of the others those in an interpreter, whose callers its runtime could name (runtime_names_callers()). */
	uint64_t interpreted;
};

struct process_table {
	struct sampled_process *v;
	size_t nr, cap;
	struct slots slots;	   /* by pid */
	uint64_t looks;		   /* maps that were looked at */
	uint64_t left_out_samples; /* of processes that there was no room for */
};

/* All zero is an empty one. */
void process_table_done(struct process_table *t);

/* The process of a pid, new or known; *ret NULL: there is no room. Good until the next call. 0, -FMT_E_NOMEM. */
int process_table_keep(struct process_table *t, uint32_t pid, struct sampled_process **ret);
/* The process of a pid; NULL. */
struct sampled_process *process_table_find(const struct process_table *t, uint32_t pid);

/* Takes what it is called now. 0, -FMT_E_NOMEM. */
int process_table_see(struct process_table *t, const struct task_model *model, uint32_t pid);
/* It ran code in memory without a file, which has no name: looks for a runtime in its maps. 0, -FMT_E_NOMEM. */
int process_table_made_code(struct process_table *t, const struct task_model *model, uint32_t pid);
/*
 * It ran code of an interpreter, mapped from path. True: the caller finds out whether any of that process's code has
 * names, and says so with process_table_named(); false: that is known, or was asked not long ago.
 */
bool process_table_interprets(struct process_table *t, uint32_t pid, const char *path);
void process_table_named(struct process_table *t, uint32_t pid);
/* At the end of the recording: which of them have ended? */
void process_table_end(struct process_table *t, const struct task_model *model);

/*
 * Counts samples of one; miss RESOLVE_OK: they have a name, or are the kernel's; interpreted: they are in an interpreter.
 * 0, -FMT_E_NOMEM.
 */
int process_table_count(struct process_table *t, uint32_t pid, enum resolve_miss miss,
			bool interpreted, uint64_t samples);
/* What another table, which counted nothing, knows of the processes of this one. */
void process_table_learn(struct process_table *t, const struct process_table *from);

/* Samples of a process that have no name, whatever the reason. */
uint64_t sampled_process_missing(const struct sampled_process *p);
/* Samples in its interpreter without names of what that interprets: 0 where some are known. */
uint64_t sampled_process_interpreted(const struct sampled_process *p);
/* Samples of which its runtime has the names: the latter, and those of code made at run time. */
uint64_t sampled_process_runtime(const struct sampled_process *p);
/* Samples of which anything has names that are not here: those that have none, and those in its interpreter. */
uint64_t sampled_process_all(const struct sampled_process *p);

/*
 * Those of which number is not 0, by it, descending. *ret is the caller's to free; the processes are the table's. 0,
 * -FMT_E_NOMEM.
 */
typedef uint64_t sampled_process_fn(const struct sampled_process *p);
int process_table_sorted(const struct process_table *t, sampled_process_fn *number,
			 const struct sampled_process ***ret, size_t *ret_nr);

#endif
