/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/descriptor_limit.h"

#include <dirent.h>
#include <stdatomic.h>
#include <sys/resource.h>

static _Atomic rlim_t soft_before; /* 0: it was not raised */

void
descriptor_limit_raise(void)
{
	struct rlimit l;
	rlim_t before = 0;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= l.rlim_max)
		return;
	(void)atomic_compare_exchange_strong(&soft_before, &before, l.rlim_cur);
	l.rlim_cur = l.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

void
descriptor_limit_restore(void)
{
	const rlim_t before = atomic_load(&soft_before);
	struct rlimit l;

	if (!before || getrlimit(RLIMIT_NOFILE, &l) < 0)
		return;
	l.rlim_cur = before;
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

/* Of this process; without /proc, those that every program has. */
static uint64_t
descriptors_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint64_t nr = 0;

	if (!dir)
		return 3;
	while (readdir(dir))
		nr++;
	(void)closedir(dir);
	return nr > 3 ? nr - 3 : 0; /* ".", ".." and its own */
}

uint64_t
descriptor_limit_free(uint64_t *ret_hard)
{
	uint64_t nr = descriptors_open();
	struct rlimit l;

	*ret_hard = UINT64_MAX;
	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_max == RLIM_INFINITY)
		return UINT64_MAX;
	*ret_hard = l.rlim_max;
	return l.rlim_max > nr ? l.rlim_max - nr : 0;
}
