/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/helper/helper_rights.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAPABILITIES 64

struct sets {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[2];
};

static int
sets_read(struct sets *s)
{
	s->header = (struct __user_cap_header_struct){ .version = _LINUX_CAPABILITY_VERSION_3 };
	return syscall(SYS_capget, &s->header, s->data) < 0 ? -errno : 0;
}

static uint64_t
permitted(const struct sets *s)
{
	return (uint64_t)s->data[1].permitted << 32 | s->data[0].permitted;
}

/* Of those that are had. */
static uint64_t
needed(uint64_t wanted, uint64_t had)
{
	const uint64_t both = wanted & had;
	uint64_t spare = 0;

	if (both & HELPER_RIGHT(CAP_SYS_PTRACE))
		spare |= HELPER_RIGHT(CAP_PERFMON);
	if (both & HELPER_RIGHT(CAP_CHECKPOINT_RESTORE))
		spare |= HELPER_RIGHT(CAP_SYS_ADMIN);
	return both & ~spare;
}

static bool
has(uint64_t set, unsigned int capability)
{
	return set >> capability & 1;
}

/* 0, -errno. Before Linux 4.3 there are none. */
static int
clear_ambient(void)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 || errno == EINVAL)
		return 0;
	return -errno;
}

int
helper_rights_shed(uint64_t wanted)
{
	struct sets s;
	uint64_t keep;
	int r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : sets_read(&s);

	if (r < 0)
		return r;
	keep = needed(wanted, permitted(&s));
	/* Root alone may. What is not in it is not had after an exec either. */
	for (unsigned int i = 0; i < CAPABILITIES; i++)
		if (!has(keep, i))
			(void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	for (int i = 0; i < 2; i++) {
		s.data[i].permitted = s.data[i].effective = (uint32_t)(keep >> 32 * i);
		s.data[i].inheritable = 0;
	}
	/* It may be refused where there is nothing to give up; behind an exec, by the filter. */
	r = syscall(SYS_capset, &s.header, s.data) < 0 ? -errno : 0;
	if (sets_read(&s) < 0 || permitted(&s) & ~keep)
		return r < 0 ? r : -EPERM;
	return clear_ambient();
}

void
helper_rights_for_exec(uint64_t wanted)
{
	struct sets s;
	uint64_t keep;

	if (sets_read(&s) < 0)
		return;
	keep = needed(wanted, permitted(&s));
	for (unsigned int i = 0; i < CAPABILITIES; i++)
		(void)prctl(PR_CAP_AMBIENT,
			    has(keep, i) ? PR_CAP_AMBIENT_RAISE : PR_CAP_AMBIENT_LOWER, i, 0, 0);
}
