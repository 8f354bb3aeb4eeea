/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_process: the process that unwinds (spoor-unwind) as it is asked: started when it is needed, again a while later
 * when it has ended or stands still, and the memory that is shared with it.
 *
 * It belongs to one thread, and nothing waits for it.
 */
#ifndef RECORDER_UNWIND_UNWIND_PROCESS_H
#define RECORDER_UNWIND_UNWIND_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/unwind/unwind_ring.h"
#include "recorder/ground/news.h"

struct helper_end;
struct helper_pool;
struct unwind_process;

/* stacks_bytes: room for stacks. pool is borrowed. NULL: out of memory. */
struct unwind_process *unwind_process_new(struct helper_pool *pool, const char *machine,
					  size_t stacks_bytes);
void unwind_process_free(struct unwind_process *p);

/*
 * Is it there? It is started when it is time, and looked after. What was given to one that is gone has no answer:
 * *ret_again is set where another one has begun since the last call. *ret_file: the number of the file that one ended over;
 * 0: none.
 */
bool unwind_process_ready(struct unwind_process *p, uint64_t now_ns, bool *ret_again,
			  uint32_t *ret_file);
/* Ends it, and another one begins with the next call of unwind_process_ready(). */
void unwind_process_restart(struct unwind_process *p, uint64_t now_ns);
/* CPU time of all of them, in ns, as far as they have told. */
uint64_t unwind_process_used_ns(const struct unwind_process *p);
/* Of one that is ready. */
struct unwind_ring *unwind_process_ring(struct unwind_process *p);
/* Files come from this worker from now on, once that has its message. 0, -errno. */
int unwind_process_join(struct unwind_process *p, const struct helper_end *giver, int bytes);
/* There are entries. */
void unwind_process_knock(struct unwind_process *p);

/* There is no such program, or it refuses to work: for people, once. False: nothing to tell. */
bool unwind_process_news(struct unwind_process *p, struct news_line *ret);

#endif
