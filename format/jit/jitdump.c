/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/jit/jitdump.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "format/bytes/span.h"

#define JITDUMP_MAGIC 0x4a695444u /* 'JiTD' */
#define HEADER_BYTES 40
#define RECORD_BYTES 16
#define FLAG_ARCH_TIMESTAMP 1u
#define HEADER_BYTES_MAX (1u << 20)

enum record_id { CODE_LOAD = 0, CODE_MOVE = 1, CODE_UNWINDING_INFO = 4 };

struct known_code {
	uint64_t index;
	uint32_t entry, order;
};

struct dump {
	struct io_source *file;
	uint64_t at;
	bool swapped;
	struct jit_table *table;
	struct jitdump_frames *frames; /* NULL: they are not asked for */
	size_t next_at;		       /* of the code that is loaded next, in their bytes */
	uint32_t next_len;	       /* 0: there are none */
	struct known_code *codes;
	size_t nr_codes, cap_codes;
	struct slots code_slots;
	uint8_t bytes[RECORD_BYTES + 48 + JIT_NAME_MAX];
};

/* --- numbers of either byte order; the span is checked before ------------------------------ */

static uint32_t
take_u32(const struct dump *d, struct span *s)
{
	uint32_t v = 0;

	span_u32(s, &v);
	return d->swapped ? __builtin_bswap32(v) : v;
}

static uint64_t
take_u64(const struct dump *d, struct span *s)
{
	uint64_t v = 0;

	span_u64(s, &v);
	return d->swapped ? __builtin_bswap64(v) : v;
}

/* Up to n bytes of what is at d->at. */
static int
dump_bytes(struct dump *d, size_t n, struct span *ret)
{
	size_t have = 0;

	while (have < n) {
		ssize_t r = d->file->read(d->file, d->at + have, d->bytes + have, n - have);

		if (r < 0)
			return -FMT_E_IO;
		if (r == 0)
			break;
		have += (size_t)r;
	}
	*ret = span_of(d->bytes, have);
	return 0;
}

/* --- records ------------------------------------------------------------------------------- */

static bool
code_same(const void *owner, uint32_t index, const void *key)
{
	const struct dump *d = owner;

	return d->codes[index].index == ((const struct known_code *)key)->index;
}

static int
remember_code(struct dump *d, uint64_t index, uint32_t entry, uint32_t order)
{
	const struct known_code key = { index, entry, order };
	uint32_t at;

	if (slots_keep(&d->code_slots, (uint32_t)slots_mix(0, index), code_same, d, &key, d->codes,
		       d->nr_codes, d->cap_codes, &at) != 0)
		return -FMT_E_NOMEM;
	d->codes[at].entry = entry;
	d->codes[at].order = order;
	return 0;
}

/* --- frames ------------------------------------------------------------------------------ */

void
jitdump_frames_done(struct jitdump_frames *f)
{
	free(f->v);
	buf_done(&f->bytes);
	*f = (struct jitdump_frames){ 0 };
}

static int
frame_cmp(const void *a, const void *b)
{
	const uint32_t x = ((const struct jitdump_frame *)a)->order,
		       y = ((const struct jitdump_frame *)b)->order;

	return (x > y) - (x < y);
}

static const struct jitdump_frame *
frames_find(const struct jitdump_frames *f, uint32_t order)
{
	const struct jitdump_frame key = { .order = order };

	return f->nr ? bsearch(&key, f->v, f->nr, sizeof(*f->v), frame_cmp) : NULL;
}

bool
jitdump_frames_find(const struct jitdump_frames *f, uint32_t order, struct span *ret)
{
	const struct jitdump_frame *frame = frames_find(f, order);

	if (!frame)
		return false;
	*ret = span_of(f->bytes.p + frame->at, frame->len);
	return true;
}

static int
frames_add(struct jitdump_frames *f, uint32_t order, size_t at, uint32_t len)
{
	if (array_reserve(f->v, f->nr, f->cap, 1) != 0)
		return -FMT_E_NOMEM;
	f->v[f->nr++] = (struct jitdump_frame){ .order = order, .len = len, .at = at };
	return 0;
}

/* The .eh_frame, without the header that stands behind it, is that of the next code. */
static int
read_unwinding(struct dump *d, struct span s, uint32_t total)
{
	struct jitdump_frames *f = d->frames;
	uint64_t size, header, offset = d->at + RECORD_BYTES + 24;
	size_t have = 0;
	uint8_t *to;

	d->next_len = 0;
	if (!f || s.len < 24)
		return 0;
	size = take_u64(d, &s);
	header = take_u64(d, &s);
	if (size > total - RECORD_BYTES - 24 || header >= size ||
	    size - header > JITDUMP_FRAME_BYTES_MAX || size - header > f->bytes_max - f->bytes.len)
		return 0;
	size -= header;
	d->next_at = f->bytes.len;
	to = buf_reserve(&f->bytes, (size_t)size);
	if (!to)
		return -FMT_E_NOMEM;
	while (have < size) {
		ssize_t n = d->file->read(d->file, offset + have, to + have, size - have);

		if (n <= 0)
			return n < 0 ? -FMT_E_IO : 0;
		have += (size_t)n;
	}
	f->bytes.len += (size_t)size;
	d->next_len = (uint32_t)size;
	return 0;
}

