/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_files: numbers of mapped files for the process that unwinds, which gets their descriptors.
 *
 * The worker that finds files (helper_files) passes them on by a socket between both. It answers in order, so that an
 * address space is known when all that was asked before it has an answer.
 */
#ifndef RECORDER_UNWIND_UNWIND_FILES_H
#define RECORDER_UNWIND_UNWIND_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/model/task_model.h"
#include "recorder/unwind/unwind_process.h"

struct unwind_files;

/* What is given is borrowed. NULL: out of memory. */
struct unwind_files *unwind_files_new(struct helper_pool *pool, struct unwind_process *process);
void unwind_files_free(struct unwind_files *f);

/*
 * Another process begins, which knows none of them. ended_over: the number of the file at which the last one ended (0:
 * none); at the second time it is not passed on again.
 */
void unwind_files_begin(struct unwind_files *f, uint32_t ended_over);

/*
 * The number of a map's file, which is asked for when it is new; 0: it has none, or there is no room. *ret_incomplete is
 * set where it is to be asked for again.
 */
struct unwind_mapper {
	uint32_t pid, uid; /* the process, and whose it is (TASK_USER_UNKNOWN) */
	uint64_t time_ns;  /* when it had the map */
	uint64_t version;  /* task_model_maps_version() then */
};
uint32_t unwind_files_number(struct unwind_files *f, const struct task_map *map,
			     const struct unwind_mapper *who, bool *ret_incomplete);

/* How many were asked for so far; and how many of them have an answer, or will have none. */
uint64_t unwind_files_asked(const struct unwind_files *f);
uint64_t unwind_files_answered(const struct unwind_files *f);

/* The process has a file no longer, which it was given as this number: it is asked for again where it is needed. */
void unwind_files_gone(struct unwind_files *f, uint32_t number);

/* Takes the answers. */
void unwind_files_take(struct unwind_files *f, uint64_t now_ns);
/* Polls readable when there is an answer; -1: none is to come. */
int unwind_files_fd(const struct unwind_files *f);
/* Changes, at most every five seconds, when files could not be had: another process may have them mapped. */
uint64_t unwind_files_unmet(const struct unwind_files *f);
/* There is no more room for other files: all that is known is to be forgotten, as for another process. */
bool unwind_files_full(const struct unwind_files *f);

#endif
