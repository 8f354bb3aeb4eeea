/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/debuginfod_client.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "format/bytes/fd_range.h"
#include "symbolizer/object/object_fetch.h"
#include "symbolizer/object/object_fetch_wire.h"
#include "symbolizer/object/object_places.h"

#define LIBRARY "libdebuginfod.so.1"
#define TIMEOUT_S 90	/* the library's, without DEBUGINFOD_TIMEOUT */
#define SOME_BYTES 4096 /* less is no progress */
#define END_S 5		/* that the library may take to notice */
#define TELL_MS 200
#define SOCKET 3

typedef struct debuginfod_client debuginfod_client;
typedef int find_fn(debuginfod_client *c, const unsigned char *id, int size, char **ret_path);

/* Elfutils 0.178 has these, and each later one. */
struct library {
	debuginfod_client *(*begin)(void);
	find_fn *find[OBJECT_FETCH_WHATS];
	void (*set_progressfn)(debuginfod_client *c,
			       int (*progress)(debuginfod_client *c, long a, long b));
};

/* The library has no place for an argument of its callback before elfutils 0.179. */
static struct client {
	struct library library;
	debuginfod_client *client;
	const char *cache;
	struct object_fetch_request request;
	/* Of the request: why it was given up, when it began, when something last came. */
	enum object_fetch_outcome given_up;
	int64_t begun_ms, came_ms, told_ms;
	uint64_t bytes;
} client;

static volatile sig_atomic_t ended;

static void
client_end(int sig)
{
	(void)sig;
	ended = 1;
	alarm(END_S);
}

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A bound of the library's, in seconds or bytes; 0, and what is no number, is none: otherwise. */
static int64_t
bound_of(const char *variable, int64_t otherwise)
{
	const char *text = getenv(variable), *why;
	int64_t n = text ? strtonum(text, 0, INT64_MAX / 1000, &why) : 0;

	return n > 0 ? n : otherwise;
}

static void
reply(const struct object_fetch_reply *r)
{
	if (send(SOCKET, r, sizeof(*r), MSG_NOSIGNAL) != (ssize_t)sizeof(*r))
		ended = 1;
}

/* Is a file that the library writes as long as it may be? What it inflates is more than what comes. */
static bool
file_full(void)
{
	struct stat st;

	for (int fd = SOCKET + 1; fd <= SOCKET + 16; fd++)
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    (uint64_t)st.st_size >= client.request.bytes_max)
			return true;
	return false;
}

/* Of the library, about once a second and when something comes. 1: it shall give up. */
static int
client_progress(debuginfod_client *c, long a, long b)
{
	const uint64_t bytes = a > SOME_BYTES || b > 0 ? (uint64_t)a : 0; /* else it is no bytes */
	const int64_t now = now_ms();

	(void)c;
	if (bytes >= client.bytes + SOME_BYTES) {
		client.bytes = bytes;
		client.came_ms = now;
	}
	if (bytes > client.request.bytes_max || (b > 0 && (uint64_t)b > client.request.bytes_max) ||
	    file_full())
		client.given_up = OBJECT_FETCH_TOO_BIG;
	else if (now - client.came_ms > bound_of("DEBUGINFOD_TIMEOUT", TIMEOUT_S) * 1000 ||
		 now - client.begun_ms > bound_of("DEBUGINFOD_MAXTIME", OBJECT_FETCH_S) * 1000)
		client.given_up = OBJECT_FETCH_LATE;
	else if (now - client.told_ms >= TELL_MS) {
		reply(&(struct object_fetch_reply){ .kind = OBJECT_FETCH_PROGRESS,
						    .bytes = bytes,
						    .total = b > 0 ? (uint64_t)b : 0 });
		client.told_ms = now;
	}
	return ended || client.given_up != OBJECT_FETCH_DONE;
}

static bool
client_load(void)
{
	struct library *l = &client.library;
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return false;
	*(void **)&l->begin = dlsym(handle, "debuginfod_begin");
	*(void **)&l->set_progressfn = dlsym(handle, "debuginfod_set_progressfn");
	*(void **)&l->find[OBJECT_FETCH_DEBUGINFO] = dlsym(handle, "debuginfod_find_debuginfo");
	*(void **)&l->find[OBJECT_FETCH_EXECUTABLE] = dlsym(handle, "debuginfod_find_executable");
	if (!l->begin || !l->set_progressfn || !l->find[OBJECT_FETCH_DEBUGINFO] ||
	    !l->find[OBJECT_FETCH_EXECUTABLE])
		return false;
	client.client = l->begin();
	if (!client.client)
		return false;
	l->set_progressfn(client.client, client_progress);
	return true;
}

