/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/pack/pack_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "format/bytes/file_reach.h"
#include "format/bytes/time_text.h"
#include "format/stored/stored_reduce.h"
#include "symbolizer/input/temporary.h"
#include "symbolizer/object/object_vdso.h"

/* Around an address that is in no symbol: what a reader of its code looks at. */
#define UNNAMED_BYTES 1024

/* --- which code is kept ------------------------------------------------------------------ */

struct code {
	struct stored_range *ranges;
	size_t nr, cap;
};

/* Of the address space of the object, as a part of its file. */
static int
add_code(struct code *c, const struct object *o, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < o->nr_segments; i++) {
		const struct elf_segment *s = &o->segments[i];
		uint64_t from = start > s->vaddr ? start : s->vaddr, until = s->vaddr + s->filesz;

		if (!s->exec || until < s->vaddr)
			continue;
		until = end < until ? end : until;
		if (from >= until)
			continue;
		if (array_reserve(c->ranges, c->nr, c->cap, 1) < 0)
			return -FMT_E_NOMEM;
		c->ranges[c->nr++] = (struct stored_range){ s->offset + (from - s->vaddr),
							    s->offset + (until - s->vaddr) };
	}
	return 0;
}

/* The functions of the addresses that were sampled, each once. */
static int
find_code(struct code *c, const struct object *o, const uint64_t *addresses, size_t nr)
{
	struct symbol s, last = { .end = 0 };
	int error = 0;

	for (size_t i = 0; i < nr && !error; i++) {
		const uint64_t at = addresses[i];

		if (!symtab_find(o->symbols, at, &s) &&
		    (!o->stubs || !symtab_find(o->stubs, at, &s))) {
			s.start = at > UNNAMED_BYTES ? at - UNNAMED_BYTES : 0;
			s.end = at < UINT64_MAX - UNNAMED_BYTES ? at + UNNAMED_BYTES : UINT64_MAX;
		}
		if (s.start >= last.start && s.end <= last.end)
			continue;
		error = add_code(c, o, s.start, s.end);
		last = s;
	}
	return error;
}

/* --- one file ---------------------------------------------------------------------------- */

static int
put_at(void *arg, uint64_t offset, const void *p, size_t n)
{
	const int r = io_write_at(*(const int *)arg, p, n, offset);

	if (r < 0)
		errno = -r;
	return r < 0 ? -FMT_E_IO : 0;
}

