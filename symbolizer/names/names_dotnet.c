/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/names/names_dotnet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bsd/sys/endian.h>

#include "symbolizer/names/names_clock.h"
#include "symbolizer/names/names_socket.h"

#define MAGIC "DOTNET_IPC_V1" /* with its NUL */
#define HEADER_BYTES 20
#define MESSAGE_BYTES 24 /* with a payload of one number */
#define SET_PROCESS 4
#define ENABLE_PERF_MAP 5
#define TYPE_PERF_MAP 3
#define SET_ANSWER 0xff
#define ANSWER_OK 0

/* Codes of errors. */
#define UNKNOWN_COMMAND 0x80131385 /* before .NET 8 */
#define NOT_SUPPORTED 0x80131515

static void
fill_request(uint8_t m[MESSAGE_BYTES])
{
	memcpy(m, MAGIC, sizeof(MAGIC));
	le16enc(m + 14, MESSAGE_BYTES);
	m[16] = SET_PROCESS;
	m[17] = ENABLE_PERF_MAP;
	le16enc(m + 18, 0);
	le32enc(m + 20, TYPE_PERF_MAP);
}

static bool
is_answer(const uint8_t m[MESSAGE_BYTES], ssize_t n)
{
	return n == MESSAGE_BYTES && memcmp(m, MAGIC, sizeof(MAGIC)) == 0 &&
		le16dec(m + 14) == MESSAGE_BYTES && m[16] == SET_ANSWER;
}

static void
say_answer(const struct names_process *p, const uint8_t m[MESSAGE_BYTES], int64_t since_s,
	   struct names_answer *a)
{
	const uint32_t code = le32dec(m + HEADER_BYTES);

	if (m[17] == ANSWER_OK && code == 0)
		names_process_map(p, since_s, a);
	else if (code == UNKNOWN_COMMAND || code == NOT_SUPPORTED)
		names_answer_say(
			a, NAMES_CANNOT,
			"it does not know the question, which .NET has since 8; it takes %s "
			"at its start",
			runtime_option(RUNTIME_dotnet));
	else
		names_answer_say(a, NAMES_FAILED, "it refuses: error %#" PRIx32, code);
}

static void
ask(const struct names_process *p, int fd, int64_t deadline_ns, struct names_answer *a)
{
	const int64_t since_s = time(NULL) - 1; /* of the clock's and the file system's ticks */
	uint8_t m[MESSAGE_BYTES];
	ssize_t n;

	/* Asked before, it writes on, into the same file. */
	fill_request(m);
	n = names_socket_send(fd, m, sizeof(m), deadline_ns);
	if (n == 0)
		n = names_socket_receive(fd, m, sizeof(m), false, deadline_ns);
	if (n == -ETIMEDOUT)
		names_answer_say(a, NAMES_FAILED, "no answer within the time");
	else if (n < 0)
		names_answer_say(a, NAMES_FAILED, "its socket: %s", strerror((int)-n));
	else if (!is_answer(m, n))
		names_answer_say(a, NAMES_FAILED, "its answer is not the protocol's");
	else
		say_answer(p, m, since_s, a);
}

static void
say_no_socket(int rc, const char *name, struct names_answer *a)
{
	if (rc == -ENOENT || rc == -ECONNREFUSED)
		names_answer_say(a, NAMES_FAILED,
				 "it does not listen on %s: it was started with "
				 "DOTNET_EnableDiagnostics=0, or begins",
				 name);
	else if (rc == -ENOTSOCK)
		names_answer_say(a, NAMES_FAILED, "%s is not a socket", name);
	else if (rc == -EPERM)
		names_answer_say(a, NAMES_FAILED, "%s is another user's", name);
	else
		names_answer_say(a, NAMES_FAILED, "%s: %s", name, strerror(-rc));
}

void
names_dotnet_ask(const struct names_process *p, const char *tmpdir, int64_t deadline_ns,
		 struct names_answer *a)
{
	const int tmp = names_process_directory(p, tmpdir && *tmpdir == '/' ? tmpdir : "/tmp");
	char name[80];
	int fd;

	if (tmp < 0) {
		names_answer_say(a, NAMES_FAILED, "its directory of temporary files: %s",
				 strerror(-tmp));
		return;
	}
	(void)snprintf(name, sizeof(name), "dotnet-diagnostic-%d-%" PRIu64 "-socket",
		       (int)p->inner_pid, p->began_ticks);
	fd = names_socket_connect(tmp, name, deadline_ns);
	(void)close(tmp);
	if (fd < 0) {
		say_no_socket(fd, name, a);
		return;
	}
	ask(p, fd, deadline_ns, a);
	(void)close(fd);
}
