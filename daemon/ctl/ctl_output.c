/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/ctl/ctl_output.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/ctl/ctl_client.h"
#include "format/bytes/out_path.h"

#define COPY_BYTES (64u << 10)

static int
open_standard(struct ctl_output *o)
{
	const char *directory = getenv("TMPDIR");
	struct stat st;

	o->path = "standard output";
	if (isatty(STDOUT_FILENO)) {
		warnx("a recording does not belong on a terminal: use -o FILE");
		return CTL_FAILED;
	}
	if (fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode)) {
		o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	} else {
		directory = directory ? directory : "/tmp";
		o->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		o->copy = true;
	}
	if (o->fd < 0)
		warn("%s", o->copy ? directory : o->path);
	return o->fd < 0 ? CTL_FAILED : CTL_DONE;
}

static int
set_aside(struct ctl_output *o)
{
	struct stat st;

	if (lstat(o->resolved, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return CTL_DONE;
	if (asprintf(&o->set_aside, "%s.old", o->resolved) < 0) {
		o->set_aside = NULL;
		return CTL_FAILED;
	}
	if (rename(o->resolved, o->set_aside) == 0)
		return CTL_DONE;
	warn("%s: cannot be set aside", o->path);
	free(o->set_aside);
	o->set_aside = NULL;
	return CTL_FAILED;
}

static int
ctl_output_failed(const char *path)
{
	if (errno == OUT_PATH_E_REFUSED)
		warnx("%s: " OUT_PATH_REFUSED, path);
	else
		warn("%s", path);
	return CTL_FAILED;
}

int
ctl_output_open(struct ctl_output *o, const char *path)
{
	struct stat st;

	*o = (struct ctl_output){ .path = path, .fd = -1 };
	if (strcmp(path, "-") == 0)
		return open_standard(o);
	o->resolved = out_path_resolve(path);
	if (!o->resolved)
		return ctl_output_failed(path);
	if (set_aside(o) != CTL_DONE)
		return CTL_FAILED;
	/* Never blocks on a pipe that happens to have that name. */
	o->fd = out_path_open(o->resolved, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0600);
	if (o->fd < 0) {
		(void)ctl_output_failed(path);
		(void)ctl_output_close(o, false);
		return CTL_FAILED;
	}
	o->made = fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode);
	if (o->made)
		return CTL_DONE;
	warnx("%s: not a regular file; a pipe goes with -o -", path);
	(void)ctl_output_close(o, false);
	return CTL_FAILED;
}

static int
ctl_output_copy(const struct ctl_output *o)
{
	static char buffer[COPY_BYTES];
	ssize_t n, put;

	if (lseek(o->fd, 0, SEEK_SET) < 0)
		return -errno;
	while ((n = read(o->fd, buffer, sizeof(buffer))) > 0)
		for (ssize_t done = 0; done < n; done += put) {
			put = write(STDOUT_FILENO, buffer + done, (size_t)(n - done));
			if (put < 0 && errno != EINTR)
				return -errno;
			put = put < 0 ? 0 : put;
		}
	return n < 0 ? -errno : 0;
}

int
ctl_output_close(struct ctl_output *o, bool used)
{
	int r = CTL_DONE, error;

	if (used && o->copy && (error = ctl_output_copy(o)) < 0) {
		warnx("%s: %s", o->path, strerror(-error));
		r = CTL_FAILED;
	}
	if (!used && o->made)
		(void)unlink(o->resolved);
	if (!used && o->set_aside && rename(o->set_aside, o->resolved) < 0)
		warn("%s", o->set_aside);
	if (o->fd >= 0)
		(void)close(o->fd);
	o->fd = -1;
	free(o->set_aside);
	o->set_aside = NULL;
	free(o->resolved);
	o->resolved = NULL;
	return r;
}
