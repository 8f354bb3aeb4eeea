/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shunned: processes, users and devices whose files or memory kept a worker waiting, and which
 * are left alone for a while.
 *
 * A process that waits in exec for ever, or a file system that does not answer, costs a worker
 * each time it is touched. What one user can make without end (processes, mounts) is
 * shunned by user; what is root's, by process and by device alone.
 */
#ifndef RECORDER_HOST_SHUNNED_H
#define RECORDER_HOST_SHUNNED_H

#include <stdbool.h>
#include <stdint.h>

#define SHUNNED_MAX 64
/* A disk may only have been slow; who is met again soon after that is left alone for longer. */
#define SHUNNED_NS UINT64_C(60000000000)
#define SHUNNED_AGAIN_NS UINT64_C(600000000000)

enum shunned_kind { SHUNNED_NOBODY, SHUNNED_PROCESS, SHUNNED_USER, SHUNNED_DEVICE };

struct shunned_one {
	uint8_t kind;	   /* enum shunned_kind */
	uint64_t what;	   /* pid, uid, or device: major << 32 | minor */
	uint64_t until_ns; /* CLOCK_MONOTONIC */
};

/* Zeroed: nobody. */
struct shunned {
	struct shunned_one each[SHUNNED_MAX];
};

/* The one that ends first makes room. For how long it is shunned; 0: it is already. */
uint64_t shunned_add(struct shunned *s, enum shunned_kind kind, uint64_t what, uint64_t now_ns);
/* Who is shunned, or was, is so for SHUNNED_NS from now on at least. */
void shunned_renew(struct shunned *s, enum shunned_kind kind, uint64_t what, uint64_t now_ns);
bool shunned_has(const struct shunned *s, enum shunned_kind kind, uint64_t what, uint64_t now_ns);
/* Any of this kind? To ask for a process's user costs a read. */
bool shunned_any(const struct shunned *s, enum shunned_kind kind, uint64_t now_ns);

static inline uint64_t
shunned_device(uint32_t maj, uint32_t min)
{
	return (uint64_t)maj << 32 | min;
}

#endif