/* Takes the descriptor. */
static bool
is_asked(int fd)
{
	const struct object_fetch_request *rq = &client.request;
	struct io_source *file = io_source_fd(fd);
	struct buildid id = { 0 };
	bool same;

	if (!file)
		return false;
	same = buildid_read(file, &id) == 0 && id.kind == BUILDID_GNU && id.size == rq->size &&
		memcmp(id.bytes, rq->id, id.size) == 0;
	file->close(file);
	return same;
}

/* The library notes for ten minutes that no server has what it was told to give up. */
static void
forget_none(void)
{
	const struct object_fetch_request *rq = &client.request;
	const struct object_places places = { .debuginfod_cache = client.cache };
	char path[PATH_MAX];
	struct stat st;

	object_places_fetched(&places, rq->what, rq->id, rq->size, path);
	if (*path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
		(void)unlink(path);
}

static enum object_fetch_outcome
outcome_of(int error)
{
	switch (error) {
	case ENOENT:
		return OBJECT_FETCH_NONE;
	case EFBIG:
		return OBJECT_FETCH_TOO_BIG;
	case ETIME:
	case ETIMEDOUT:
		return OBJECT_FETCH_LATE;
	default:
		return OBJECT_FETCH_FAILED;
	}
}

/* One file. Its length is bounded in any case: the servers' word for it is not believed. */
static void
client_fetch(void)
{
	const struct object_fetch_request *rq = &client.request;
	const struct rlimit length = { rq->bytes_max, RLIM_INFINITY };
	struct object_fetch_reply r = { .kind = OBJECT_FETCH_ENDED, .outcome = OBJECT_FETCH_DONE };
	char *path = NULL;
	struct stat st;
	int fd;

	client.given_up = OBJECT_FETCH_DONE;
	client.begun_ms = client.came_ms = now_ms();
	client.bytes = 0;
	(void)setrlimit(RLIMIT_FSIZE, &length);
	fd = client.library.find[rq->what](client.client, rq->id, rq->size, &path);
	r.bytes = fd >= 0 && fstat(fd, &st) == 0 ? (uint64_t)st.st_size : client.bytes;
	if (fd < 0) {
		r.outcome = outcome_of(-fd);
		r.error = -fd;
	} else if (!is_asked(fd)) {
		r.outcome = OBJECT_FETCH_WRONG;
		if (path)
			(void)unlink(path);
	}
	if (fd < 0 && (ended || client.given_up != OBJECT_FETCH_DONE)) {
		r.outcome = client.given_up;
		r.error = 0;
		forget_none();
	}
	free(path);
	if (!ended)
		reply(&r);
}

/* No descriptor of others: some are files that somebody wrote, and standard output has data. */
static void
keep_descriptors(int fd)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(fd, SOCKET) < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0)
		_exit(1);
	fd_range_close(SOCKET + 1, UINT_MAX);
}

/* Only its last part is made: what is above belongs to somebody. */
static void
make_directory(const char *cache)
{
	char above[PATH_MAX];
	char *slash;

	if ((size_t)snprintf(above, sizeof(above), "%s", cache) >= sizeof(above))
		return;
	slash = strrchr(above, '/');
	if (slash && slash != above) {
		*slash = '\0';
		(void)mkdir(above, 0700);
	}
}

static void
prepare(pid_t parent)
{
	const struct sigaction end = { .sa_handler = client_end };
	const struct sigaction none = { .sa_handler = SIG_IGN };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t blocked;

	/* Whoever started it may have left them to another thread. */
	sigemptyset(&blocked);
	(void)sigprocmask(SIG_SETMASK, &blocked, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)sigaction(signals[i], &end, NULL);
	/* An error of write(2), so that what is half there is removed. */
	(void)sigaction(SIGXFSZ, &none, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
}

void
debuginfod_client_serve(pid_t parent, int fd, const char *cache)
{
	struct object_fetch_request *rq = &client.request;

	prepare(parent);
	keep_descriptors(fd);
	client.cache = cache;
	make_directory(cache);
	/* Where it is looked for: the library knows an older place, too. */
	if (setenv("DEBUGINFOD_CACHE_PATH", cache, 1) != 0 || !client_load())
		_exit(1);
	reply(&(struct object_fetch_reply){ .kind = OBJECT_FETCH_READY });
	while (!ended && recv(SOCKET, rq, sizeof(*rq), 0) == (ssize_t)sizeof(*rq)) {
		/* The library asks the servers to heed it, and does not look itself. */
		const int64_t max = bound_of("DEBUGINFOD_MAXSIZE", INT64_MAX);

		if (rq->bytes_max > (uint64_t)max)
			rq->bytes_max = (uint64_t)max;
		client_fetch();
	}
	_exit(0);
}
