/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/process/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "daemon/process/log_kept.h"
#include "recorder/host/host.h"

/* One write(2) a line, so that lines of threads do not mix; a pipe takes that much at once. */
#define LINE_BYTES 2048

/* Is stderr the stream that the service manager names in JOURNAL_STREAM ("dev:ino")? */
static bool
journal_reads(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char *end;
	struct stat st;
	unsigned long long device, inode;

	if (!stream || fstat(STDERR_FILENO, &st) != 0)
		return false;
	errno = 0;
	device = strtoull(stream, &end, 10);
	if (errno || end == stream || *end != ':')
		return false;
	stream = end + 1;
	inode = strtoull(stream, &end, 10);
	return !errno && end != stream && !*end && device == st.st_dev && inode == st.st_ino;
}

/*
 * Length of the printable character at s: ASCII, or well-formed UTF-8 that is no control
 * character (C1) and turns no text round (U+200B..200F, 2028..202E, 2060..206F, FEFF). 0: none.
 */
static size_t
log_printable(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *s < 0x80 ? 1 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;
	uint32_t c = n == 1 ? *s : *s & (0x7fu >> n);

	if (n == 1)
		return c >= ' ' && c < 0x7f;
	if (*s < 0xc2 || *s > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) || c < 0xa0)
		return 0;
	if ((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2060 && c <= 0x206f) || c == 0xfeff)
		return 0;
	return n;
}

/* Appends text, escaped, to out of size bytes; always leaves room for the end of the line. */
static size_t
log_append(char *out, size_t at, size_t size, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s && at + 6 < size) {
		size_t n = log_printable(s);

		if (n) {
			memcpy(out + at, s, n);
			s += n;
			at += n;
		} else {
			at += (size_t)snprintf(out + at, 5, "\\x%02x", *s++);
		}
	}
	return at;
}

static void
log_write(int priority, const char *text)
{
	char line[LINE_BYTES];
	size_t n, done = 0;

	if (journal_reads())
		n = (size_t)snprintf(line, sizeof(line), "<%d>", priority);
	else
		n = (size_t)snprintf(line, sizeof(line), "spoord: ");
	n = log_append(line, n, sizeof(line), text);
	line[n++] = '\n';
	while (done < n) {
		ssize_t put = write(STDERR_FILENO, line + done, n - done);

		if (put < 0 && errno == EINTR)
			continue;
		/* Nobody listens, and there is nobody to tell. */
		if (put <= 0)
			break;
		done += (size_t)put;
	}
}

static void __attribute__((format(printf, 4, 0)))
log_line(int priority, uint32_t uid, unsigned int a_minute, const char *format, va_list ap)
{
	int saved_errno = errno;
	char text[LINE_BYTES], kept[LOG_KEPT_TEXT];
	struct log_kind kind;

	if (vsnprintf(text, sizeof(text), format, ap) < 0)
		text[0] = '\0';
	if (uid == 0) {
		uid = LOG_NO_USER;
		a_minute = LOG_A_MINUTE;
	}
	kind = log_kind_of(uid, format, text);
	if (priority <= LOG_WARNING) {
		kept[log_append(kept, 0, sizeof(kept), text)] = '\0';
		log_kept_put(&kind, kept);
	}
	if (log_limit_take(&kind, a_minute, priority, text, host_now_ns()))
		log_write(priority, text);
	errno = saved_errno;
}

void
log_tick(uint64_t now_ns)
{
	char line[LOG_LIMIT_BYTES + 80];
	int priority;

	while (log_limit_due(now_ns, &priority, line, sizeof(line)))
		log_write(priority, line);
}

#define LOG_FUNCTION(name, priority)                                                               \
	void log_##name(const char *format, ...)                                                   \
	{                                                                                          \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, format);                                                              \
		log_line(priority, LOG_NO_USER, LOG_A_MINUTE, format, ap);                         \
		va_end(ap);                                                                        \
	}

#define LOG_USER_FUNCTION(name, priority)                                                          \
	void log_user_##name(uint32_t uid, unsigned int a_minute, const char *format, ...)         \
	{                                                                                          \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, format);                                                              \
		log_line(priority, uid, a_minute, format, ap);                                     \
		va_end(ap);                                                                        \
	}

LOG_FUNCTION(error, LOG_ERR)
LOG_FUNCTION(warning, LOG_WARNING)
LOG_FUNCTION(notice, LOG_NOTICE)
LOG_FUNCTION(info, LOG_INFO)
LOG_USER_FUNCTION(warning, LOG_WARNING)
LOG_USER_FUNCTION(notice, LOG_NOTICE)
LOG_USER_FUNCTION(info, LOG_INFO)
