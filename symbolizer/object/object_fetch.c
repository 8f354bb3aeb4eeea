/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/object_fetch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "format/bytes/slots.h"
#include "symbolizer/object/debuginfod_client.h"
#include "symbolizer/object/object_fetch_wire.h"

/* The process tells of itself each second: one that is silent as long hangs. */
#define SILENT_MS 60000

/* A file that was asked for. */
struct asked {
	uint8_t what, size;
	uint8_t id[BUILDID_MAX];
	bool got;
};

struct trouble {
	char *name;
	enum object_fetch_outcome outcome;
	int error;
};

struct object_fetch {
	struct object_fetch_options options;
	pthread_mutex_t lock; /* of all that follows */
	pid_t pid;
	int fd; /* to it; -1: nothing more is asked */
	uint64_t bytes;
	struct asked *asked;
	size_t nr_asked, cap_asked;
	struct slots asked_slots;
	struct trouble *troubles;
	size_t nr_troubles, cap_troubles;
};

const char *
object_fetch_outcome_text(enum object_fetch_outcome outcome)
{
	static const char *const texts[] = {
		[OBJECT_FETCH_DONE] = "fetched",
		[OBJECT_FETCH_NONE] = "no server has it",
		[OBJECT_FETCH_WRONG] = "the server's file is of another build, and was removed",
		[OBJECT_FETCH_TOO_BIG] = "the server's file is too large",
		[OBJECT_FETCH_LATE] = "the servers took too long: nothing more is fetched",
		[OBJECT_FETCH_FAILED] = "the servers cannot be asked: nothing more is fetched",
		[OBJECT_FETCH_BROKEN] = ("the process that asks the servers ended: nothing more is "
					 "fetched"),
		[OBJECT_FETCH_TOO_MANY] = "too many files are missing: nothing more is fetched",
	};

	return texts[outcome];
}

/* --- the process ------------------------------------------------------------------------- */

