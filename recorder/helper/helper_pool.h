/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper_pool: the workers of a session, and those of all sessions that were left behind.
 *
 * Whoever does not answer in time is killed and left to itself, since it may be in a sleep that
 * no signal ends; what it was asked about is shunned for a while, and as long as it sleeps. A few may be left
 * so, of all sessions: then there are no new ones until one of them has ended. A pool belongs to
 * one thread.
 */
#ifndef RECORDER_HELPER_HELPER_POOL_H
#define RECORDER_HELPER_HELPER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/ground/news.h"
#include "recorder/helper/helper.h"
#include "recorder/host/shunned.h"

#define HELPER_ANSWER_NS UINT64_C(2000000000)	/* how long an answer may take */
#define HELPER_LATE_NS UINT64_C(100000000)	/* most take less than a thousandth of this */
#define HELPER_PATIENCE_NS UINT64_C(4000000000) /* with the answers of one user, each in time */
#define HELPER_STARVED_NS UINT64_C(30000000000) /* where the worker wants for a CPU */

struct helper_pool;

struct helper_pool *helper_pool_new(void); /* NULL: out of memory */
void helper_pool_free(struct helper_pool *p);

/*
 * A worker, which has been told whom to shun. 0; -EBUSY: too many are left behind; -errno, as helper_open(). What is refused
 * is told once, until one is had again.
 */
int helper_pool_open(struct helper_pool *p, const struct helper_work *work, struct helper **ret);

/* Tells it whom to shun since then, if that has changed. *version: 0 at first. 0, as helper_send(). */
int helper_pool_tell(struct helper *h, uint64_t *version);

/* Has it had time enough for an answer? heard_ns: when it last gave one, or was asked. */
bool helper_pool_overdue(const struct helper *h, uint64_t heard_ns, uint64_t now_ns);

/*
 * Leaves it behind (freed here). pid: of the process that it was asked about, shunned with its
 * user uid, which is TASK_USER_UNKNOWN for all of whom that is not known; device: of the file, as of
 * shunned_device(), 0: no file. what: for people, "its maps".
 */
void helper_pool_abandon(struct helper_pool *p, struct helper *h, pid_t pid, uint32_t uid,
			 uint64_t device, const char *what);

/*
 * A worker's answer about this process took so long (took_ns of helper_found and helper_part). True:
 * those that took HELPER_LATE_NS and more were HELPER_PATIENCE_NS for that user in a minute, and he is
 * shunned now; the caller asks another worker, which passes over what is left of him.
 */
bool helper_pool_late(struct helper_pool *p, pid_t pid, uint32_t uid, uint64_t took_ns,
		      const char *what);

/* How many questions have had no answer since the last call. */
uint64_t helper_pool_unanswered(struct helper_pool *p);

/* What there is to tell since the last call, one line a time. False: nothing. */
bool helper_pool_news(struct helper_pool *p, struct news_line *ret);

#endif
