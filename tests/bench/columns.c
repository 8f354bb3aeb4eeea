/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes and encoder CPU of the records of a recording, by columns and as they are:
 *
 *	columns [-b BLOCK_BYTES] [-n ROUNDS] RECORDING...
 *
 * Takes the records of all RECORDS blocks, cuts them into blocks anew, and does with each what
 * recording_writer does (columns, then one zstd frame of level 1), and what perf -z and its like
 * do (zstd of level 1 over the raw records). Every block is decoded and compared. One line of
 * JSON a recording; samples alone, and with the side-band between them.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bsd/stdlib.h>
#include <zstd.h>

#include "format/block.h"
#include "format/columns.h"
#include "format/perf_record.h"
#include "format/recording_reader.h"

static ZSTD_CCtx *zstd;
static struct columns_encoder *encoder;
static struct buf packed;
static uint32_t block_bytes = 1u << 20;
static int rounds = 5;

static double
now(void)
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

/* All records, or the samples only. */
static void
take_records(struct span payload, bool samples_only, struct buf *out)
{
	struct span record;

	while (perf_record_next(&payload, &record) > 0) {
		if (!samples_only || le32dec(record.p) == REC_SAMPLE)
			buf_append(out, record.p, record.len);
	}
}

static struct recording_reader *
load(const char *path, bool samples_only, struct buf *out, uint64_t *ret_samples)
{
	struct recording_reader *r;
	struct fmt_where where;
	struct block block;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "%s", path);
	if (recording_reader_open(io_source_fd(fd), &r, &where) != 0)
		errx(1, "%s: %s", path, where.detail);
	*ret_samples = 0;
	while (recording_reader_next(r, is_records, NULL, &block, &where) > 0) {
		take_records(block.payload, samples_only, out);
		*ret_samples += block.header.samples;
	}
	if (buf_failed(out))
		errx(1, "%s: out of memory", path);
	return r;
}

/* Takes whole records of up to n bytes off s. */
static struct span
take_block(struct span *s, size_t n, uint32_t *ret_records)
{
	struct span rest = *s, record, block;
	size_t bytes = 0;

	*ret_records = 0;
	while (perf_record_next(&rest, &record) > 0 && (bytes == 0 || bytes + record.len <= n)) {
		bytes += record.len;
		++*ret_records;
	}
	if (!span_take(s, bytes, &block))
		abort();
	return block;
}

static size_t
pack(struct span payload, const size_t *cuts, size_t nr_cuts)
{
	ZSTD_inBuffer in = { payload.p, 0, 0 };
	ZSTD_outBuffer out;
	size_t n = 0;

	buf_clear(&packed);
	if (!buf_reserve(&packed, ZSTD_compressBound(payload.len) + 4096))
		err(1, NULL);
	out = (ZSTD_outBuffer){ packed.p, packed.cap, 0 };
	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(zstd, payload.len);
	for (size_t i = 0; i <= nr_cuts; i++) {
		in.size = i < nr_cuts ? cuts[i] : payload.len;
		n = ZSTD_compressStream2(zstd, &out, &in, i < nr_cuts ? ZSTD_e_flush : ZSTD_e_end);
		if (ZSTD_isError(n) || n != 0)
			errx(1, "zstd: %s", ZSTD_getErrorName(n));
	}
	return out.pos;
}

struct figures {
	size_t columns, columns_packed, zstd_256k, zstd_1m;
	double encode_ns, pack_ns, zstd_ns, decode_ns;
};

static void
by_columns(const struct event_set *events, struct span records, struct figures *f)
{
	struct buf out = { 0 }, back = { 0 };
	const size_t *cuts;
	size_t nr_cuts;

	while (records.len > 0) {
		uint32_t n;
		struct span block = take_block(&records, block_bytes, &n);
		struct fmt_where where;
		double a = now(), b, c, d;

		buf_clear(&out);
		if (columns_encode(encoder, events, block, &out) != 0)
			errx(1, "columns_encode");
		nr_cuts = columns_encoder_cuts(encoder, &cuts);
		b = now();
		f->columns_packed += pack(buf_span(&out), cuts, nr_cuts);
		c = now();
		buf_clear(&back);
		if (columns_decode(buf_span(&out), n, BLOCK_RAW_MAX, &back, &where) != 0)
			errx(1, "%s", where.detail);
		d = now();
		if (back.len != block.len || memcmp(back.p, block.p, back.len) != 0)
			errx(1, "a block of %zu bytes does not come back", block.len);
		f->columns += out.len;
		f->encode_ns += b - a;
		f->pack_ns += c - b;
		f->decode_ns += d - c;
	}
	buf_done(&out);
	buf_done(&back);
}

static size_t
by_zstd(struct span records, size_t frame)
{
	size_t total = 0;

	while (records.len > 0) {
		struct span block;

		if (!span_take(&records, records.len < frame ? records.len : frame, &block))
			abort();
		total += pack(block, NULL, 0);
	}
	return total;
}

static void
measure(const char *path, bool samples_only)
{
	struct figures f = { 0 };
	struct buf records = { 0 };
	uint64_t samples;
	struct recording_reader *r = load(path, samples_only, &records, &samples);
	const struct event_set *events = recording_reader_meta(r)->events;
	double n = (double)samples, k = n * rounds;

	for (int i = 0; i < rounds; i++) {
		double a;

		f.columns = f.columns_packed = 0;
		by_columns(events, buf_span(&records), &f);
		a = now();
		f.zstd_256k = by_zstd(buf_span(&records), 256u << 10);
		f.zstd_ns += now() - a;
		f.zstd_1m = by_zstd(buf_span(&records), 1u << 20);
	}
	printf("{\"recording\": \"%s\", \"side_band\": %s, \"samples\": %.0f, \"raw\": %.2f, "
	       "\"columns\": %.2f, \"packed\": %.3f, \"zstd_256k\": %.3f, \"zstd_1m\": %.3f, "
	       "\"ratio\": %.3f, \"encode_ns\": %.0f, \"pack_ns\": %.0f, \"zstd_ns\": %.0f, "
	       "\"decode_ns\": %.0f}\n",
	       path, samples_only ? "false" : "true", n, (double)records.len / n,
	       (double)f.columns / n, (double)f.columns_packed / n, (double)f.zstd_256k / n,
	       (double)f.zstd_1m / n, (double)f.columns_packed / (double)f.zstd_256k,
	       f.encode_ns / k, f.pack_ns / k, f.zstd_ns / k, f.decode_ns / k);
	recording_reader_close(r);
	buf_done(&records);
}

int
main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "b:n:")) != -1) {
		if (c == 'b')
			block_bytes = (uint32_t)strtonum(optarg, 1, BLOCK_RAW_MAX, NULL);
		else if (c == 'n')
			rounds = (int)strtonum(optarg, 1, 1000000, NULL);
		else
			return 2;
	}
	zstd = ZSTD_createCCtx();
	encoder = columns_encoder_new();
	if (!zstd || !encoder)
		err(1, NULL);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	for (int i = optind; i < argc; i++) {
		measure(argv[i], true);
		measure(argv[i], false);
	}
	columns_encoder_free(encoder);
	ZSTD_freeCCtx(zstd);
	buf_done(&packed);
	return 0;
}
