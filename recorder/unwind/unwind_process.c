/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/unwind/unwind_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bsd/string.h>

#include "format/bytes/time_text.h"
#include "recorder/helper/helper.h"
#include "recorder/helper/helper_pool.h"
#include "recorder/helper/helper_serve.h"
#include "recorder/host/host.h"

#define PROGRAM "spoor-unwind"
#ifndef SPOOR_LIBEXECDIR
#define SPOOR_LIBEXECDIR "/usr/local/libexec"
#endif
#define AGAIN_NS SECOND_NS /* after the first end; twice as long after each other one */
#define AGAIN_NS_MAX (UINT64_C(60) * SECOND_NS)
#define COUNTED_NS_MAX (UINT64_C(60) * SECOND_NS)
#define WORKED_NS (UINT64_C(10) * SECOND_NS)
#define STALLED_NS (UINT64_C(5) * SECOND_NS) /* without an entry done */
#define STARVED_NS (UINT64_C(15) * SECOND_NS)
#define MEMORY_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct unwind_process {
	struct helper_pool *pool;
	struct unwind_start start;
	struct helper *helper; /* NULL: there is none */
	bool heard;	       /* it has said that it is there */
	struct unwind_ring ring;
	void *memory;
	size_t bytes;
	bool fresh;	     /* it has begun, and the caller does not know */
	uint32_t ended_over; /* a file's number, that the caller does not know */
	uint64_t began_ns;
	uint64_t after_ns;	  /* not sooner is it started again */
	uint64_t wait_ns;	  /* that the next one waits */
	uint64_t head;		  /* of the ring, at the last look */
	uint64_t taken, moved_ns; /* how far it was, and when it had come so far */
	uint64_t cpu_ns;	  /* of this one, as it is counted already */
	uint64_t used_ns;	  /* of all of them */
	struct news news;
	bool told;
};

/* --- the program ------------------------------------------------------------------------- */

/* Beside this program, as it was built, or where it is installed, wherever that was moved to. */
static void
execute(int fd)
{
	static const char *const places[] = { PROGRAM, "../libexec/" PROGRAM };
	static char path[PATH_MAX + sizeof("/../libexec/" PROGRAM)];
	static struct helper_shun shun;
	char *const argv[] = { (char *)(uintptr_t)PROGRAM, NULL }, *const environment[] = { NULL };
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	/* helper.c has it there. Every worker is first sent the list of processes to avoid; this one drops it. */
	if (fd != UNWIND_SOCKET || fcntl(fd, F_SETFD, 0) < 0 ||
	    helper_take(fd, &shun, sizeof(shun)) <= 0)
		return;
	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++) {
		(void)strlcpy(slash + 1, places[i], sizeof(path) - (size_t)(slash + 1 - path));
		(void)execve(path, argv, environment);
	}
	(void)execve(SPOOR_LIBEXECDIR "/" PROGRAM, argv, environment);
}

static const struct helper_work unwind_work = { execute, 0 };

/* --- life -------------------------------------------------------------------------------- */

struct unwind_process *
unwind_process_new(struct helper_pool *pool, const char *machine, size_t stacks_bytes)
{
	struct unwind_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pool = pool;
	p->bytes = UNWIND_RING_BYTES + stacks_bytes;
	p->start.version = UNWIND_VERSION;
	(void)strlcpy(p->start.machine, machine, sizeof(p->start.machine));
	p->wait_ns = AGAIN_NS;
	news_init(&p->news);
	return p;
}

static void
drop_memory(struct unwind_process *p)
{
	if (p->memory)
		(void)munmap(p->memory, p->bytes);
	p->memory = NULL;
}

void
unwind_process_free(struct unwind_process *p)
{
	if (!p)
		return;
	helper_close(p->helper);
	drop_memory(p);
	free(p);
}

/* Another one for each: what was left of the one before is not believed. Its descriptor, -errno. */
static int
make_memory(struct unwind_process *p)
{
	int fd = memfd_create("spoor-unwind", MFD_CLOEXEC | MFD_ALLOW_SEALING), r = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)p->bytes) < 0 || fcntl(fd, F_ADD_SEALS, MEMORY_SEALS) < 0)
		r = -errno;
	if (r == 0) {
		p->memory = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p->memory == MAP_FAILED) {
			r = -errno;
			p->memory = NULL;
		}
	}
	if (r == 0)
		/* Stacks of others are in no core file of ours. */
		(void)madvise(p->memory, p->bytes, MADV_DONTDUMP);
	if (r == 0 && unwind_ring_init(&p->ring, p->memory, p->bytes))
		return fd;
	drop_memory(p);
	(void)close(fd);
	return r < 0 ? r : -EINVAL;
}

