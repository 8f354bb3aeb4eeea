/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/memory_share.h"

#include "format/model/task_model.h"
#include "format/unwind/unwind_ring.h"
#include "recorder/ground/queue.h"
#include "recorder/ground/session_options.h"
#include "recorder/live/live.h"

#define BASE_QUEUE_BYTES (8u << 20)
#define BASE_STACKS_BYTES (16u << 20)
#define BASE_MODEL_BYTES (14u << 20)
#define BASE_BLOCK_BYTES (1u << 20)

/* It has a picture of the host as the base stream has, and no samples in its queue. */
#define FLIGHT_MODEL_BYTES (10u << 20)
#define FLIGHT_BLOCK_BYTES (256u << 10)

/* Of max_captures together. Rings are not in MemoryMax, and have no other bound. */
#define RINGS_BYTES (256u << 20)
#define QUEUES_BYTES (16u << 20)
#define STACKS_BYTES (32u << 20)
#define MODELS_BYTES (6u << 20)
#define BLOCKS_BYTES (2u << 20)
#define MODEL_BYTES_MIN (512u << 10) /* a small host's */
#define BLOCK_BYTES_MIN (128u << 10)
#define STACKS_BYTES_MIN (1u << 20)

/*
 * A writer's buffers, measured over a build of this tree: 2.5 MiB for blocks of 256 KiB, 3.3 for 512, 5.0
 * for 1 MiB.
 */
#define WRITER_BYTES (1800u << 10)
#define OTHER_BYTES (384u << 10) /* caches of build-ids and users, stacks of threads */

void
memory_share_base(struct session_options *o)
{
	o->queue_bytes = BASE_QUEUE_BYTES;
	o->stacks_bytes_max = BASE_STACKS_BYTES;
	o->model_bytes = BASE_MODEL_BYTES;
	o->block_bytes = BASE_BLOCK_BYTES;
}

void
memory_share_flight(struct session_options *o)
{
	o->queue_bytes = QUEUE_BYTES_MIN;
	o->model_bytes = FLIGHT_MODEL_BYTES;
	o->block_bytes = FLIGHT_BLOCK_BYTES;
}

static uint64_t
at_least(uint64_t bytes, uint64_t min)
{
	return bytes < min ? min : bytes;
}

/* A queue is a power of two: the largest one that is not over. */
static uint64_t
queue_share(uint64_t bytes)
{
	uint64_t size = QUEUE_BYTES_MIN;

	while (size * 2 <= bytes)
		size *= 2;
	return size;
}

bool
memory_share_capture(uint32_t max_captures, uint32_t nr, bool flight, struct session_options *o)
{
	const uint32_t members = max_captures + (max_captures + 1) / 2;
	const uint32_t parts = (nr < members ? 1 : 4) * (flight ? 2 : 1) * max_captures;

	if (nr >= members + max_captures)
		return false;
	o->queue_bytes = queue_share(QUEUES_BYTES / parts);
	o->rings_bytes_max = RINGS_BYTES / parts;
	o->stacks_bytes_max = at_least(STACKS_BYTES / parts, STACKS_BYTES_MIN);
	o->model_bytes = at_least(MODELS_BYTES / parts, MODEL_BYTES_MIN);
	o->block_bytes = (uint32_t)at_least(BLOCKS_BYTES / parts, BLOCK_BYTES_MIN);
	if (o->block_bytes > BASE_BLOCK_BYTES)
		o->block_bytes = BASE_BLOCK_BYTES;
	return true;
}

uint64_t
memory_share_bytes(const struct session_options *o)
{
	const uint64_t stacks = o->stacks_bytes_max ? o->stacks_bytes_max + UNWIND_RING_BYTES : 0;

	return o->queue_bytes + stacks + o->model_bytes + o->model_bytes / TASK_MODEL_TASKS_PART +
		o->model_bytes / LIVE_PENDING_PART + WRITER_BYTES +
		(uint64_t)o->block_bytes * 7 / 2 + OTHER_BYTES;
}
