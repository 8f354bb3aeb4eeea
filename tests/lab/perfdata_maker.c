/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/perfdata_maker.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#define SAMPLE_TYPE (1u << 16 | 1u | 2u | 4u | 1u << 8)
#define FLAGS (UINT64_C(1) << 18 | UINT64_C(1) << 20) /* sample_id_all, exclude_guest */

void
maker_attr(struct buf *b, uint32_t size, uint64_t config)
{
	buf_u32(b, 1);
	buf_u32(b, size);
	buf_u64(b, config);
	buf_u64(b, 1000);
	buf_u64(b, SAMPLE_TYPE);
	buf_u64(b, 0);
	buf_u64(b, FLAGS);
	buf_zero(b, (size ? size : 64) - 48);
}

void
maker_head(struct buf *b, uint32_t type, uint16_t misc, size_t size)
{
	buf_u32(b, type);
	buf_u16(b, misc);
	buf_u16(b, (uint16_t)size);
}

void
maker_word_sample(struct buf *b, uint64_t id, uint64_t time, uint64_t ip)
{
	maker_head(b, 9, 2, MAKER_SAMPLE_BYTES);
	buf_u64(b, id);
	buf_u64(b, ip);
	buf_u32(b, 10);
	buf_u32(b, 10);
	buf_u64(b, time);
	buf_u64(b, 1000);
}

void
maker_word_comm(struct buf *b, uint64_t id, uint64_t time, uint32_t tid, const char *comm)
{
	char text[16] = "";

	memcpy(text, comm, strlen(comm));
	maker_head(b, 3, 0, 56);
	buf_u32(b, tid);
	buf_u32(b, tid);
	buf_append(b, text, sizeof(text));
	buf_u32(b, tid);
	buf_u32(b, tid);
	buf_u64(b, time);
	buf_u64(b, id);
}

void
maker_round(struct buf *b)
{
	maker_head(b, 68, 0, 8);
}

void
maker_string(struct buf *b, const char *s)
{
	size_t n = strlen(s) + 1, padded = (n + 63) / 64 * 64;

	buf_u32(b, (uint32_t)padded);
	buf_append(b, s, n);
	buf_zero(b, padded - n);
}

void
maker_build_id(struct buf *b, uint16_t misc, const char *path, uint8_t fill)
{
	size_t n = (strlen(path) + 64) / 64 * 64;

	maker_head(b, 67, misc, 8 + 4 + 24 + n);
	buf_u32(b, UINT32_MAX);
	for (int i = 0; i < 20; i++)
		buf_u8(b, fill);
	buf_u8(b, 16);
	buf_zero(b, 3);
	buf_append(b, path, strlen(path));
	buf_zero(b, n - strlen(path));
}

void
maker_pipe(struct buf *b)
{
	buf_append(b, "PERFILE2", 8);
	buf_u64(b, 16);
}

void
maker_attr_record(struct buf *b, uint32_t size, uint64_t config, uint64_t first, unsigned n)
{
	maker_head(b, 64, 0, 8 + (size ? size : 64) + 8 * (size_t)n);
	maker_attr(b, size, config);
	for (unsigned i = 0; i < n; i++)
		buf_u64(b, first + i);
}

void
maker_feature_record(struct buf *b, uint64_t bit, const struct buf *payload)
{
	maker_head(b, 80, 0, 16 + (payload ? payload->len : 0));
	buf_u64(b, bit);
	if (payload)
		buf_append(b, payload->p, payload->len);
}

static void
put_update(struct buf *b, uint64_t what, uint64_t id, const char *text)
{
	size_t n = (strlen(text) + 8) / 8 * 8;

	maker_head(b, 78, 0, 24 + n);
	buf_u64(b, what);
	buf_u64(b, id);
	buf_append(b, text, strlen(text));
	buf_zero(b, n - strlen(text));
}

void
maker_update_name(struct buf *b, uint64_t id, const char *name)
{
	put_update(b, 2, id, name);
}

void
maker_update_unit(struct buf *b, uint64_t id, const char *unit)
{
	put_update(b, 0, id, unit);
}

