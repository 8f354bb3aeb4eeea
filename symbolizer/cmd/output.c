/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cmd/output.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolizer/cmd/cli.h"

static int
open_temporary(struct output *o)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (asprintf(&o->temporary, "%s.XXXXXX", o->path) < 0) {
		o->temporary = NULL;
		return -1;
	}
	fd = mkstemp(o->temporary);
	if (fd < 0) {
		free(o->temporary);
		o->temporary = NULL;
		return -1;
	}
	if (fchmod(fd, 0666 & ~mask) == 0)
		o->file = fdopen(fd, "w");
	if (!o->file) {
		close(fd);
		unlink(o->temporary);
		free(o->temporary);
		o->temporary = NULL;
		return -1;
	}
	return 0;
}

int
output_open(struct output *o, const char *path)
{
	struct stat st;

	*o = (struct output){ 0 };
	if (!path || strcmp(path, "-") == 0) {
		o->file = stdout;
		return 0;
	}
	o->path = path;
	/* A symbolic link is followed, not replaced. */
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		o->file = fopen(path, "we");
	else
		open_temporary(o);
	if (o->file)
		return 0;
	warn("%s", path);
	return EXIT_FAILED;
}

static int
finish(struct output *o)
{
	int failed = ferror(o->file);

	/* fclose() frees in any case; errno of the first failure is the one to tell. */
	errno = 0;
	if (fflush(o->file) != 0)
		failed = 1;
	if (!failed) {
		failed = fclose(o->file) != 0;
	} else {
		int saved = errno;

		fclose(o->file);
		errno = saved;
	}
	if (!failed && o->temporary)
		failed = rename(o->temporary, o->path) != 0;
	return failed ? -1 : 0;
}

int
output_close(struct output *o, int status)
{
	if (!o->path)
		return status; /* main looks after stdout */
	if (status == 0 && finish(o) < 0) {
		warnx("%s: %s", o->path, strerror(errno ? errno : EIO));
		status = EXIT_FAILED;
	} else if (status != 0) {
		fclose(o->file);
	}
	if (status != 0 && o->temporary)
		unlink(o->temporary);
	free(o->temporary);
	*o = (struct output){ 0 };
	return status;
}
