/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_failures.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/bytes/buf.h"
#include "format/bytes/crc32c.h"
#include "format/bytes/io.h"
#include "format/bytes/span.h"
#include "format/bytes/time_text.h"
#include "symbolizer/dwarf/dwarf_cache_dir.h"

#define MAGIC "spoorBAD"
#define VERSION 1
#define HEADER_BYTES 16 /* magic, version, checksum of what follows */
#define FAILURE_BYTES 44
#define FILE_BYTES_MAX (HEADER_BYTES + DWARF_FAILURES_MAX * FAILURE_BYTES)

struct failure {
	uint64_t dev, ino, size, changed_ns, when_s;
	uint32_t outcome;
};

struct dwarf_failures {
	int dir;
	bool added;
	struct failure v[DWARF_FAILURES_MAX]; /* the oldest first */
	size_t nr;
};

static uint64_t
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec;
}

static bool
is_young(const struct failure *e, uint64_t now)
{
	return e->when_s <= now && now - e->when_s < DWARF_FAILURES_S;
}

static bool
failure_of(int fd, struct failure *ret)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	*ret = (struct failure){ .dev = st.st_dev,
				 .ino = st.st_ino,
				 .size = (uint64_t)st.st_size,
				 .changed_ns = (uint64_t)time_text_ns(&st.st_ctim) };
	return true;
}

static void
take_all(struct dwarf_failures *f, struct span s)
{
	const uint64_t now = now_s();
	uint32_t version, crc;
	struct failure e;
	struct span magic;

	if (!span_take(&s, strlen(MAGIC), &magic) || memcmp(magic.p, MAGIC, magic.len) != 0 ||
	    !span_u32(&s, &version) || version != VERSION || !span_u32(&s, &crc) ||
	    crc32c(0, s.p, s.len) != crc)
		return;
	while (f->nr < DWARF_FAILURES_MAX && span_u64(&s, &e.dev) && span_u64(&s, &e.ino) &&
	       span_u64(&s, &e.size) && span_u64(&s, &e.changed_ns) && span_u64(&s, &e.when_s) &&
	       span_u32(&s, &e.outcome))
		if (e.outcome < DWARF_UNREAD && is_young(&e, now))
			f->v[f->nr++] = e;
}

static void
read_failures(struct dwarf_failures *f)
{
	struct stat st;
	const int fd = dwarf_cache_dir_file(f->dir, DWARF_FAILURES_NAME, &st);
	uint8_t bytes[FILE_BYTES_MAX];
	ssize_t n;

	if (fd < 0)
		return;
	n = io_read(fd, bytes, sizeof(bytes));
	close(fd);
	if (n > 0)
		take_all(f, span_of(bytes, (size_t)n));
}

struct dwarf_failures *
dwarf_failures_open(const char *dir)
{
	struct dwarf_failures *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->dir = dwarf_cache_dir_open(dir);
	if (f->dir >= 0)
		read_failures(f);
	return f;
}

static void
write_failures(const struct dwarf_failures *f)
{
	struct buf b;

	buf_init(&b);
	buf_append(&b, MAGIC, strlen(MAGIC));
	buf_u32(&b, VERSION);
	buf_u32(&b, 0); /* the checksum, below */
	for (size_t i = 0; i < f->nr; i++) {
		const struct failure *e = &f->v[i];

		buf_u64(&b, e->dev);
		buf_u64(&b, e->ino);
		buf_u64(&b, e->size);
		buf_u64(&b, e->changed_ns);
		buf_u64(&b, e->when_s);
		buf_u32(&b, e->outcome);
	}
	if (!buf_failed(&b)) {
		le32enc(b.p + HEADER_BYTES - 4,
			crc32c(0, b.p + HEADER_BYTES, b.len - HEADER_BYTES));
		(void)dwarf_cache_dir_write(f->dir, DWARF_FAILURES_NAME, buf_span(&b));
	}
	buf_done(&b);
}

void
dwarf_failures_close(struct dwarf_failures *f)
{
	if (!f)
		return;
	if (f->added && f->dir >= 0)
		write_failures(f);
	if (f->dir >= 0)
		close(f->dir);
	free(f);
}

bool
dwarf_failures_find(const struct dwarf_failures *f, int fd, enum dwarf_outcome *ret)
{
	struct failure e;

	if (f->nr == 0 || !failure_of(fd, &e))
		return false;
	for (size_t i = f->nr; i-- > 0;)
		if (f->v[i].dev == e.dev && f->v[i].ino == e.ino && f->v[i].size == e.size &&
		    f->v[i].changed_ns == e.changed_ns) {
			*ret = (enum dwarf_outcome)f->v[i].outcome;
			return true;
		}
	return false;
}

void
dwarf_failures_add(struct dwarf_failures *f, int fd, enum dwarf_outcome outcome)
{
	struct failure e;

	if (outcome == DWARF_DONE || outcome == DWARF_NONE || outcome >= DWARF_UNREAD ||
	    !failure_of(fd, &e))
		return;
	if (f->nr == DWARF_FAILURES_MAX)
		memmove(&f->v[0], &f->v[1], --f->nr * sizeof(f->v[0]));
	e.when_s = now_s();
	e.outcome = outcome;
	f->v[f->nr++] = e;
	f->added = true;
}