void
maker_update_scale(struct buf *b, uint64_t id, double scale)
{
	uint64_t bits;

	memcpy(&bits, &scale, sizeof(bits));
	maker_head(b, 78, 0, 32);
	buf_u64(b, 1);
	buf_u64(b, id);
	buf_u64(b, bits);
}

/* --- file mode --------------------------------------------------------------------------- */

static size_t
attr_bytes(uint32_t size)
{
	return (size ? size : 64) + 16;
}

static void
put_attrs(struct buf *b, const struct maker_file *f, uint64_t ids_at)
{
	for (unsigned i = 0; i < f->nr_events; i++) {
		maker_attr(b, f->events[i].size, f->events[i].config);
		buf_u64(b, ids_at);
		buf_u64(b, 8 * f->events[i].nr_ids);
		ids_at += 8 * f->events[i].nr_ids;
	}
}

static void
put_sections(struct buf *b, const struct maker_file *f, uint64_t at)
{
	uint64_t payload = at + 16 * f->nr_sections;

	for (unsigned i = 0; i < f->nr_sections; i++) {
		buf_u64(b, payload);
		buf_u64(b, f->sections[i].payload->len);
		payload += f->sections[i].payload->len;
	}
	for (unsigned i = 0; i < f->nr_sections; i++)
		buf_append(b, f->sections[i].payload->p, f->sections[i].payload->len);
}

void
maker_file(struct buf *b, const struct maker_file *f)
{
	size_t ids = 0, attrs = 0, sections = 0;
	uint64_t bits[4] = { 0 }, attrs_at, data_at;

	for (unsigned i = 0; i < f->nr_events; i++) {
		ids += 8 * f->events[i].nr_ids;
		attrs += attr_bytes(f->events[i].size);
	}
	for (unsigned i = 0; i < f->nr_sections; i++) {
		bits[f->sections[i].bit / 64] |= UINT64_C(1) << f->sections[i].bit % 64;
		sections += 16 + f->sections[i].payload->len;
	}
	data_at = 104 + ids + (f->attrs_last ? 0 : attrs);
	attrs_at = f->attrs_last ? data_at + f->data->len + sections : 104 + ids;
	buf_append(b, "PERFILE2", 8);
	buf_u64(b, 104);
	buf_u64(b, attr_bytes(f->events[0].size));
	buf_u64(b, attrs_at);
	buf_u64(b, attrs);
	buf_u64(b, data_at);
	buf_u64(b, f->killed ? 0 : f->data->len);
	buf_zero(b, 16);
	for (int i = 0; i < 4; i++)
		buf_u64(b, bits[i]);
	for (unsigned i = 0; i < f->nr_events; i++)
		for (unsigned k = 0; k < f->events[i].nr_ids; k++)
			buf_u64(b, f->events[i].first_id + k);
	if (!f->attrs_last)
		put_attrs(b, f, 104);
	buf_append(b, f->data->p, f->data->len);
	if (!f->killed)
		put_sections(b, f, data_at + f->data->len);
	if (f->attrs_last)
		put_attrs(b, f, 104);
}

/* --- packed ------------------------------------------------------------------------------ */

struct maker_zstd {
	ZSTD_CStream *stream;
};

struct maker_zstd *
maker_zstd_new(void)
{
	struct maker_zstd *z = calloc(1, sizeof(*z));

	z->stream = ZSTD_createCStream();
	ZSTD_initCStream(z->stream, 1);
	return z;
}

void
maker_zstd_free(struct maker_zstd *z)
{
	ZSTD_freeCStream(z->stream);
	free(z);
}

void
maker_packed(struct buf *b, struct maker_zstd *z, uint32_t type, const void *raw, size_t n)
{
	uint8_t packed[8192];
	ZSTD_inBuffer in = { raw, n, 0 };
	ZSTD_outBuffer out = { packed, sizeof(packed), 0 };
	size_t pad;

	ZSTD_compressStream(z->stream, &out, &in);
	ZSTD_flushStream(z->stream, &out);
	pad = type == 83 ? -out.pos & 7 : 0;
	maker_head(b, type, 0, 8 + (type == 83 ? 8 : 0) + out.pos + pad);
	if (type == 83)
		buf_u64(b, out.pos);
	buf_append(b, packed, out.pos);
	buf_zero(b, pad);
}
