/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/names/names_rights.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "recorder/helper/helper_rights.h"

#define CPU_S 10
#define DATA_BYTES (512u << 20) /* an interpreter of Python has 20 MiB */
#define SPACE_BYTES (UINT64_C(2) << 30)
#define FILE_BYTES (1u << 20)
#define FILES 256

static void
limit(int what, uint64_t most)
{
	struct rlimit r;

	if (getrlimit(what, &r) != 0)
		return;
	r.rlim_max = most < r.rlim_max ? most : r.rlim_max;
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(what, &r);
}

void
names_rights_limit(void)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, CPU_S);
	limit(RLIMIT_DATA, DATA_BYTES);
	limit(RLIMIT_FSIZE, FILE_BYTES);
	limit(RLIMIT_NOFILE, FILES);
}

void
names_rights_limit_program(void)
{
	limit(RLIMIT_AS, SPACE_BYTES);
}

int
names_rights_groups(const struct names_process *p)
{
	if (geteuid() != 0)
		return 0;
	return setgroups(p->nr_groups, p->groups) < 0 ? -errno : 0;
}

/* A caller that is not root is this user already, with one of its groups. In another user namespace root has no number. */
static int
change_user(uid_t uid, gid_t gid)
{
	uid_t r, e, s;

	if ((geteuid() == 0 || geteuid() != uid) &&
	    (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0))
		return -errno;
	if (getresuid(&r, &e, &s) < 0 || r != uid || e != uid || s != uid)
		return -EPERM;
	return 0;
}

int
names_rights_take(uid_t uid, gid_t gid)
{
	const pid_t parent = getppid();
	int rc = change_user(uid, gid);

	if (rc == 0)
		rc = helper_rights_shed(0);
	if (rc < 0)
		return rc;
	/* A change of user has forgotten it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0)
		return -errno;
	limit(RLIMIT_NPROC, 0);
	return getppid() == parent ? 0 : -ESRCH;
}
