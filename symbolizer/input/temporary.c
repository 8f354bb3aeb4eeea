/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/temporary.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int
temporary_open(void)
{
	const char *directory = getenv("TMPDIR");
	char *path;
	int fd;

	if (!directory || !*directory)
		directory = "/var/tmp";
	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Not every file system can do that. */
	if (asprintf(&path, "%s/spoor.XXXXXX", directory) < 0) {
		warnx("out of memory");
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	else
		warn("%s: " TEMPORARY_NAME, path);
	free(path);
	return fd;
}
