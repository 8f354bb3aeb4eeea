/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/task_users.h"

#include <stdbool.h>
#include <stdlib.h>

#include "format/bytes/time_text.h"
#include "recorder/host/host.h"
#include "recorder/host/proc_look.h"

#define USERS 4096 /* processes that are remembered; a power of two */
#define BELIEVED_NS UINT64_C(5000000000)
#define ANCESTORS_MAX 16
#define SPEND_NS UINT64_C(20000000) /* a second: before Linux 6.13 one answer may take as long */

struct known {
	uint32_t pid; /* 0: none */
	uint32_t uid;
	uint64_t read_ns;
};

struct task_users {
	struct known known[USERS];
	uint64_t second_ns, spent_ns; /* for asking, since then */
};

struct task_users *
task_users_new(void)
{
	return calloc(1, sizeof(struct task_users));
}

void
task_users_free(struct task_users *u)
{
	free(u);
}

static struct known *
slot_of(struct task_users *u, uint32_t pid)
{
	return &u->known[pid % USERS];
}

static bool
ask(struct task_users *u, uint32_t pid, uint32_t *ret)
{
	uint64_t now_ns = host_now_ns();
	bool found;

	if (now_ns - u->second_ns >= SECOND_NS) {
		u->second_ns = now_ns;
		u->spent_ns = 0;
	}
	if (u->spent_ns > SPEND_NS)
		return false;
	found = proc_look_owner((pid_t)pid, ret) == 0;
	u->spent_ns += host_now_ns() - now_ns;
	return found;
}

static bool
task_users_find(struct task_users *u, uint32_t pid, uint64_t time_ns, uint32_t *ret)
{
	struct known *k = slot_of(u, pid);

	if (k->pid != pid || time_ns > k->read_ns + BELIEVED_NS) {
		if (!ask(u, pid, ret))
			return false;
		*k = (struct known){ .pid = pid, .uid = *ret, .read_ns = time_ns };
	}
	*ret = k->uid;
	return true;
}

uint32_t
task_users_of(struct task_users *u, const struct task_model *model, uint32_t pid, uint64_t time_ns)
{
	uint32_t uid = TASK_USER_UNKNOWN, ancestor = pid;

	for (int i = 0; i < ANCESTORS_MAX && ancestor && ancestor != UINT32_MAX; i++) {
		if (task_users_find(u, ancestor, time_ns, &uid))
			break;
		ancestor = task_model_parent(model, ancestor);
	}
	/* Its other records need not look for the ancestor again. */
	if (ancestor != pid && uid != TASK_USER_UNKNOWN)
		*slot_of(u, pid) = (struct known){ .pid = pid, .uid = uid, .read_ns = time_ns };
	return uid;
}

void
task_users_fork(struct task_users *u, uint32_t parent, uint32_t pid)
{
	const struct known *from = slot_of(u, parent);
	struct known *to = slot_of(u, pid);

	if (pid == parent || !pid)
		return;
	if (from->pid == parent)
		*to = (struct known){ .pid = pid, .uid = from->uid, .read_ns = from->read_ns };
	else if (to->pid == pid)
		to->pid = 0;
}

void
task_users_exec(struct task_users *u, uint32_t pid)
{
	struct known *k = slot_of(u, pid);

	if (k->pid == pid && k->uid == 0)
		k->pid = 0;
}
