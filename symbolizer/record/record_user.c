/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_user.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "symbolizer/cli/cli.h"

static bool
user_parse(const char *user, uid_t *ret)
{
	const struct passwd *pw = getpwnam(user);
	const char *problem;

	if (pw) {
		*ret = pw->pw_uid;
		return true;
	}
	*ret = (uid_t)strtonum(user, 0, UINT32_MAX - 1, &problem);
	return !problem;
}

/* The owner of its directory is its effective user, or root where it must not be looked into. */
static bool
belongs_to(int proc_fd, const char *name, uid_t uid)
{
	struct stat st;

	return fstatat(proc_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == uid;
}

int
record_user_pids(const char *user, pid_t *pids, size_t max, size_t *ret_nr)
{
	const struct dirent *d;
	size_t nr = 0;
	uid_t uid;
	DIR *proc;

	if (!user_parse(user, &uid))
		return cli_usage_error("record", "-u %s: no such user", user);
	proc = opendir("/proc");
	if (!proc) {
		warn("/proc");
		return EXIT_FAILED;
	}
	while (nr <= max && (d = readdir(proc))) {
		const char *problem;
		pid_t pid = (pid_t)strtonum(d->d_name, 1, INT32_MAX, &problem);

		if (problem || pid == getpid() || !belongs_to(dirfd(proc), d->d_name, uid))
			continue;
		if (nr < max)
			pids[nr] = pid;
		nr++;
	}
	closedir(proc);
	if (nr > max)
		return cli_usage_error("record", "-u %s: more than %zu processes", user, max);
	if (nr == 0) {
		warnx("-u %s: no process of this user", user);
		return EXIT_FAILED;
	}
	*ret_nr = nr;
	return CLI_GO_ON;
}
