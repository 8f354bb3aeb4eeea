/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/session_error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "recorder/ground/small_file.h"

static void __attribute__((format(printf, 3, 0)))
session_error_fill(struct session_error *error, int exit_status, const char *format, va_list args)
{
	if (!error)
		return;
	error->exit_status = exit_status;
	vsnprintf(error->text, sizeof(error->text), format, args);
}

int
session_fail(struct session_error *error, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	session_error_fill(error, 1, format, args);
	va_end(args);
	return err;
}

int
session_usage(struct session_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	session_error_fill(error, 2, format, args);
	va_end(args);
	return -EINVAL;
}

void
session_note(struct buf *notes, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (notes->len)
		buf_u8(notes, '\n');
	buf_append(notes, line, strlen(line));
}

int
session_sysctl(const char *path, long long *ret)
{
	char text[64], *end;
	long long value;
	ssize_t n = small_file_read(AT_FDCWD, path, text, sizeof(text));

	if (n < 0)
		return (int)n;
	value = strtoll(text, &end, 10);
	if (end == text)
		return -EINVAL;
	*ret = value;
	return 0;
}
