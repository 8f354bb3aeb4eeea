/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/host_kallsyms.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <bsd/sys/queue.h>

#include "format/bytes/fmt_error.h"

struct shared {
	struct kallsyms *table;
	unsigned int users;
	LIST_ENTRY(shared) link;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, shared) tables = LIST_HEAD_INITIALIZER(tables); /* in use; under lock */

/* k, or the same that somebody has already. NULL: out of memory, and k is still the caller's. */
static const struct kallsyms *
share(struct kallsyms *k)
{
	struct shared *new = calloc(1, sizeof(*new)), *s;

	if (!new)
		return NULL;
	pthread_mutex_lock(&lock);
	LIST_FOREACH(s, &tables, link)
		if (kallsyms_same(s->table, k))
			break;
	if (!s) {
		s = new;
		s->table = k;
		LIST_INSERT_HEAD(&tables, s, link);
		new = NULL;
		k = NULL;
	}
	s->users++;
	pthread_mutex_unlock(&lock);
	free(new);
	kallsyms_free(k);
	return s->table;
}

int
host_kallsyms_load(const char *path, const struct host_modules *modules,
		   const struct kallsyms **ret)
{
	struct kallsyms *k;
	int r = kallsyms_open(path ? path : "/proc/kallsyms", modules ? modules->ranges : NULL,
			      modules ? modules->nr : 0, &k);

	if (r < 0)
		return r == -FMT_E_HIDDEN   ? -EPERM
			: r == -FMT_E_EMPTY ? -ENOENT
			: r == -FMT_E_NOMEM ? -ENOMEM
					    : -errno;
	*ret = share(k);
	if (*ret)
		return 0;
	kallsyms_free(k);
	return -ENOMEM;
}

void
host_kallsyms_release(const struct kallsyms *k)
{
	struct shared *s;

	if (!k)
		return;
	pthread_mutex_lock(&lock);
	LIST_FOREACH(s, &tables, link)
		if (s->table == k)
			break;
	if (s && --s->users == 0) {
		LIST_REMOVE(s, link);
		kallsyms_free(s->table);
		free(s);
	}
	pthread_mutex_unlock(&lock);
}
