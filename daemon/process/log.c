/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/process/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

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

static struct {
	pthread_mutex_t lock;
	char lines[LOG_KEPT][LOG_KEPT_BYTES];
	size_t n; /* ever */
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
log_keep(const char *text)
{
	time_t now = time(NULL);
	struct tm tm;
	char *line;
	size_t n;

	(void)pthread_mutex_lock(&kept.lock);
	line = kept.lines[kept.n++ % LOG_KEPT];
	n = gmtime_r(&now, &tm) ? strftime(line, LOG_KEPT_BYTES, "%Y-%m-%dT%H:%M:%SZ ", &tm) : 0;
	line[log_append(line, n, LOG_KEPT_BYTES, text)] = '\0';
	(void)pthread_mutex_unlock(&kept.lock);
}

bool
log_kept(size_t i, char line[LOG_KEPT_BYTES])
{
	bool there;
	size_t first;

	(void)pthread_mutex_lock(&kept.lock);
	first = kept.n > LOG_KEPT ? kept.n - LOG_KEPT : 0;
	there = first + i < kept.n;
	if (there)
		memcpy(line, kept.lines[(first + i) % LOG_KEPT], LOG_KEPT_BYTES);
	(void)pthread_mutex_unlock(&kept.lock);
	return there;
}

static void __attribute__((format(printf, 2, 0)))
log_line(int priority, const char *format, va_list ap)
{
	int saved_errno = errno;
	char text[LINE_BYTES], line[LINE_BYTES];
	size_t n = 0, done = 0;

	if (vsnprintf(text, sizeof(text), format, ap) < 0)
		text[0] = '\0';
	if (priority <= LOG_WARNING)
		log_keep(text);
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
	errno = saved_errno;
}

#define LOG_FUNCTION(name, priority)                                                               \
	void name(const char *format, ...)                                                         \
	{                                                                                          \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, format);                                                              \
		log_line(priority, format, ap);                                                    \
		va_end(ap);                                                                        \
	}

LOG_FUNCTION(log_error, LOG_ERR)
LOG_FUNCTION(log_warning, LOG_WARNING)
LOG_FUNCTION(log_notice, LOG_NOTICE)
LOG_FUNCTION(log_info, LOG_INFO)
