/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/io_shared.h"

#include <stdatomic.h>
#include <stdlib.h>

struct shared_source {
	struct io_source *source;
	atomic_flag in_data; /* its data() has a position */
	atomic_uint users;
};

struct shared_half {
	struct io_source io;
	struct shared_source *shared;
};

static struct io_source *
shared_half_source(struct io_source *io)
{
	return ((struct shared_half *)io)->shared->source;
}

static ssize_t
shared_half_read(struct io_source *io, uint64_t offset, void *p, size_t n)
{
	struct io_source *source = shared_half_source(io);

	return source->read(source, offset, p, n);
}

static int64_t
shared_half_size(struct io_source *io)
{
	struct io_source *source = shared_half_source(io);

	return source->size(source);
}

static uint64_t
shared_half_data(struct io_source *io, uint64_t offset)
{
	struct shared_source *shared = ((struct shared_half *)io)->shared;
	uint64_t at = offset;

	/* It is one lseek(2): other readers wait for that. */
	while (atomic_flag_test_and_set(&shared->in_data))
		;
	if (shared->source->data)
		at = shared->source->data(shared->source, offset);
	atomic_flag_clear(&shared->in_data);
	return at;
}

static void
shared_half_close(struct io_source *io)
{
	struct shared_half *self = (struct shared_half *)io;
	struct shared_source *shared = self->shared;

	if (atomic_fetch_sub(&shared->users, 1) == 1) {
		shared->source->close(shared->source);
		free(shared);
	}
	free(self);
}

static struct io_source *
new_half(struct shared_source *shared)
{
	struct shared_half *half = calloc(1, sizeof(*half));

	if (!half)
		return NULL;
	half->io = (struct io_source){ shared_half_read, shared_half_size, shared_half_close,
				       shared_half_data };
	half->shared = shared;
	atomic_fetch_add(&shared->users, 1);
	return &half->io;
}

struct io_source *
io_source_share(struct io_source *source, struct io_source **ret_other)
{
	struct shared_source *shared = calloc(1, sizeof(*shared));
	struct io_source *half = NULL;

	if (!shared) {
		source->close(source);
		return NULL;
	}
	shared->source = source;
	atomic_flag_clear(&shared->in_data);
	atomic_init(&shared->users, 0);
	half = new_half(shared);
	if (!half) {
		free(shared);
		source->close(source);
		return NULL;
	}
	*ret_other = new_half(shared);
	if (*ret_other)
		return half;
	half->close(half);
	return NULL;
}

struct io_source *
io_source_another(const struct io_source *half)
{
	return new_half(((const struct shared_half *)half)->shared);
}