static bool
is_zero(const uint8_t *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/*
 * The pieces of a file, as far as they are not zeros: counted, or written as those of this OBJECT block. What
 * is read twice is a file of our own.
 */
static int
walk_pieces(struct pack_job *job, int fd, uint64_t size, bool write, uint64_t seq, uint32_t *ret_nr,
	    struct fmt_where *where)
{
	uint8_t *bytes = malloc(PACKED_PIECE_BYTES);
	struct buf payload;
	int error = bytes ? 0 : -FMT_E_NOMEM;

	buf_init(&payload);
	*ret_nr = 0;
	for (uint64_t at = 0; at < size && !error; at += PACKED_PIECE_BYTES) {
		size_t n = size - at < PACKED_PIECE_BYTES ? (size_t)(size - at)
							  : PACKED_PIECE_BYTES;
		ssize_t got = pread(fd, bytes, n, (off_t)at);

		if (got != (ssize_t)n)
			error = fmt_fail(where, FMT_E_IO, at, "what was to be packed");
		if (error)
			break;
		if (is_zero(bytes, n))
			continue;
		++*ret_nr;
		if (!write)
			continue;
		buf_clear(&payload);
		packed_piece_put(&payload, &(struct packed_piece){ seq, at, span_of(bytes, n) });
		error = buf_failed(&payload) ? -FMT_E_NOMEM
					     : recording_writer_block(job->writer, BLOCK_PIECE,
								      buf_span(&payload), where);
	}
	buf_done(&payload);
	free(bytes);
	return error;
}

static int
write_file(struct pack_job *job, int fd, struct packed_object *about, struct fmt_where *where)
{
	struct recording_writer_stats st;
	struct buf payload;
	uint32_t again;
	int error = walk_pieces(job, fd, about->size, false, 0, &about->pieces, where);

	if (error)
		return error;
	recording_writer_stats(job->writer, &st);
	buf_init(&payload);
	packed_object_put(&payload, about);
	error = buf_failed(&payload)
		? -FMT_E_NOMEM
		: recording_writer_block(job->writer, BLOCK_OBJECT, buf_span(&payload), where);
	buf_done(&payload);
	if (!error)
		error = walk_pieces(job, fd, about->size, true, st.blocks, &again, where);
	job->counts.files += !error;
	return error;
}

/* The kernel's code: nobody's file, which is in memory. */
static bool
is_kernels(const struct packed_object *about)
{
	return about->path_len > 0 &&
		(strcmp(about->path, OBJECT_VDSO) == 0 || strcmp(about->path, OBJECT_VDSO32) == 0);
}

/*
 * A recording names files by path and build-id: it may name a private one of who packs it, by its own mode or that of a
 * directory.
 */
static void
limit_access(struct input_access *all, int from, const struct packed_object *about)
{
	struct input_access of;

	input_access_of(from, &of);
	if (!is_kernels(about))
		of.mode &= file_reach(from);
	of.mode |= 0600;
	/* To the group of the recording these are others, or of its own group as well. */
	if (all->gid != (gid_t)-1 && of.gid != all->gid) {
		of.mode &= ~070u | (of.mode & 07u) << 3;
		of.gid = all->gid;
	}
	input_access_add(all, &of);
}

/* Is it that file, or one that has more of it? */
static bool
is_same(const struct packed_object *o, const struct packed_object *about)
{
	return o->kind == about->kind && buildid_cmp(&o->id, &about->id) == 0 &&
		o->code >= about->code && o->names_only <= about->names_only;
}

/* Several objects share a file of dwz(1). */
static bool
is_there(const struct pack_job *job, const struct packed_object *about)
{
	for (size_t i = 0; i < packed_objects_count(job->there); i++)
		if (is_same(packed_objects_at(job->there, i), about))
			return true;
	for (size_t i = 0; i < job->nr_done; i++)
		if (is_same(&job->done[i], about))
			return true;
	return false;
}

static int
pack_file(struct pack_job *job, int from, struct packed_object about,
	  const struct stored_extra *extra, struct fmt_where *where)
{
	struct io_source *file;
	struct stat st;
	int fd, error;

	if (is_there(job, &about))
		return 0;
	file = io_source_dup(from);
	if (!file || fstat(from, &st) != 0 || !packed_objects_same_build(from, &about.id)) {
		job->counts.refused++;
		if (file)
			file->close(file);
		return 0;
	}
	about.changed_ns = st.st_mtim.tv_sec < 0 ? 0 : (uint64_t)time_text_ns(&st.st_mtim);
	fd = temporary_open();
	errno = 0;
	error = fd < 0 ? -FMT_E_IO
		       : stored_reduce_with(file, extra, PACKED_FILE_MAX, put_at, &fd, &about.size);
	if (error == -FMT_E_IO)
		job->counts.error = errno;
	file->close(file);
	if (!error) {
		limit_access(job->access, from, &about);
		error = write_file(job, fd, &about, where);
		if (!error && array_reserve(job->done, job->nr_done, job->cap_done, 1) < 0)
			error = -FMT_E_NOMEM;
		if (!error)
			job->done[job->nr_done++] = about;
	} else if (error != -FMT_E_IO && error != -FMT_E_NOMEM) {
		job->counts.refused++;
		error = 0;
	}
	if (fd >= 0)
		close(fd);
	return error;
}

/* --- all of an object -------------------------------------------------------------------- */

static int
pack_alt(struct pack_job *job, const struct object *o, struct packed_object about,
	 struct fmt_where *where)
{
	const struct stored_extra extra = { .lines = true, .apart = true };
	struct io_source *file = io_source_dup(o->alt_fd);
	int error = file ? buildid_read(file, &about.id) : -FMT_E_IO;

	if (file)
		file->close(file);
	about.kind = PACKED_ALT;
	if (error || about.id.kind != BUILDID_GNU)
		return 0;
	return pack_file(job, o->alt_fd, about, &extra, where);
}

int
pack_object(struct pack_job *job, const struct object *o, const char *path,
	    const uint64_t *addresses, size_t nr, struct fmt_where *where)
{
	const uint64_t before = job->counts.files;
	/* Functions without names are told apart by call frame information. */
	struct stored_extra extra = { .lines = !job->names_only,
				      .names_only = job->names_only && !o->functions };
	struct packed_object about = { .kind = PACKED_OBJECT,
				       .id = o->build_id,
				       .names_only = job->names_only,
				       .path = path };
	struct code code = { 0 };
	int error = 0;

	about.path_len = strnlen(path, PACKED_PATH_MAX);
	if (o->code_fd >= 0 && !job->names_only)
		error = find_code(&code, o, addresses, nr);
	extra.code = code.ranges;
	extra.nr_code = code.nr;
	about.code = code.nr > 0;
	if (!error && o->file_fd >= 0)
		error = pack_file(job, o->file_fd, about, &extra, where);
	free(code.ranges);
	extra.code = NULL;
	extra.nr_code = 0;
	about.code = false;
	about.kind = PACKED_DEBUG;
	extra.apart = true;
	if (!error && o->names_fd >= 0)
		error = pack_file(job, o->names_fd, about, &extra, where);
	if (!error && o->alt_fd >= 0 && !job->names_only)
		error = pack_alt(job, o, about, where);
	job->counts.objects += job->counts.files > before ||
		is_there(job,
			 &(struct packed_object){ .kind = PACKED_OBJECT,
						  .id = o->build_id,
						  .names_only = job->names_only });
	return error;
}
