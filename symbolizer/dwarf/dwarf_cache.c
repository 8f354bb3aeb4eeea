/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/string.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "format/bytes/crc32c.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/io.h"
#include "format/bytes/time_text.h"
#include "symbolizer/object/file_owner.h"
#include "symbolizer/text/intern.h"

#define MAGIC "spoorSYM"
#define VERSION 3
#define HEADER_BYTES 96
#define FRAME_BYTES 12
#define ADDRESS_BYTES 12		   /* itself, and where its frames are */
#define FIXED_BYTES (HEADER_BYTES + 4 + 1) /* and where the last frames end, and no string */

struct added {
	uint64_t address;
	size_t first;
	size_t nr;
	bool kept; /* it goes into the file that is made */
};

/* A file that answers are from; 0: there is none. */
struct origin {
	uint64_t dev, ino, size, changed_ns;
};

struct dwarf_cache {
	int dir; /* -1: nothing is kept */
	char name[DWARF_CACHE_NAME_BYTES];
	struct origin debug, alt;
	/* What was read. */
	uint8_t *bytes;
	struct span addresses, first, frames, strings;
	uint32_t n, m;
	bool *asked; /* of each address that was read: it was found; NULL: there is none */
	/* What is new. */
	struct added *added;
	size_t nr_added, cap_added;
	struct dwarf_frame *added_frames; /* strings of texts */
	size_t nr_frames, cap_frames;
	struct intern *texts;
};

/* --- reading ----------------------------------------------------------------------------- */

static uint32_t
word32(struct span s, size_t i)
{
	return le32dec(s.p + i * 4);
}

static bool
is_in_order(const struct dwarf_cache *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if ((i > 0 && span_word(c->addresses, i) <= span_word(c->addresses, i - 1)) ||
		    word32(c->first, i) > word32(c->first, i + 1))
			return false;
	return word32(c->first, 0) == 0 && word32(c->first, c->n) == c->m;
}

static bool
take_origin(struct span *s, const struct origin *o)
{
	struct origin had;

	return span_u64(s, &had.dev) && span_u64(s, &had.ino) && span_u64(s, &had.size) &&
		span_u64(s, &had.changed_ns) && had.dev == o->dev && had.ino == o->ino &&
		had.size == o->size && had.changed_ns == o->changed_ns;
}

static bool
parse(struct dwarf_cache *c, struct span s)
{
	uint32_t version, crc;
	uint64_t strings;
	struct span magic;

	if (!span_take(&s, strlen(MAGIC), &magic) || memcmp(magic.p, MAGIC, magic.len) != 0 ||
	    !span_u32(&s, &version) || version != VERSION || !span_u32(&s, &crc) ||
	    !take_origin(&s, &c->debug) || !take_origin(&s, &c->alt) || !span_u32(&s, &c->n) ||
	    !span_u32(&s, &c->m) || !span_u64(&s, &strings))
		return false;
	if (crc32c(0, s.p, s.len) != crc)
		return false;
	return span_take_words(&s, c->n, 1, &c->addresses) &&
		span_take(&s, ((size_t)c->n + 1) * 4, &c->first) &&
		span_take(&s, (size_t)c->m * FRAME_BYTES, &c->frames) && s.len == strings &&
		s.len > 0 && span_take(&s, s.len, &c->strings) &&
		c->strings.p[c->strings.len - 1] == '\0' && is_in_order(c);
}

bool
dwarf_cache_parse(struct dwarf_cache *c, struct span bytes)
{
	if (parse(c, bytes))
		return true;
	c->n = c->m = 0;
	return false;
}

static void
read_file(struct dwarf_cache *c)
{
	struct stat st;
	const int fd = dwarf_cache_dir_file(c->dir, c->name, &st);
	ssize_t n = -1;

	if (fd < 0)
		return;
	if (st.st_size > 0 && st.st_size <= DWARF_CACHE_FILE_MAX)
		c->bytes = malloc((size_t)st.st_size);
	if (c->bytes)
		n = io_read(fd, c->bytes, (size_t)st.st_size);
	/* That it was of use is what keeps it. */
	if (n > 0 && dwarf_cache_parse(c, span_of(c->bytes, (size_t)n))) {
		(void)futimens(fd, NULL);
		c->asked = calloc(c->n, sizeof(*c->asked));
	}
	close(fd);
}

static bool
origin_of(int fd, struct origin *ret)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !file_owner_is_trusted(&st))
		return false;
	*ret = (struct origin){ st.st_dev, st.st_ino, (uint64_t)st.st_size,
				(uint64_t)time_text_ns(&st.st_ctim) };
	return true;
}

struct dwarf_cache *
dwarf_cache_open(const char *dir, const struct buildid *id, int debug_fd, int alt_fd)
{
	struct origin debug, alt = { 0 };
	struct dwarf_cache *c;

	if (id->kind != BUILDID_GNU || id->size == 0 || !origin_of(debug_fd, &debug) ||
	    (alt_fd >= 0 && !origin_of(alt_fd, &alt)))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	for (size_t i = 0; i < id->size; i++)
		snprintf(&c->name[2 * i], 3, "%02x", id->bytes[i]);
	strlcat(c->name, DWARF_CACHE_SUFFIX, sizeof(c->name));
	c->debug = debug;
	c->alt = alt;
	c->dir = dwarf_cache_dir_open(dir);
	if (c->dir >= 0)
		read_file(c);
	return c;
}

