/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/fmt_error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const texts[FMT_E_MAX] = { [FMT_OK] = "no error",
#define X(name, text) [FMT_E_##name] = text,
					      FMT_ERRORS(X)
#undef X
};

const char *
fmt_error_text(int error)
{
	/* Never negates: -INT_MIN is not a number. */
	if (error > -FMT_E_MAX && error < 0)
		error = -error;
	if (error < 0 || error >= FMT_E_MAX)
		return "unknown error";
	return texts[error];
}

int
fmt_fail(struct fmt_where *w, int error, uint64_t offset, const char *detail, ...)
{
	int saved_errno = errno;
	va_list ap;

	error = error < 0 ? -error : error;
	if (w) {
		memset(w, 0, sizeof(*w));
		w->offset = offset;
		if (error == FMT_E_IO)
			w->saved_errno = saved_errno;
		va_start(ap, detail);
		vsnprintf(w->detail, sizeof(w->detail), detail, ap);
		va_end(ap);
		errno = saved_errno;
	}
	return -error;
}
