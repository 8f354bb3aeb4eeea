/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/sideband_users.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/sideband_budget.h"

#define USERS 4096 /* processes that are remembered; a power of two */
#define BELIEVED_NS UINT64_C(5000000000)
#define ANCESTORS_MAX 16

struct known {
	uint32_t pid; /* 0: none */
	uint32_t uid;
	uint64_t read_ns;
};

struct sideband_users {
	struct known known[USERS];
};

struct sideband_users *
sideband_users_new(void)
{
	return calloc(1, sizeof(struct sideband_users));
}

void
sideband_users_free(struct sideband_users *u)
{
	free(u);
}

static struct known *
slot_of(struct sideband_users *u, uint32_t pid)
{
	return &u->known[pid % USERS];
}

static bool
read_uid(uint32_t pid, uint32_t *ret)
{
	char path[40], text[1024];
	const char *at;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%u/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	at = strstr(text, "\nUid:");
	if (at)
		*ret = (uint32_t)strtoul(at + 5, NULL, 10);
	return at != NULL;
}

static bool
find(struct sideband_users *u, uint32_t pid, uint64_t time_ns, uint32_t *ret)
{
	struct known *k = slot_of(u, pid);

	if (k->pid != pid || time_ns > k->read_ns + BELIEVED_NS) {
		if (!read_uid(pid, ret))
			return false;
		*k = (struct known){ .pid = pid, .uid = *ret, .read_ns = time_ns };
	}
	*ret = k->uid;
	return true;
}

uint32_t
sideband_users_of(struct sideband_users *u, const struct task_model *model, uint32_t pid,
		  uint64_t time_ns)
{
	uint32_t uid = SIDEBAND_USER_UNKNOWN, ancestor = pid;

	for (int i = 0; i < ANCESTORS_MAX && ancestor && ancestor != UINT32_MAX; i++) {
		if (find(u, ancestor, time_ns, &uid))
			break;
		ancestor = task_model_parent(model, ancestor);
	}
	/* Its other records need not look for the ancestor again. */
	if (ancestor != pid && uid != SIDEBAND_USER_UNKNOWN)
		*slot_of(u, pid) = (struct known){ .pid = pid, .uid = uid, .read_ns = time_ns };
	return uid;
}

void
sideband_users_fork(struct sideband_users *u, uint32_t parent, uint32_t pid)
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