static void
count_cpu(struct unwind_process *p)
{
	const uint64_t ns = unwind_ring_cpu_ns(&p->ring);

	/* What it tells only grows, and not by more than there was. */
	if (ns <= p->cpu_ns)
		return;
	if (ns - p->cpu_ns < COUNTED_NS_MAX)
		p->used_ns += ns - p->cpu_ns;
	p->cpu_ns = ns;
}

static void
lose(struct unwind_process *p, uint64_t now_ns)
{
	count_cpu(p);
	p->ended_over = unwind_ring_reading(&p->ring);
	helper_close(p->helper);
	p->helper = NULL;
	drop_memory(p);
	/* It ran for long before it ended: the next wait is short again. */
	if (now_ns > p->began_ns + WORKED_NS)
		p->wait_ns = AGAIN_NS;
	p->after_ns = now_ns + p->wait_ns;
	p->wait_ns = p->wait_ns * 2 < AGAIN_NS_MAX ? p->wait_ns * 2 : AGAIN_NS_MAX;
}

static void
begin(struct unwind_process *p, uint64_t now_ns)
{
	int fd, r;

	p->after_ns = now_ns + p->wait_ns;
	if (helper_pool_open(p->pool, &unwind_work, &p->helper) < 0) {
		p->helper = NULL;
		return;
	}
	fd = make_memory(p);
	r = fd < 0 ? fd : helper_send_fd(p->helper, &p->start, sizeof(p->start), fd);
	if (fd >= 0)
		(void)close(fd);
	if (r < 0) {
		helper_close(p->helper);
		p->helper = NULL;
		drop_memory(p);
		return;
	}
	p->fresh = true;
	p->taken = p->head = p->cpu_ns = 0;
	p->heard = false;
	p->began_ns = p->moved_ns = now_ns;
}

/*
 * The worker's first word comes before the program's start. After that nothing is listened to: what comes of the process is
 * its end.
 */
static bool
has_ended(struct unwind_process *p)
{
	struct pollfd s = { .fd = helper_fd(p->helper), .events = POLLIN };
	char rest[16];

	if (poll(&s, 1, 0) <= 0)
		return false;
	if (p->heard)
		return true;
	p->heard = true;
	return helper_receive(p->helper, rest, sizeof(rest)) != 0;
}

/* Has it had something to do for long, and done nothing of it? One that waits for a CPU has more time. */
static bool
stands_still(struct unwind_process *p, uint64_t now_ns)
{
	const uint64_t taken = unwind_ring_taken(&p->ring);
	const bool moved = taken != p->taken || taken == p->head;

	if (moved || now_ns < p->moved_ns) {
		p->taken = taken;
		p->moved_ns = now_ns;
	}
	p->head = p->ring.head;
	return now_ns - p->moved_ns > STALLED_NS &&
		(helper_sleeps(p->helper) || now_ns - p->moved_ns > STARVED_NS);
}

bool
unwind_process_ready(struct unwind_process *p, uint64_t now_ns, bool *ret_again, uint32_t *ret_file)
{
	if (p->helper && (has_ended(p) || stands_still(p, now_ns))) {
		if (!unwind_ring_taken(&p->ring) && !p->told) {
			p->told = true;
			news_put(&p->news, NEWS_NO_USER,
				 PROGRAM " does not work, or is not there (" SPOOR_LIBEXECDIR
					 "): call graphs follow frame pointers meanwhile");
		}
		lose(p, now_ns);
	}
	if (p->helper)
		count_cpu(p);
	else if (now_ns >= p->after_ns)
		begin(p, now_ns);
	*ret_again = p->fresh;
	*ret_file = p->ended_over;
	p->fresh = false;
	p->ended_over = 0;
	return p->helper != NULL;
}

void
unwind_process_restart(struct unwind_process *p, uint64_t now_ns)
{
	if (!p->helper)
		return;
	lose(p, now_ns);
	p->ended_over = 0;
	p->wait_ns = AGAIN_NS;
	p->after_ns = now_ns + AGAIN_NS;
}

uint64_t
unwind_process_used_ns(const struct unwind_process *p)
{
	return p->used_ns;
}

struct unwind_ring *
unwind_process_ring(struct unwind_process *p)
{
	return &p->ring;
}

int
unwind_process_join(struct unwind_process *p, const struct helper_end *giver, int bytes)
{
	const uint8_t offers = 1;

	return helper_join(&(struct helper_end){ p->helper, &offers, sizeof(offers) }, giver,
			   bytes);
}

void
unwind_process_knock(struct unwind_process *p)
{
	const uint8_t knock = 0;

	/* Where it has no room for it, it has been knocked at. */
	(void)helper_send(p->helper, &knock, sizeof(knock), NULL, 0);
}

bool
unwind_process_news(struct unwind_process *p, struct news_line *ret)
{
	return news_take(&p->news, ret);
}