void
dwarf_cache_free(struct dwarf_cache *c)
{
	if (!c)
		return;
	if (c->dir >= 0)
		close(c->dir);
	free(c->bytes);
	free(c->asked);
	free(c->added);
	free(c->added_frames);
	intern_free(c->texts);
	free(c);
}

static const char *
string_at(const struct dwarf_cache *c, uint32_t offset)
{
	return offset > 0 && offset < c->strings.len ? (const char *)c->strings.p + offset : NULL;
}

/* The frames of the i-th address that was read. */
static size_t
frames_at(const struct dwarf_cache *c, uint32_t i, struct dwarf_frame *ret)
{
	const uint32_t first = word32(c->first, i), nr = word32(c->first, i + 1) - first;

	for (uint32_t k = 0; k < nr && k < DWARF_FRAMES_MAX; k++) {
		const size_t at = 3 * ((size_t)first + k);

		ret[k] = (struct dwarf_frame){ string_at(c, word32(c->frames, at)),
					       string_at(c, word32(c->frames, at + 1)),
					       word32(c->frames, at + 2) };
	}
	return nr < DWARF_FRAMES_MAX ? nr : DWARF_FRAMES_MAX;
}

bool
dwarf_cache_find(const struct dwarf_cache *c, uint64_t address, struct dwarf_frame *ret,
		 size_t *ret_nr)
{
	uint32_t low = 0, n = c->n;

	while (low < n) {
		uint32_t middle = low + (n - low) / 2;

		if (span_word(c->addresses, middle) < address)
			low = middle + 1;
		else
			n = middle;
	}
	if (low == c->n || span_word(c->addresses, low) != address)
		return false;
	if (c->asked)
		c->asked[low] = true;
	*ret_nr = frames_at(c, low, ret);
	return true;
}

/* --- writing ----------------------------------------------------------------------------- */

int
dwarf_cache_add(struct dwarf_cache *c, uint64_t address, const struct dwarf_frame *frames,
		size_t nr)
{
	const size_t first = c->nr_frames;
	uint64_t left_out;

	if (c->dir < 0)
		return 0;
	if (!c->texts)
		c->texts = intern_new(DWARF_CACHE_FILE_MAX);
	if (!c->texts || array_reserve(c->added, c->nr_added, c->cap_added, 1) < 0 ||
	    array_reserve(c->added_frames, c->nr_frames, c->cap_frames, nr) < 0)
		return -FMT_E_NOMEM;
	left_out = intern_left_out(c->texts);
	for (size_t i = 0; i < nr; i++) {
		const struct dwarf_frame *f = &frames[i];
		struct dwarf_frame *kept = &c->added_frames[c->nr_frames++];

		*kept = *f;
		if (f->function)
			kept->function = intern_string(c->texts, f->function);
		if (f->file)
			kept->file = intern_string(c->texts, f->file);
		if ((f->function && !kept->function) || (f->file && !kept->file))
			return -FMT_E_NOMEM;
	}
	/* More strings than a file has room for. */
	if (intern_left_out(c->texts) != left_out)
		c->nr_frames = first;
	else
		c->added[c->nr_added++] =
			(struct added){ .address = address, .first = first, .nr = nr };
	return 0;
}

/* The parts of a file that is made. */
struct making {
	struct dwarf_cache *c;
	struct buf addresses, first, frames, strings;
	uint32_t n, m;
	size_t left; /* bytes that it may yet have */
	bool *kept;  /* those that were read: they go into it */
};

/* Where a string is; it is put there when it comes first, and its note says so then. */
static uint32_t
place_string(struct making *m, const char *s)
{
	const char *kept = s ? intern_string(m->c->texts, s) : NULL;
	const char **note;

	if (!kept)
		return 0;
	note = intern_note(m->c->texts, kept);
	if (!*note) {
		*note = (const char *)(uintptr_t)m->strings.len;
		buf_append(&m->strings, kept, strlen(kept) + 1);
	}
	return (uint32_t)(uintptr_t)*note;
}

/* What a string takes that is not there yet; SIZE_MAX: there are too many strings. */
static size_t
string_bytes(struct making *m, const char *s)
{
	const uint64_t left_out = intern_left_out(m->c->texts);
	const char *kept = s ? intern_string(m->c->texts, s) : NULL;

	if (s && (!kept || intern_left_out(m->c->texts) != left_out))
		return SIZE_MAX;
	return s && !*intern_note(m->c->texts, kept) ? strlen(s) + 1 : 0;
}

