/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/client_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/sys/queue.h>

#include "daemon/process/descriptor.h"
#include "format/bytes/plain_file.h"
#include "daemon/process/log.h"

#define ROOM_BYTES (128u << 10)

enum work { NONE, CHECK, WRITE, SYNC, CUT };

struct client_file {
	struct io_sink sink;
	LIST_ENTRY(client_file) entry;
	pthread_cond_t change;
	uid_t uid;
	unsigned int refs; /* one is the thread's */
	bool given_up, full;
	bool in_memory;	     /* the thread's until CHECK is done */
	uint64_t memory_max; /* then: what it may take yet */
	enum work work;	     /* NONE: the thread waits for some */
	uint64_t arg;	     /* WRITE: bytes of room; CUT: the size */
	int result;	     /* of the last work */
	int fd;
	struct io_sink *file; /* over fd; these two and room are the thread's while it works */
	uint8_t room[ROOM_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under lock, as all of each but for what is the thread's: */
static LIST_HEAD(, client_file) files = LIST_HEAD_INITIALIZER(files);
static uint64_t memory_bytes; /* written to files in memory, since the beginning */

/* --- the thread ------------------------------------------------------------------------------ */

static int
perform(struct client_file *f)
{
	switch (f->work) {
	case CHECK:
		f->in_memory = descriptor_is_memory(f->fd);
		return plain_file_is_pseudo(f->fd);
	case WRITE:
		return f->file->write(f->file, f->room, f->arg);
	case SYNC:
		return f->file->sync(f->file);
	case CUT:
		return f->file->cut(f->file, f->arg);
	case NONE:
		break;
	}
	return 0;
}

static void *
client_file_body(void *arg)
{
	struct client_file *f = arg;
	int r;

	f->file = io_sink_fd(f->fd);
	pthread_mutex_lock(&lock);
	while (f->refs > 1 && !f->given_up) {
		if (f->work == NONE) {
			pthread_cond_wait(&f->change, &lock);
			continue;
		}
		pthread_mutex_unlock(&lock);
		r = f->file ? perform(f) : -ENOMEM;
		pthread_mutex_lock(&lock);
		f->result = r;
		f->work = NONE;
		pthread_cond_broadcast(&f->change);
	}
	pthread_mutex_unlock(&lock);
	if (f->file)
		f->file->close(f->file);
	else
		(void)close(f->fd);
	pthread_mutex_lock(&lock);
	LIST_REMOVE(f, entry);
	if (f->given_up)
		log_user_info(f->uid, LOG_USER_A_MINUTE,
			      "a file of uid %u, which was given up, has been let go of",
			      (unsigned int)f->uid);
	while (f->refs > 1)
		pthread_cond_wait(&f->change, &lock);
	pthread_mutex_unlock(&lock);
	pthread_cond_destroy(&f->change);
	free(f);
	return NULL;
}

/* --- those who wait for it ------------------------------------------------------------------- */

/* Under lock. */
static int
have_done(struct client_file *f, enum work work, uint64_t arg)
{
	if (!f->given_up) {
		f->work = work;
		f->arg = arg;
		pthread_cond_broadcast(&f->change);
	}
	while (f->work != NONE && !f->given_up)
		pthread_cond_wait(&f->change, &lock);
	return f->given_up ? -ETIMEDOUT : f->result;
}

static int
locked_have_done(struct client_file *f, enum work work, uint64_t arg)
{
	int r;

	pthread_mutex_lock(&lock);
	r = have_done(f, work, arg);
	pthread_mutex_unlock(&lock);
	return r;
}

int
client_file_is_pseudo(struct client_file *f)
{
	uint64_t left;
	int r;

	pthread_mutex_lock(&lock);
	r = have_done(f, CHECK, 0);
	left = CLIENT_FILE_MEMORY_MAX - memory_bytes;
	f->memory_max = f->uid == 0 ? left : left / 2;
	pthread_mutex_unlock(&lock);
	return r;
}

/* Under lock: may so much go there? */
static bool
take_memory(struct client_file *f, size_t n)
{
	if (!f->in_memory)
		return true;
	f->full = n > f->memory_max || n > CLIENT_FILE_MEMORY_MAX - memory_bytes;
	if (f->full)
		return false;
	memory_bytes += n;
	f->memory_max -= n;
	return true;
}

/* Under lock: what was not written after all. */
static void
give_memory_back(struct client_file *f, size_t n)
{
	if (!f->in_memory)
		return;
	memory_bytes -= n;
	f->memory_max += n;
}

bool
client_file_is_full(struct client_file *f)
{
	bool full;

	pthread_mutex_lock(&lock);
	full = f->full;
	pthread_mutex_unlock(&lock);
	return full;
}

static int
sink_write(struct io_sink *io, const void *p, size_t n)
{
	struct client_file *f = (struct client_file *)io;
	const uint8_t *from = p;
	int r = 0;

	pthread_mutex_lock(&lock);
	while (n && r == 0) {
		size_t part = n < ROOM_BYTES ? n : ROOM_BYTES;

		/* Then the thread may still read it. */
		if (!f->given_up)
			memcpy(f->room, from, part);
		if (!take_memory(f, part)) {
			r = -EDQUOT;
			break;
		}
		r = have_done(f, WRITE, part);
		/* What came of one that was given up nobody knows. */
		if (r < 0 && !f->given_up)
			give_memory_back(f, part);
		from += part;
		n -= part;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

static int
sink_sync(struct io_sink *io)
{
	return locked_have_done((struct client_file *)io, SYNC, 0);
}

static int
sink_cut(struct io_sink *io, uint64_t size)
{
	return locked_have_done((struct client_file *)io, CUT, size);
}

static void
refer(struct client_file *f, int by)
{
	pthread_mutex_lock(&lock);
	f->refs += (unsigned int)by;
	pthread_cond_broadcast(&f->change);
	pthread_mutex_unlock(&lock);
}

static void
sink_close(struct io_sink *io)
{
	refer((struct client_file *)io, -1);
}

struct io_sink *
client_file_sink(struct client_file *f)
{
	refer(f, 1);
	return &f->sink;
}

void
client_file_free(struct client_file *f)
{
	if (f)
		refer(f, -1);
}

void
client_file_give_up(struct client_file *f)
{
	pthread_mutex_lock(&lock);
	f->given_up = true;
	pthread_cond_broadcast(&f->change);
	pthread_mutex_unlock(&lock);
}

uint32_t
client_file_left(uid_t uid)
{
	const struct client_file *f;
	uint32_t n = 0;

	pthread_mutex_lock(&lock);
	LIST_FOREACH(f, &files, entry)
		n += (f->given_up || f->refs == 1) && (uid == (uid_t)-1 || f->uid == uid);
	pthread_mutex_unlock(&lock);
	return n;
}

/* --- its beginning --------------------------------------------------------------------------- */

static int
start_thread(struct client_file *f)
{
	int r;

	pthread_mutex_lock(&lock);
	r = descriptor_thread(client_file_body, f);
	if (r == 0)
		LIST_INSERT_HEAD(&files, f, entry);
	pthread_mutex_unlock(&lock);
	return r;
}

int
client_file_new(int fd, uid_t uid, struct client_file **ret)
{
	struct client_file *f = calloc(1, sizeof(*f));
	int r = -ENOMEM;

	if (f) {
		*f = (struct client_file){ .sink = { sink_write, sink_sync, sink_cut, sink_close },
					   .uid = uid,
					   .refs = 2,
					   .fd = fd };
		pthread_cond_init(&f->change, NULL);
		r = start_thread(f);
	}
	if (r < 0) {
		descriptor_close(fd, uid);
		free(f);
		return r;
	}
	*ret = f;
	return 0;
}
