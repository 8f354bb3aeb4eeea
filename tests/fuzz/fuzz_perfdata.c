/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A perf.data: walked, and imported into a recording that is then read. Whatever comes out
 * lies inside itself, rounds go forwards, and the recording has every kernel record that the
 * walk had, and every other item.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/block/foreign.h"
#include "format/recording/recording_reader.h"
#include "symbolizer/perfdata/perfdata_import.h"

/* A few packed bytes can become a great many records: an input of these would only be slow. */
#define RECORDS_MAX (1u << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct counts {
	uint64_t records, others;
};

static void
check(bool ok)
{
	if (!ok)
		abort();
}

static void
see(struct counts *c, const struct perfdata_item *item, uint64_t *complete)
{
	/* So that a byte outside is touched here and not by chance. */
	volatile uint8_t sum = 0;

	for (size_t i = 0; i < item->bytes.len; i++)
		sum ^= item->bytes.p[i];
	(void)sum;
	if (item->kind == PERFDATA_ITEM_ROUND) {
		check(item->complete_ns >= *complete);
		*complete = item->complete_ns;
	}
	if (item->kind == PERFDATA_ITEM_RECORD) {
		check(item->bytes.len >= 8 && item->bytes.len % 8 == 0);
		check(item->id < REC_USER_FIRST);
		c->records++;
	} else {
		c->others++;
	}
}

static bool
walk(const uint8_t *data, size_t size, struct counts *c)
{
	struct perfdata_reader *r;
	struct perfdata_item item;
	uint64_t complete = 0;

	if (perfdata_reader_open(io_source_memory(data, size), &r, NULL) != 0)
		return false;
	while (c->records < RECORDS_MAX && perfdata_reader_next(r, &item, NULL) > 0)
		see(c, &item, &complete);
	perfdata_reader_close(r);
	return c->records < RECORDS_MAX;
}

static int
sink_write(struct io_sink *self, const void *p, size_t n)
{
	struct buf *to = *(struct buf **)(self + 1);

	buf_append(to, p, n);
	return buf_failed(to) ? -1 : 0;
}

static int
sink_sync(struct io_sink *self)
{
	(void)self;
	return 0;
}

static int
sink_cut(struct io_sink *self, uint64_t size)
{
	(void)self;
	(void)size;
	return 0;
}

static void
sink_close(struct io_sink *self)
{
	free(self);
}

static struct io_sink *
sink_into(struct buf *to)
{
	struct io_sink *sink = malloc(sizeof(*sink) + sizeof(to));

	check(sink != NULL);
	*sink = (struct io_sink){ sink_write, sink_sync, sink_cut, sink_close };
	memcpy(sink + 1, &to, sizeof(to));
	return sink;
}

static void
count_block(const struct block *b, struct counts *c)
{
	struct span rest = b->payload, record;
	struct foreign f;

	if (b->header.type == BLOCK_RECORDS) {
		while (perf_record_next(&rest, &record) > 0)
			c->records++;
		check(rest.len == 0);
	} else if (b->header.type == BLOCK_FOREIGN) {
		while (foreign_next(&rest, &f) > 0)
			c->others++;
		check(rest.len == 0);
	}
}

static void
import(const uint8_t *data, size_t size, const struct counts *walked)
{
	struct perfdata_import_result result;
	struct counts read = { 0 };
	struct recording_reader *r;
	struct buf recording;
	struct block block;
	bool reading;

	buf_init(&recording);
	if (perfdata_import(io_source_memory(data, size), sink_into(&recording), &result, &reading,
			    NULL) == 0) {
		check(result.records == walked->records);
		check(recording_reader_open(io_source_memory(recording.p, recording.len), &r,
					    NULL) == 0);
		while (recording_reader_next(r, NULL, NULL, &block, NULL) > 0)
			count_block(&block, &read);
		check(recording_health_clean(recording_reader_health(r)));
		check(read.records == walked->records && read.others == walked->others);
		recording_reader_close(r);
	}
	buf_done(&recording);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct counts walked = { 0 };

	if (walk(data, size, &walked))
		import(data, size, &walked);
	return 0;
}
