/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/queue.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define QUEUE_PAD UINT32_MAX /* kind of what fills the end of the buffer */
/*
 * The buffer has so many parts. A lap ends no sooner than at one part: until the consumer is at its beginning, the next
 * lap has only that much room. Two parts keep their memory.
 */
#define QUEUE_PARTS 16
#define QUEUE_CALM_LAPS 4 /* without a burst, until what one took is given back */

/* In the buffer, at multiples of its own size, so that it never goes round the end. */
struct queue_header {
	uint32_t kind;
	uint32_t bytes;
	uint64_t a, b;
	uint64_t reserved;
};
_Static_assert(sizeof(struct queue_header) == 32, "a header fits wherever a message ends");

struct queue {
	uint8_t *p;
	size_t size; /* power of two */
	size_t part; /* bytes of a part, see QUEUE_PARTS */
	int wake_fd;
	/* Producer's. */
	_Alignas(64) _Atomic uint64_t head; /* written: release; pairs with queue_peek() */
	uint64_t reserved_at;
	uint64_t tail_seen;
	size_t touched;	   /* of the buffer, from its front: it has memory */
	size_t lap;	   /* likewise, since it was begun at its front */
	unsigned int calm; /* laps since one that was longer than two parts */
	/* Consumer's. */
	_Alignas(64) _Atomic uint64_t tail; /* read: release; pairs with room() */
	_Atomic bool asleep;		    /* pairs in queue_wait() and queue_wake() */
};

int
queue_new(size_t bytes, struct queue **ret)
{
	struct queue *q = aligned_alloc(64, (sizeof(*q) + 63) & ~(size_t)63);
	size_t size = QUEUE_BYTES_MIN;
	int r;

	if (!q)
		return -ENOMEM;
	while (size < bytes)
		size *= 2;
	*q = (struct queue){ .size = size, .part = size / QUEUE_PARTS, .wake_fd = -1 };
	if (q->part < QUEUE_BYTES_MIN)
		q->part = QUEUE_BYTES_MIN;
	q->p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (q->p == MAP_FAILED)
		goto fail;
	q->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (q->wake_fd < 0)
		goto fail;
	*ret = q;
	return 0;
fail:
	r = -errno;
	queue_free(q);
	return r;
}

void
queue_free(struct queue *q)
{
	if (!q)
		return;
	if (q->wake_fd >= 0)
		close(q->wake_fd);
	if (q->p != MAP_FAILED)
		munmap(q->p, q->size);
	free(q);
}

static size_t
message_size(size_t bytes)
{
	return sizeof(struct queue_header) + ((bytes + 31) & ~(size_t)31);
}

static struct queue_header *
header_at(const struct queue *q, uint64_t at)
{
	return (struct queue_header *)(void *)(q->p + (at & (q->size - 1)));
}

/* The tail is the consumer's cache line: asked for only when what was seen is not enough. */
static bool
room(struct queue *q, uint64_t until)
{
	if (until - q->tail_seen <= q->size)
		return true;
	/* Pairs with the release in queue_next(). */
	q->tail_seen = atomic_load_explicit(&q->tail, memory_order_acquire);
	return until - q->tail_seen <= q->size;
}

/*
 * A lap is over, and all has been read. What lies behind the front is not needed soon, when it
 * has not been for some laps. Sooner would cost more than it saves: where the consumer gets too
 * little CPU every lap is a burst, and each page would be cleared for each.
 */
static void
end_lap(struct queue *q)
{
	if (q->lap == 0)
		return; /* it was reserved in vain */
	q->calm = q->lap > 2 * q->part ? 0 : q->calm + 1;
	q->lap = 0;
	if (q->calm < QUEUE_CALM_LAPS || q->touched <= 4 * q->part)
		return;
	madvise(q->p + 2 * q->part, q->touched - 2 * q->part, MADV_DONTNEED);
	q->touched = 2 * q->part;
}

/*
 * Starts again at the front when all has been read and the front was left far behind: the
 * memory that is written stays small, and in the cache, as long as the consumer keeps up.
 */
static bool
start_again(struct queue *q, uint64_t head)
{
	if ((head & (q->size - 1)) < q->part)
		return false;
	q->tail_seen = atomic_load_explicit(&q->tail, memory_order_acquire);
	return q->tail_seen == head;
}

