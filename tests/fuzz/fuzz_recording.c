/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording, read in every way there is: walked, verified, merged in time order, summed
 * up. First as it is; then with every checksum made right, so that what stands behind the
 * checksums is reached. Whatever comes out has to lie inside itself, and only once.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/block/aux_trace.h"
#include "format/block/buildids.h"
#include "format/block/jitsyms.h"
#include "format/block/ksyms.h"
#include "format/block/recording_header.h"
#include "format/bytes/crc32c.h"
#include "format/recording/record_stream.h"
#include "symbolizer/dump/summary.h"
#include "symbolizer/jit/jit_kept.h"

/* A payload may unpack to 64 MiB: an input of many would only be slow. */
#define UNPACKED_MAX (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool ok)
{
	if (!ok)
		abort();
}

static void
mend_block(uint8_t *p, size_t n, const uint8_t *file_id)
{
	uint16_t header_size = le16dec(p + 12);
	uint32_t stored = le32dec(p + 84), crc;

	if (header_size < BLOCK_HEADER_BYTES || header_size > n)
		return;
	if (stored <= n - header_size)
		le32enc(p + 68, crc32c(0, p + header_size, stored));
	crc = crc32c(0, p + 12, header_size - 12u);
	le32enc(p + 8, crc32c(crc, file_id, FILE_ID_BYTES));
}

/* Makes the checksums right of the header and of everything that begins with a sync magic. */
static void
mend(uint8_t *p, size_t n)
{
	uint16_t header_size;
	uint32_t meta;

	if (n < RECORDING_HEADER_BYTES)
		return;
	header_size = le16dec(p + 12);
	meta = le32dec(p + 48);
	if (header_size >= RECORDING_HEADER_BYTES && header_size <= n) {
		if (meta <= n - header_size)
			le32enc(p + 52, crc32c(0, p + header_size, meta));
		le32enc(p + 8, crc32c(0, p + 12, header_size - 12u));
	}
	for (size_t at = 0; at + BLOCK_HEADER_BYTES <= n; at++) {
		if (memcmp(p + at, BLOCK_SYNC, 8) == 0)
			mend_block(p + at, n - at, p + 32);
	}
}

static int
by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Blocks that were missed may come late, but none comes twice. */
static void
check_once(uint64_t *seqs, size_t n)
{
	if (n == 0)
		return;
	qsort(seqs, n, sizeof(*seqs), by_number);
	for (size_t i = 1; i < n; i++)
		check(seqs[i - 1] != seqs[i]);
}

/* False when it would unpack to more than is worth the time. */
static bool
walk(struct recording_reader *r, size_t size)
{
	uint64_t end = 0, unpacked = 0;
	size_t nr_seqs = 0, cap = size / BLOCK_HEADER_BYTES + 1;
	uint64_t *seqs = malloc(cap * sizeof(*seqs));
	struct buildid_entry id;
	struct aux_trace about;
	struct aux_piece piece;
	struct span rest;
	struct block b;
	struct jitsym jit;
	struct ksym sym;
	size_t cursor;

	check(seqs != NULL);
	while (unpacked <= UNPACKED_MAX && recording_reader_next(r, NULL, NULL, &b, NULL) > 0) {
		check(b.offset >= end);
		check(nr_seqs < cap);
		seqs[nr_seqs++] = b.header.seq;
		if (b.header.encoding == BLOCK_VERBATIM)
			check(b.payload.len == b.header.raw_length);
		end = b.offset + b.header.header_size + b.header.stored_length;
		check(end <= size);
		cursor = 0;
		while (b.header.type == BLOCK_KSYMS && ksyms_next(b.payload, &cursor, &sym) > 0)
			check(sym.end >= sym.start);
		cursor = 0;
		while (b.header.type == BLOCK_JIT && jitsyms_next(b.payload, &cursor, &jit) > 0)
			check(jit.start + jit.size > jit.start);
		rest = b.payload;
		if (b.header.type == BLOCK_AUX && aux_trace_read(&rest, &about) == 0)
			while (aux_trace_next(&rest, &piece) > 0)
				check(piece.bytes.len <= b.payload.len);
		cursor = 0;
		while (b.header.type == BLOCK_BUILDIDS &&
		       buildids_next(b.payload, &cursor, &id) > 0)
			check(id.id.size <= BUILDID_MAX);
		unpacked += b.payload.len;
	}
	check_once(seqs, nr_seqs);
	free(seqs);
	return unpacked <= UNPACKED_MAX;
}

static void
merge(struct recording_reader *r)
{
	struct record_stream *s;
	struct stream_record rec;
	uint64_t records = 0;

	check(record_stream_open(r, &s) == 0);
	while (record_stream_next(s, &rec, NULL) > 0) {
		check(rec.record != NULL || rec.bad.len > 0);
		records++;
	}
	check(records ==
	      record_stream_stats(s)->records + record_stream_stats(s)->state_records +
		      record_stream_stats(s)->bad_records);
	record_stream_close(s);
}

/* What a JIT block names is found, and nothing else. */
static void
names(struct recording_reader *r)
{
	struct jit_symbol symbol;
	struct jit_kept *k;

	/* A block that must not be passed over may end it. */
	if (jit_kept_read(r, &k, NULL) != 0)
		return;
	for (uint64_t i = 0; k && i < 256; i++) {
		int found = jit_kept_find(k, (uint32_t)i, i << 40, i << 56, &symbol);

		check(found == 0 || (found == 1 && symbol.start <= i << 40));
	}
	jit_kept_free(k);
}

static void
read_all(const uint8_t *p, size_t n)
{
	struct recording_reader *r;
	struct summary summary;

	if (recording_reader_open(io_source_memory(p, n), &r, NULL) != 0)
		return;
	if (walk(r, n)) {
		(void)recording_reader_verify(r, NULL);
		merge(r);
		names(r);
		if (summary_read(r, &summary, NULL) == 0)
			summary_done(&summary);
	}
	recording_reader_close(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *p;

	read_all(data, size);
	p = malloc(size ? size : 1);
	check(p != NULL);
	if (size > 0)
		memcpy(p, data, size);
	mend(p, size);
	read_all(p, size);
	free(p);
	return 0;
}
