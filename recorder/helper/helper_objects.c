/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/helper/helper_objects.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/bytes/time_text.h"
#include "recorder/helper/helper.h"
#include "recorder/helper/helper_rights.h"
#include "recorder/helper/helper_serve_internal.h"
#include "recorder/helper/object_copy.h"
#include "recorder/host/host.h"

#define USERS 64
#define HOUR_NS (3600 * SECOND_NS)
#define PROGRESS_NS (SECOND_NS / 5) /* between two signs of life */
#define READ_NS (10 * SECOND_NS)    /* for one file */
/* It rests for as many times the CPU time of a file: a flood of new programs costs a tenth of a CPU. */
#define RESTS 9

struct user {
	uint32_t uid;
	uint64_t since_ns, bytes;
};

struct storer {
	int fd;	    /* to the recorder */
	int offers; /* -1: none yet */
	struct helper_store store;
	struct shunned shunned;
	struct stint stint;
	struct user users[USERS];
	unsigned int renewed; /* parts of the copies that were there */
	uint64_t stored;      /* bytes, since it began */
	/* Of the file that it is at. */
	struct helper_object at;
	uint64_t began_ns, told_ns;
};

/* The place of a user, or of whom was not heard of for longest. */
static struct user *
user_of(struct storer *s, uint32_t uid)
{
	uint64_t now_ns = host_now_ns();
	struct user *at = s->users;

	for (size_t i = 0; i < USERS; i++) {
		struct user *u = &s->users[i];

		if (u->since_ns && now_ns - u->since_ns >= HOUR_NS)
			*u = (struct user){ 0 };
		if (u->since_ns && u->uid == uid)
			return u;
		if (u->since_ns < at->since_ns)
			at = u;
	}
	*at = (struct user){ .uid = uid, .since_ns = now_ns };
	return at;
}

static bool
is_allowed(struct storer *s, uint32_t uid, uint64_t bytes)
{
	if (s->stored > s->store.allowed_bytes || bytes > s->store.allowed_bytes - s->stored)
		return false;
	return uid == 0 || user_of(s, uid)->bytes + bytes <= s->store.user_bytes;
}

static void
is_stored(struct storer *s, uint32_t uid, uint64_t bytes)
{
	s->stored += bytes;
	if (uid != 0)
		user_of(s, uid)->bytes += bytes;
}

static int
tell(struct storer *s, enum helper_object_step step, int rc)
{
	s->at.step = step;
	s->at.rc = rc;
	s->told_ns = host_now_ns();
	return helper_give(s->fd, &s->at, sizeof(s->at), NULL, 0);
}

/* As object_copy_fn. */
static int
still_reads(void *arg)
{
	struct storer *s = arg;
	uint64_t now_ns = host_now_ns();

	if (now_ns - s->began_ns >= READ_NS)
		return -1;
	return now_ns - s->told_ns >= PROGRESS_NS ? tell(s, OBJECT_READS, 0) : 0;
}

static int
copy(struct storer *s, int fd, const struct unwind_offer *o)
{
	struct object_copy c = { .nr = 0 };
	int r = tell(s, OBJECT_READS, 0);

	if (r == 0 && !is_allowed(s, o->uid, 1))
		r = -EDQUOT;
	stint_begin(&s->stint);
	if (r == 0)
		r = object_copy_read(&c, fd, &o->id, still_reads, s);
	s->at.took_ns = stint_took_ns(&s->stint);
	if (r == 0 && !is_allowed(s, o->uid, stored_object_count(c.bytes.len)))
		r = -EDQUOT;
	if (r == 0)
		r = tell(s, OBJECT_WRITES, 0);
	s->at.ours = r == 0;
	if (r == 0)
		r = object_copy_write(&c, s->store.dir, &s->at.bytes);
	if (r == 0)
		is_stored(s, o->uid, s->at.bytes);
	object_copy_done(&c);
	return r;
}

static bool
is_shunned(const struct storer *s, const struct unwind_offer *o)
{
	const uint64_t now_ns = host_now_ns();

	return shunned_has(&s->shunned, SHUNNED_USER, o->uid, now_ns) ||
		shunned_has(&s->shunned, SHUNNED_PROCESS, (uint64_t)o->pid, now_ns) ||
		shunned_has(&s->shunned, SHUNNED_DEVICE, shunned_device(o->maj, o->min), now_ns);
}

static uint64_t
cpu_now_ns(void)
{
	struct timespec cpu;

	return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0 ? (uint64_t)time_text_ns(&cpu)
								  : 0;
}