static void
fetch_stop(struct object_fetch *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* It has SILENT_MS to say something. False: it is gone, or hangs. */
static bool
read_reply(struct object_fetch *f, struct object_fetch_reply *ret)
{
	struct pollfd p = { .fd = f->fd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, SILENT_MS);
	while (n < 0 && errno == EINTR);
	return n > 0 && recv(f->fd, ret, sizeof(*ret), 0) == (ssize_t)sizeof(*ret);
}

static int
fetch_fork(struct object_fetch *f)
{
	const pid_t parent = getpid();
	int ends[2], error;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	f->fd = ends[0];
	f->pid = fork();
	if (f->pid == 0)
		debuginfod_client_serve(parent, ends[1], f->options.cache);
	error = f->pid < 0 ? -errno : 0;
	close(ends[1]);
	return error;
}

int
object_fetch_start(const struct object_fetch_options *options, struct object_fetch **ret)
{
	struct object_fetch *f = calloc(1, sizeof(*f));
	struct object_fetch_reply r;
	int error;

	if (!f)
		return -ENOMEM;
	f->options = *options;
	f->fd = -1;
	(void)pthread_mutex_init(&f->lock, NULL);
	error = fetch_fork(f);
	if (!error && (!read_reply(f, &r) || r.kind != OBJECT_FETCH_READY))
		error = -ENOENT;
	if (error)
		object_fetch_end(f);
	else
		*ret = f;
	return error;
}

void
object_fetch_end(struct object_fetch *f)
{
	if (!f)
		return;
	fetch_stop(f);
	if (f->pid > 0) {
		/* It asks nobody now, and knows nothing that is worth waiting for. */
		kill(f->pid, SIGKILL);
		while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (size_t i = 0; i < f->nr_troubles; i++)
		free(f->troubles[i].name);
	free(f->troubles);
	free(f->asked);
	slots_done(&f->asked_slots);
	(void)pthread_mutex_destroy(&f->lock);
	free(f);
}

bool
object_fetch_lines(const struct object_fetch *f)
{
	return f && f->options.lines;
}

/* --- a file ------------------------------------------------------------------------------ */

static void
fetch_tell(const struct object_fetch *f, const struct object_fetch_progress *p)
{
	if (f->options.progress)
		f->options.progress(f->options.arg, p);
}

/* Asks, and waits for the end. */
static enum object_fetch_outcome
ask(struct object_fetch *f, const struct asked *a, const char *name, int *ret_error)
{
	const uint64_t left = OBJECT_FETCH_BYTES_MAX - f->bytes;
	struct object_fetch_request rq = {
		.what = a->what,
		.size = a->size,
		.bytes_max = left < OBJECT_FETCH_FILE_MAX ? left : OBJECT_FETCH_FILE_MAX,
	};
	struct object_fetch_progress p = { .name = name, .what = a->what };
	struct object_fetch_reply r;

	memcpy(rq.id, a->id, sizeof(rq.id));
	if (send(f->fd, &rq, sizeof(rq), MSG_NOSIGNAL) != (ssize_t)sizeof(rq))
		return OBJECT_FETCH_BROKEN;
	fetch_tell(f, &p);
	for (;;) {
		if (!read_reply(f, &r))
			return OBJECT_FETCH_BROKEN;
		p.bytes = r.bytes;
		p.total = r.total;
		if (r.kind == OBJECT_FETCH_ENDED)
			break;
		fetch_tell(f, &p);
	}
	f->bytes += r.bytes < left ? r.bytes : left;
	*ret_error = r.error;
	return r.outcome <= OBJECT_FETCH_FAILED ? r.outcome : OBJECT_FETCH_BROKEN;
}

/* Told once of an object, of which two files are asked for; what concerns all ends the asking. */
static void
note_trouble(struct object_fetch *f, enum object_fetch_outcome outcome, int error, const char *name)
{
	const struct trouble *last;

	if (outcome == OBJECT_FETCH_DONE || outcome == OBJECT_FETCH_NONE)
		return;
	if (outcome >= OBJECT_FETCH_LATE)
		fetch_stop(f);
	last = f->nr_troubles ? &f->troubles[f->nr_troubles - 1] : NULL;
	if (last && last->name && strcmp(last->name, name) == 0)
		return;
	if (array_reserve(f->troubles, f->nr_troubles, f->cap_troubles, 1) < 0)
		return;
	f->troubles[f->nr_troubles++] = (struct trouble){ strdup(name), outcome, error };
}

static bool
asked_same(const void *owner, uint32_t index, const void *key)
{
	const struct asked *a = &((const struct object_fetch *)owner)->asked[index], *b = key;

	return a->what == b->what && a->size == b->size && memcmp(a->id, b->id, a->size) == 0;
}

static bool
fetch_get(struct object_fetch *f, const struct asked *key, const char *name)
{
	const uint32_t hash = (uint32_t)slots_mix_bytes(key->what, key->id, key->size);
	const size_t before = f->nr_asked;
	enum object_fetch_outcome outcome;
	struct object_fetch_progress end;
	int error = 0;
	uint32_t i = slots_find(&f->asked_slots, hash, asked_same, f, key);

	if (i != SLOTS_NONE)
		return f->asked[i].got;
	if (f->fd < 0)
		return false;
	if (before == OBJECT_FETCH_ASKED_MAX) {
		note_trouble(f, OBJECT_FETCH_TOO_MANY, 0, name);
		return false;
	}
	if (slots_keep(&f->asked_slots, hash, asked_same, f, key, f->asked, f->nr_asked,
		       f->cap_asked, &i) < 0)
		return false;
	outcome = ask(f, key, name, &error);
	end = (struct object_fetch_progress){ .name = name, .what = key->what, .ended = true };
	fetch_tell(f, &end);
	note_trouble(f, outcome, error, name);
	f->asked[i].got = outcome == OBJECT_FETCH_DONE;
	return f->asked[i].got;
}

bool
object_fetch_get(struct object_fetch *f, enum object_fetch_what what, const uint8_t *id,
		 size_t size, const char *name)
{
	struct asked key = { .what = (uint8_t)what, .size = (uint8_t)size };
	bool got;

	if (!f || size == 0 || size > sizeof(key.id))
		return false;
	memcpy(key.id, id, size);
	(void)pthread_mutex_lock(&f->lock);
	got = fetch_get(f, &key, name);
	(void)pthread_mutex_unlock(&f->lock);
	return got;
}

bool
object_fetch_trouble(const struct object_fetch *f, size_t i, const char **ret_name,
		     enum object_fetch_outcome *ret, int *ret_error)
{
	if (!f || i >= f->nr_troubles)
		return false;
	*ret_name = f->troubles[i].name ? f->troubles[i].name : "a file";
	*ret = f->troubles[i].outcome;
	*ret_error = f->troubles[i].error;
	return true;
}