/* Is there room for an address? Then its strings are there. */
static bool
take_room(struct making *m, const struct dwarf_frame *frames, size_t nr)
{
	size_t bytes = ADDRESS_BYTES + nr * FRAME_BYTES;

	for (size_t i = 0; i < nr; i++) {
		const size_t function = string_bytes(m, frames[i].function),
			     file = string_bytes(m, frames[i].file);

		if (function == SIZE_MAX || file == SIZE_MAX)
			return false;
		bytes += function + file;
	}
	if (bytes > m->left)
		return false;
	m->left -= bytes;
	for (size_t i = 0; i < nr; i++) {
		(void)place_string(m, frames[i].function);
		(void)place_string(m, frames[i].file);
	}
	return true;
}

/* Those that were read, and asked for this time or not; what is new replaces what was read. */
static void
choose_old(struct making *m, bool asked)
{
	const struct dwarf_cache *c = m->c;
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
	size_t next = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const uint64_t address = span_word(c->addresses, i);

		while (next < c->nr_added && c->added[next].address < address)
			next++;
		if ((c->asked && c->asked[i]) != asked ||
		    (next < c->nr_added && c->added[next].address == address))
			continue;
		m->kept[i] = take_room(m, frames, frames_at(c, i, frames));
	}
}

/* Where there is no room for all, what was asked for last stays: what is new, then what was found. */
static void
choose(struct making *m)
{
	struct dwarf_cache *c = m->c;

	for (size_t i = 0; i < c->nr_added; i++) {
		struct added *a = &c->added[i];

		a->kept = (i == 0 || a->address != a[-1].address) &&
			take_room(m, &c->added_frames[a->first], a->nr);
	}
	choose_old(m, true);
	choose_old(m, false);
}

static void
put_address(struct making *m, uint64_t address, const struct dwarf_frame *frames, size_t nr)
{
	buf_u64(&m->addresses, address);
	buf_u32(&m->first, m->m);
	for (size_t i = 0; i < nr; i++) {
		buf_u32(&m->frames, place_string(m, frames[i].function));
		buf_u32(&m->frames, place_string(m, frames[i].file));
		buf_u32(&m->frames, frames[i].line);
	}
	m->n++;
	m->m += (uint32_t)nr;
}

static int
compare_added(const void *x, const void *y)
{
	const struct added *a = x, *b = y;

	return (a->address > b->address) - (a->address < b->address);
}

/* What was chosen, in the order of addresses. */
static void
put_all(struct making *m)
{
	const struct dwarf_cache *c = m->c;
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
	size_t new = 0;

	for (uint32_t old = 0; old < c->n || new < c->nr_added;) {
		const struct added *a = &c->added[new];

		if (new == c->nr_added ||
		    (old < c->n && span_word(c->addresses, old) < a->address)) {
			if (m->kept[old])
				put_address(m, span_word(c->addresses, old), frames,
					    frames_at(c, old, frames));
			old++;
			continue;
		}
		if (a->kept)
			put_address(m, a->address, &c->added_frames[a->first], a->nr);
		new ++;
	}
	buf_u32(&m->first, m->m);
}

static void
append_buf(struct buf *out, struct buf *part)
{
	buf_append(out, part->p, part->len);
	out->failed |= part->failed;
	buf_done(part);
}

static void
put_origin(struct buf *b, const struct origin *o)
{
	buf_u64(b, o->dev);
	buf_u64(b, o->ino);
	buf_u64(b, o->size);
	buf_u64(b, o->changed_ns);
}

/* The whole file in *ret; false: there is no memory. */
static bool
make_file(struct dwarf_cache *c, struct buf *ret)
{
	struct making m = { .c = c,
			    .left = DWARF_CACHE_FILE_MAX - FIXED_BYTES,
			    .kept = calloc((size_t)c->n + 1, sizeof(*m.kept)) };
	struct buf body;

	buf_init(&m.addresses);
	buf_init(&m.first);
	buf_init(&m.frames);
	buf_init(&m.strings);
	buf_init(&body);
	buf_u8(&m.strings, 0);
	if (m.kept) {
		choose(&m);
		put_all(&m);
	}
	ret->failed |= !m.kept;
	free(m.kept);
	buf_append(ret, MAGIC, strlen(MAGIC));
	buf_u32(ret, VERSION);
	append_buf(&body, &m.addresses);
	append_buf(&body, &m.first);
	append_buf(&body, &m.frames);
	buf_u32(ret, 0); /* the checksum, below */
	put_origin(ret, &c->debug);
	put_origin(ret, &c->alt);
	buf_u32(ret, m.n);
	buf_u32(ret, m.m);
	buf_u64(ret, m.strings.len);
	append_buf(&body, &m.strings);
	append_buf(ret, &body);
	if (buf_failed(ret))
		return false;
	le32enc(ret->p + strlen(MAGIC) + 4,
		crc32c(0, ret->p + HEADER_BYTES, ret->len - HEADER_BYTES));
	return true;
}

void
dwarf_cache_save(struct dwarf_cache *c)
{
	struct buf file;

	if (c->dir < 0 || c->nr_added == 0)
		return;
	qsort(c->added, c->nr_added, sizeof(*c->added), compare_added);
	buf_init(&file);
	if (make_file(c, &file) && dwarf_cache_dir_write(c->dir, c->name, buf_span(&file)))
		dwarf_cache_dir_bound(c->dir);
	buf_done(&file);
	c->nr_added = c->nr_frames = 0;
}
