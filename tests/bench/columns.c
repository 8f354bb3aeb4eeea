/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the records of a recording take in it, and what zstd would make of the same records:
 *
 *	columns [-n ROUNDS] RECORDING
 *
 * Bytes by columns are those that the file has, with the headers of its blocks: of the blocks of
 * samples, and of these and the blocks of side-band. Beside them zstd of level 1 over the raw
 * records in frames of 256 KiB, as dense as perf -z gets at best: it packs each read of a ring by
 * itself. Times are CPU time of this thread, of blocks of samples encoded, packed and decoded
 * again; each has to come back byte for byte. Prints one line of JSON.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bsd/stdlib.h>
#include <zstd.h>

#include "format/bytes/zstd_frame.h"
#include "format/columns/columns.h"
#include "format/recording/recording_reader.h"

#define FRAME_BYTES (256u << 10)

/* Records of one kind: samples, or all. */
struct kind {
	struct buf raw;
	uint64_t stored_bytes; /* of its blocks in the file */
};

struct times {
	double encode, pack, decode, zstd;
};

static ZSTD_CCtx *zstd;
static struct buf packed;

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool
is_records(const struct block_header *h, void *arg)
{
	(void)arg;
	return h->type == BLOCK_RECORDS;
}

static void
add_block(struct kind *k, const struct block *b)
{
	buf_append(&k->raw, b->payload.p, b->payload.len);
	if (buf_failed(&k->raw))
		errx(1, "out of memory");
	k->stored_bytes += b->header.header_size + b->header.stored_length;
}

static size_t
pack(struct span bytes, const struct zstd_parts *parts)
{
	size_t bound = zstd_frame_bound(bytes.len, parts->nr_cuts), n;

	buf_clear(&packed);
	if (!buf_reserve(&packed, bound))
		errx(1, "out of memory");
	n = zstd_frame_pack(zstd, bytes, parts, packed.p, bound);
	if (n == 0)
		errx(1, "zstd");
	return n;
}

static size_t
pack_raw(struct span records)
{
	const struct zstd_parts whole = { 0 };
	struct span frame;
	size_t total = 0;

	while (span_take(&records, records.len < FRAME_BYTES ? records.len : FRAME_BYTES, &frame) &&
	       frame.len > 0)
		total += pack(frame, &whole);
	return total;
}

/* One block of samples by columns, packed, and back. */
static void
time_block(struct columns_encoder *encoder, const struct event_set *events, const struct block *b,
	   struct times *t)
{
	static struct buf columns, back;
	struct fmt_where where;
	struct zstd_parts parts;
	double a = now_ns(), c, d;

	buf_clear(&columns);
	buf_clear(&back);
	if (columns_encode(encoder, events, b->payload, &columns) != 0)
		errx(1, "columns_encode");
	c = now_ns();
	t->encode += c - a;
	parts.nr_cuts = columns_encoder_cuts(encoder, &parts.cuts);
	parts.numbers = columns_encoder_numbers(encoder);
	pack(buf_span(&columns), &parts);
	d = now_ns();
	t->pack += d - c;
	if (columns_decode(buf_span(&columns), b->header.records, BLOCK_RAW_MAX, &back, &where) !=
	    0)
		errx(1, "%s", where.detail);
	t->decode += now_ns() - d;
	if (back.len != b->payload.len || memcmp(back.p, b->payload.p, back.len) != 0)
		errx(1, "a block of %zu bytes does not come back", b->payload.len);
}

static struct recording_reader *
open_recording(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct recording_reader *r;
	struct fmt_where where;

	if (fd < 0)
		err(1, "%s", path);
	if (recording_reader_open(io_source_fd(fd), &r, &where) != 0)
		errx(1, "%s: %s", path, where.detail);
	return r;
}

static void
measure(const char *path, int rounds)
{
	struct recording_reader *r = open_recording(path);
	struct columns_encoder *encoder = columns_encoder_new();
	struct kind samples = { 0 }, all = { 0 };
	struct times t = { 0 };
	uint64_t n = 0;
	struct fmt_where where;
	struct block b;
	double per, a;

	if (!encoder)
		errx(1, "out of memory");
	while (recording_reader_next(r, is_records, NULL, &b, &where) > 0) {
		add_block(&all, &b);
		if (b.header.samples < b.header.records)
			continue;
		add_block(&samples, &b);
		n += b.header.samples;
		for (int i = 0; i < rounds; i++)
			time_block(encoder, recording_reader_meta(r)->events, &b, &t);
	}
	a = now_ns();
	for (int i = 0; i < rounds; i++)
		pack_raw(buf_span(&samples.raw));
	t.zstd = now_ns() - a;
	per = 1 / ((double)n * rounds);
	printf("{\"samples\": %" PRIu64 ", \"file\": %" PRIu64
	       ", \"raw\": [%zu, %zu], \"stored\": [%" PRIu64 ", %" PRIu64 "], \"zstd\": [%zu, %zu]"
	       ", \"encode_ns\": %.0f, \"pack_ns\": %.0f, \"decode_ns\": %.0f, \"zstd_ns\": %.0f}\n",
	       n, recording_reader_size(r), samples.raw.len, all.raw.len, samples.stored_bytes,
	       all.stored_bytes, pack_raw(buf_span(&samples.raw)), pack_raw(buf_span(&all.raw)),
	       t.encode * per, t.pack * per, t.decode * per, t.zstd * per);
	recording_reader_close(r);
	columns_encoder_free(encoder);
	buf_done(&samples.raw);
	buf_done(&all.raw);
}

int
main(int argc, char **argv)
{
	int rounds = 5;

	if (argc == 4 && strcmp(argv[1], "-n") == 0)
		rounds = (int)strtonum(argv[2], 1, 1000, NULL);
	else if (argc != 2)
		rounds = 0;
	if (rounds == 0)
		errx(2, "usage: columns [-n ROUNDS] RECORDING");
	zstd = ZSTD_createCCtx();
	if (!zstd)
		errx(1, "out of memory");
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	measure(argv[argc - 1], rounds);
	ZSTD_freeCCtx(zstd);
	buf_done(&packed);
	return 0;
}