uint8_t *
queue_reserve(struct queue *q, size_t bytes)
{
	uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
	size_t need = message_size(bytes);
	size_t until_end = q->size - (head & (q->size - 1));

	assert(bytes <= QUEUE_MESSAGE_MAX);
	q->reserved_at = head;
	if (need > until_end || start_again(q, head)) {
		if (!room(q, head + until_end + need))
			return NULL;
		if (q->tail_seen == head)
			end_lap(q);
		*header_at(q, head) = (struct queue_header){
			.kind = QUEUE_PAD,
			.bytes = (uint32_t)(until_end - sizeof(struct queue_header))
		};
		q->reserved_at = head + until_end;
	} else if (!room(q, head + need)) {
		return NULL;
	}
	return (uint8_t *)(header_at(q, q->reserved_at) + 1);
}

void
queue_commit(struct queue *q, uint32_t kind, uint64_t a, uint64_t b, size_t bytes)
{
	size_t until = (q->reserved_at & (q->size - 1)) + message_size(bytes);

	*header_at(q, q->reserved_at) =
		(struct queue_header){ .kind = kind, .bytes = (uint32_t)bytes, .a = a, .b = b };
	q->lap = until > q->lap ? until : q->lap;
	q->touched = until > q->touched ? until : q->touched;
	/* Pairs with the acquire in queue_peek(). */
	atomic_store_explicit(&q->head, q->reserved_at + message_size(bytes), memory_order_release);
}

bool
queue_send(struct queue *q, uint32_t kind, uint64_t a, uint64_t b)
{
	if (!queue_reserve(q, 0))
		return false;
	queue_commit(q, kind, a, b, 0);
	return true;
}

bool
queue_send_bytes(struct queue *q, uint32_t kind, const void *p, size_t bytes)
{
	uint8_t *to = queue_reserve(q, bytes);

	if (!to)
		return false;
	memcpy(to, p, bytes);
	queue_commit(q, kind, 0, 0, bytes);
	return true;
}

void
queue_wake(struct queue *q)
{
	/* Pairs with the fence in queue_wait(): either it sees the head or we see it asleep. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_exchange_explicit(&q->asleep, false, memory_order_relaxed))
		(void)eventfd_write(q->wake_fd, 1);
}

bool
queue_peek(struct queue *q, struct queue_message *ret)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
	const struct queue_header *h;

	/* Pairs with the release in queue_commit(). */
	if (tail == atomic_load_explicit(&q->head, memory_order_acquire))
		return false;
	h = header_at(q, tail);
	if (h->kind == QUEUE_PAD) {
		/* A pad is never the last: a message was committed with it. */
		tail += sizeof(*h) + h->bytes;
		atomic_store_explicit(&q->tail, tail, memory_order_release);
		h = header_at(q, tail);
	}
	*ret = (struct queue_message){ h->kind, h->bytes, h->a, h->b, (const uint8_t *)(h + 1) };
	return true;
}

bool
queue_crowded(const struct queue *q)
{
	return atomic_load_explicit(&q->head, memory_order_acquire) -
		atomic_load_explicit(&q->tail, memory_order_relaxed) >
		q->size / 4;
}

void
queue_next(struct queue *q)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	/* Pairs with the acquire in room(): what was read is free only after the reads. */
	atomic_store_explicit(&q->tail, tail + message_size(header_at(q, tail)->bytes),
			      memory_order_release);
}

void
queue_wait(struct queue *q, int other_fd)
{
	struct pollfd p[2] = { { .fd = q->wake_fd, .events = POLLIN },
			       { .fd = other_fd, .events = POLLIN } };
	uint64_t n;

	atomic_store_explicit(&q->asleep, true, memory_order_relaxed);
	/* Pairs with the fence in queue_wake(). */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&q->tail, memory_order_relaxed) !=
	    atomic_load_explicit(&q->head, memory_order_acquire)) {
		atomic_store_explicit(&q->asleep, false, memory_order_relaxed);
		return;
	}
	/* One call does where there is one to wait for. */
	while (other_fd >= 0 && poll(p, 2, -1) < 0 && errno == EINTR)
		;
	/* A wake that comes after this look is for the next wait. */
	if (other_fd >= 0 && !p[0].revents)
		return;
	while (read(q->wake_fd, &n, sizeof(n)) < 0 && errno == EINTR)
		;
}