/* A file that was found. False: nobody asks any more. */
static bool
take_offer(struct storer *s)
{
	char sub[3], name[STORED_NAME_BYTES];
	struct unwind_offer o;
	struct stat st;
	int fd, r;
	ssize_t n = helper_take_fd(s->offers, &o, sizeof(o), &fd);

	if (n != (ssize_t)sizeof(o) || fd < 0 || o.id.size > BUILDID_MAX) {
		/* The worker that finds files has ended: there will be another one. */
		if (fd >= 0)
			(void)close(fd);
		(void)close(s->offers);
		s->offers = -1;
		return true;
	}
	s->began_ns = host_now_ns();
	s->at = (struct helper_object){
		.pid = o.pid, .uid = o.uid, .maj = o.maj, .min = o.min, .id = o.id
	};
	if (fstat(fd, &st) < 0)
		r = -errno;
	/* That is how its author made it. */
	else if (!stored_object_name(&o.id, sub, name))
		r = -ENOEXEC;
	else if (object_copy_touch(s->store.dir, &o.id, object_copy_owner(fd, &st)))
		r = -EEXIST;
	else
		r = is_shunned(s, &o) ? -EACCES : copy(s, fd, &o);
	(void)close(fd);
	return tell(s, OBJECT_DONE, r) == 0;
}

static void
touch(const struct storer *s, const uint8_t *ids, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct buildid id;

		memcpy(&id, ids + i * sizeof(id), sizeof(id));
		object_copy_use(s->store.dir, &id);
	}
}

/* What has been passed on so far, at once: somebody waits for it. */
static bool
flush(struct storer *s)
{
	struct pollfd p = { .fd = s->offers, .events = POLLIN };
	bool more = true;

	while (more && s->offers >= 0 && poll(&p, 1, 0) > 0) {
		more = take_offer(s);
		p.fd = s->offers;
	}
	return more && tell(s, OBJECT_FLUSHED, 0) == 0;
}

/* What the recorder says. False: there will be no more. */
static bool
take_word(struct storer *s, void *room)
{
	const struct helper_touch *t = room;
	uint32_t kind;
	int fd;
	ssize_t n = helper_take_fd(s->fd, room, HELPER_MESSAGE_MAX, &fd);

	if (n < (ssize_t)sizeof(kind))
		return false;
	memcpy(&kind, room, sizeof(kind));
	if (kind == HELPER_STORE && n == (ssize_t)sizeof(s->store) && fd >= 0) {
		if (s->offers >= 0)
			(void)close(s->offers);
		memcpy(&s->store, room, sizeof(s->store));
		s->store.dir[sizeof(s->store.dir) - 1] = '\0';
		s->offers = fd;
		return true;
	}
	if (kind == HELPER_SHUN && n == (ssize_t)sizeof(struct helper_shun))
		s->shunned = ((const struct helper_shun *)room)->shunned;
	else if (kind == HELPER_ALLOW && n == (ssize_t)sizeof(struct helper_allow))
		s->store.allowed_bytes = ((const struct helper_allow *)room)->allowed_bytes;
	else if (kind == HELPER_TOUCH && n >= (ssize_t)sizeof(*t) &&
		 (size_t)n == sizeof(*t) + t->nr * sizeof(struct buildid))
		touch(s, (const uint8_t *)room + sizeof(*t), t->nr);
	if (fd >= 0)
		(void)close(fd);
	return kind != HELPER_FLUSH || flush(s);
}

static void
serve_objects(int fd)
{
	struct storer *s = calloc(1, sizeof(*s));
	void *room = malloc(HELPER_MESSAGE_MAX);
	uint64_t rest_until_ns = 0;
	bool more = s && room;

	if (s)
		*s = (struct storer){ .fd = fd, .offers = -1, .stint = stint_open() };
	while (more) {
		struct pollfd p[2] = { { .fd = fd, .events = POLLIN },
				       { .fd = s->offers, .events = POLLIN } };
		const bool old = s->offers >= 0 && s->renewed < OBJECT_COPY_PARTS;
		const uint64_t now_ns = host_now_ns();
		const bool rests = now_ns < rest_until_ns;

		/* The recorder is heard while it rests. */
		if (poll(p, rests ? 1 : 2,
			 rests	       ? (int)((rest_until_ns - now_ns) / 1000000) + 1
				 : old ? 0
				       : -1) < 0)
			more = errno == EINTR;
		else if (p[0].revents)
			more = take_word(s, room);
		else if (!rests && (p[1].revents || old)) {
			const uint64_t before_ns = cpu_now_ns();

			if (old)
				object_copy_renew(s->store.dir, s->renewed++);
			if (p[1].revents)
				more = take_offer(s);
			rest_until_ns = host_now_ns() + RESTS * (cpu_now_ns() - before_ns);
		}
	}
	free(room);
	free(s);
}

const struct helper_work helper_objects = { serve_objects, 0 };
const struct helper_work helper_objects_of_root = { serve_objects,
						    HELPER_RIGHT(CAP_DAC_READ_SEARCH) };
