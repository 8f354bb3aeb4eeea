/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_spaces: address spaces as the process that unwinds has them: the maps of code of a process, under a number.
 * Processes with the same maps share one.
 */
#ifndef RECORDER_UNWIND_UNWIND_SPACES_H
#define RECORDER_UNWIND_UNWIND_SPACES_H

#include "recorder/live/live.h"
#include "recorder/unwind/unwind_files.h"

struct unwind_spaces;

/* All are borrowed. NULL: out of memory. */
struct unwind_spaces *unwind_spaces_new(struct live *live, struct unwind_process *process,
					struct unwind_files *files);
void unwind_spaces_free(struct unwind_spaces *s);

/* Another process begins, which knows none of them. */
void unwind_spaces_begin(struct unwind_spaces *s);

/*
 * The space of a process at a time at which the model stands; it stays as it is until it is released as often as it was
 * held. *ret_asked: what unwind_files_answered() is when its files have an answer. 1; 0: the process has no maps;
 * -EAGAIN: there is no room now.
 */
int unwind_spaces_hold(struct unwind_spaces *s, uint32_t pid, uint64_t time_ns,
		       uint32_t *ret_number, uint64_t *ret_asked);
void unwind_spaces_release(struct unwind_spaces *s, uint32_t number);
/* The process has forgotten it: it is given again. */
void unwind_spaces_forgotten(struct unwind_spaces *s, uint32_t number);

#endif
