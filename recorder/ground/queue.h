/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue: messages from one thread to one other, in memory that was there from the start.
 *
 * A circular buffer of {header, bytes}. The producer never waits: with no room it is told
 * so. The consumer reads in place, and sleeps on an eventfd while there is nothing.
 */
#ifndef RECORDER_GROUND_QUEUE_H
#define RECORDER_GROUND_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUEUE_MESSAGE_MAX (256u << 10) /* bytes of one message */
#define QUEUE_BYTES_MIN (1u << 20)

struct queue;

struct queue_message {
	uint32_t kind;	/* the users' */
	uint32_t bytes; /* that follow */
	uint64_t a, b;	/* the users' */
	const uint8_t *p;
};

/* bytes is rounded up to a power of two of at least QUEUE_BYTES_MIN. -ENOMEM, -errno. */
int queue_new(size_t bytes, struct queue **ret);
void queue_free(struct queue *q);

/* Producer: where the bytes of a message go, or NULL when there is no room now. */
uint8_t *queue_reserve(struct queue *q, size_t bytes);
/* Producer: sends what was reserved last; bytes may be fewer. */
void queue_commit(struct queue *q, uint32_t kind, uint64_t a, uint64_t b, size_t bytes);
/* Producer: a message without bytes; false: no room. */
bool queue_send(struct queue *q, uint32_t kind, uint64_t a, uint64_t b);
/* Producer: a message of these bytes; false: no room. */
bool queue_send_bytes(struct queue *q, uint32_t kind, const void *p, size_t bytes);
/* Producer: wakes the consumer if it sleeps. Messages are seen without it, only later. */
void queue_wake(struct queue *q);

/* Consumer: looks at the oldest message; false: there is none. */
bool queue_peek(struct queue *q, struct queue_message *ret);
/* Consumer: is more than a quarter of it in use? */
bool queue_crowded(const struct queue *q);
/* Consumer: done with it; its room is the producer's again. */
void queue_next(struct queue *q);
/* Consumer: until there is a message, or, if it is not -1, the other descriptor is readable. */
void queue_wait(struct queue *q, int other_fd);

#endif
