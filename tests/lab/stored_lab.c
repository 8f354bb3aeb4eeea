/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/stored_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"
#include "format/stored/stored_object.h"
#include "format/stored/stored_reduce.h"
#include "tests/lab/elf_lab.h"

static int
put(void *arg, uint64_t offset, const void *p, size_t n)
{
	const int *fd = arg;

	return pwrite(*fd, p, n, (off_t)offset) == (ssize_t)n ? 0 : -FMT_E_IO;
}

const char *
stored_lab_keep(const char *path, const char *dir, bool whole)
{
	static char to[PATH_MAX];
	struct io_source *file = io_source_fd(open(path, O_RDONLY | O_CLOEXEC));
	struct stored_mark mark = { .whole = whole };
	char sub[3], name[STORED_NAME_BYTES];
	uint8_t bytes[STORED_MARK_BYTES];
	uint64_t size = 0;
	int fd;

	assert_non_null(file);
	assert_int_equal(buildid_read(file, &mark.id), 0);
	assert_true(stored_object_name(&mark.id, sub, name));
	lab_run("mkdir -p %s/" STORED_BY_ID "/%s", dir, sub);
	snprintf(to, sizeof(to), "%s/" STORED_BY_ID "/%s/%s", dir, sub, name);
	fd = open(to, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(
		(whole ? stored_copy : stored_reduce)(file, UINT64_C(1) << 30, put, &fd, &size), 0);
	mark.elf_size = size;
	stored_mark_put(&mark, bytes);
	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), (off_t)size), sizeof(bytes));
	close(fd);
	file->close(file);
	return to;
}