static int
read_load(struct dump *d, struct span s, uint64_t time_ns)
{
	uint64_t address, size, index;
	const uint8_t *nul;
	const uint32_t frames_len = d->next_len;
	uint32_t entry, order;
	size_t len;
	int r;

	d->next_len = 0;

	if (s.len <= 40)
		return 0;
	span_skip(&s, 4 + 4 + 8); /* pid, tid, vma */
	address = take_u64(d, &s);
	size = take_u64(d, &s);
	index = take_u64(d, &s);
	nul = memchr(s.p, 0, s.len);
	len = nul ? (size_t)(nul - s.p) : s.len;
	r = jit_table_add(d->table, address, size, time_ns, (const char *)s.p, len, &entry);
	if (r <= 0)
		return r;
	order = (uint32_t)jit_table_count(d->table) - 1;
	r = frames_len ? frames_add(d->frames, order, d->next_at, frames_len) : 0;
	return r < 0 ? r : remember_code(d, index, entry, order);
}

/* They are right at the new place, too: an .eh_frame says where code is relative to itself. */
static int
move_frames(struct dump *d, struct known_code *code)
{
	const uint32_t order = (uint32_t)jit_table_count(d->table) - 1;
	const struct jitdump_frame *f = d->frames ? frames_find(d->frames, code->order) : NULL;

	code->order = order;
	return f ? frames_add(d->frames, order, f->at, f->len) : 0;
}

/* The code is at its new place, and no more at the old one. */
static int
read_move(struct dump *d, struct span s, uint64_t time_ns)
{
	struct known_code key = { 0 };
	uint64_t from, to, size;
	uint32_t at;
	int r;

	if (s.len < 48)
		return 0;
	span_skip(&s, 4 + 4 + 8);
	from = take_u64(d, &s);
	to = take_u64(d, &s);
	size = take_u64(d, &s);
	key.index = take_u64(d, &s);
	at = slots_find(&d->code_slots, (uint32_t)slots_mix(0, key.index), code_same, d, &key);
	if (at == SLOTS_NONE)
		return 0;
	r = jit_table_add(d->table, from, size, time_ns, "", 0, NULL);
	if (r > 0)
		r = jit_table_again(d->table, to, size, time_ns, d->codes[at].entry);
	return r > 0 ? move_frames(d, &d->codes[at]) : r;
}

/* 1: there may be another, 0: the end. */
static int
read_record(struct dump *d)
{
	uint32_t id, total;
	uint64_t time_ns;
	struct span s;
	int err = dump_bytes(d, sizeof(d->bytes), &s);

	if (err < 0 || s.len < RECORD_BYTES)
		return err;
	id = take_u32(d, &s);
	total = take_u32(d, &s);
	time_ns = take_u64(d, &s);
	if (total < RECORD_BYTES)
		return 0;
	if (s.len > total - RECORD_BYTES)
		s.len = total - RECORD_BYTES;
	if (id == CODE_LOAD)
		err = read_load(d, s, time_ns);
	else if (id == CODE_MOVE)
		err = read_move(d, s, time_ns);
	else if (id == CODE_UNWINDING_INFO)
		err = read_unwinding(d, s, total);
	d->at += total;
	return err < 0 ? err : d->at < JITDUMP_BYTES_MAX;
}

static int
read_header(struct dump *d)
{
	uint32_t total;
	uint64_t flags;
	struct span s;
	int err = dump_bytes(d, HEADER_BYTES, &s);

	if (err < 0)
		return err;
	if (s.len < HEADER_BYTES)
		return -FMT_E_CORRUPT;
	d->swapped = le32dec(s.p) == __builtin_bswap32(JITDUMP_MAGIC);
	if (take_u32(d, &s) != JITDUMP_MAGIC)
		return -FMT_E_CORRUPT;
	span_skip(&s, 4); /* version */
	total = take_u32(d, &s);
	span_skip(&s, 4 + 4 + 4 + 8); /* machine, padding, pid, time */
	flags = take_u64(d, &s);
	if (total < HEADER_BYTES || total > HEADER_BYTES_MAX)
		return -FMT_E_CORRUPT;
	d->at = total;
	return flags & FLAG_ARCH_TIMESTAMP ? -FMT_E_UNSUPPORTED : 0;
}

bool
jitdump_is_path(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (!name || strncmp(name, "/jit-", 5) != 0)
		return false;
	digits = strspn(name + 5, "0123456789");
	return digits > 0 && strcmp(name + 5 + digits, ".dump") == 0;
}

int
jitdump_read(struct io_source *file, uint64_t *budget, struct jit_table *table,
	     struct jitdump_frames *frames)
{
	struct dump *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -FMT_E_NOMEM;
	d->file = file;
	d->table = table;
	d->frames = frames;
	err = read_header(d);
	if (err == 0)
		err = 1;
	for (; err > 0 && *budget > 0; --*budget)
		err = read_record(d);
	if (err > 0)
		err = -FMT_E_TOO_BIG;
	slots_done(&d->code_slots);
	free(d->codes);
	free(d);
	return err;
}
