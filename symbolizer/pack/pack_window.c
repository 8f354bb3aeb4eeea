/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/pack/pack_window.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "format/block/recording_parts.h"
#include "format/bytes/array.h"
#include "format/recording/recording_resume.h"
#include "symbolizer/input/exit_status.h"
#include "symbolizer/input/temporary.h"
#include "symbolizer/text/screen_text.h"

#define PARTS_AT_ONCE 512 /* each is an open file until it is copied */
#define COPY_BYTES (1u << 20)

/* --- the recordings ---------------------------------------------------------------------- */

/* The cover's samples are those of its parts: it was made where and when the first one was. */
static int
begin_meta(struct pack_window *w, const struct recording_meta *first)
{
	struct recording_meta *m = w->meta = recording_meta_new();

	if (!m || recording_meta_set(&m->hostname, first->hostname) < 0 ||
	    recording_meta_set(&m->release, first->release) < 0 ||
	    recording_meta_set(&m->arch, first->arch) < 0 ||
	    recording_meta_set(&m->writer, first->writer) < 0 ||
	    recording_meta_set(&m->cmdline, first->cmdline) < 0)
		return -FMT_E_NOMEM;
	memcpy(m->machine_id, first->machine_id, sizeof(m->machine_id));
	memcpy(m->boot_id, first->boot_id, sizeof(m->boot_id));
	m->start = first->start;
	m->clockid = first->clockid;
	m->page_size = first->page_size;
	m->cpus_possible = first->cpus_possible;
	m->cpus_online = first->cpus_online;
	if (getrandom(m->file_id, sizeof(m->file_id), 0) != (ssize_t)sizeof(m->file_id))
		return -FMT_E_IO;
	return 0;
}

/* One that is being written, as far as it is now: a copy that was ended in order. NULL after a message. */
static struct io_source *
ended_copy(struct input *in)
{
	const int fd = temporary_open();
	struct io_source *ended = fd < 0 ? NULL : io_source_dup(fd);
	struct io_sink *sink = ended ? io_sink_fd(fd) : NULL;
	struct recording_writer *w;
	struct fmt_where where = { 0 };
	int error;

	if (!sink) {
		warn(TEMPORARY_NAME);
		if (ended)
			ended->close(ended);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	error = recording_resume(in->reader, in->source, sink, NULL, &w, &where);
	if (!error)
		error = recording_writer_close(w, 0, &where);
	if (!error)
		return ended;
	if (error == -FMT_E_IO)
		screen_text_warn("%s: copy into a " TEMPORARY_NAME ": %s", in->path,
				 strerror(where.saved_errno));
	else
		input_failed(in, error, &where);
	ended->close(ended);
	return NULL;
}

/* 0, or an exit status after a message. */
static int
add_part(struct pack_window *w, struct input_set *set, struct buf *parts)
{
	const char *name = input_set_name(set);
	size_t len = strnlen(name, RECORDING_PART_NAME_MAX);
	struct io_source *bytes = set->in.live ? ended_copy(&set->in) : input_set_bytes(set);
	int64_t size;

	if (set->in.live && !bytes)
		return EXIT_FAILED;
	if (set->in.live)
		len -= strlen(SEGMENT_NAME_ACTIVE);
	size = bytes ? bytes->size(bytes) : -1;
	if (!bytes || size < 0 || array_reserve(w->parts, w->nr, w->cap, 1) < 0 ||
	    array_reserve(w->bytes, w->nr, w->cap_bytes, 1) < 0 ||
	    (w->nr == 0 && begin_meta(w, recording_reader_meta(set->in.reader)) != 0)) {
		if (bytes)
			bytes->close(bytes);
		warnx("out of memory");
		return EXIT_FAILED;
	}
	w->parts[w->nr] = bytes;
	w->bytes[w->nr++] = (uint64_t)size;
	recording_parts_add(parts, &(struct recording_part){ (uint64_t)size, span_of(name, len) });
	return EXIT_DONE;
}

static int
add_all(struct pack_window *w, struct input_set *set, struct buf *parts)
{
	int more = 0, status = EXIT_DONE;

	while (status == EXIT_DONE && (more = input_set_next(set)) > 0) {
		if (w->nr == PARTS_AT_ONCE) {
			screen_text_warn("%s: more than %d recordings are in the window: choose a "
					 "shorter one by --since and --until",
					 set->path, PARTS_AT_ONCE);
			return EXIT_FAILED;
		}
		w->last_start = recording_reader_meta(set->in.reader)->start;
		w->last_start.monotonic += set->shift_ns;
		status = add_part(w, set, parts);
		input_set_leave(set);
	}
	if (status != EXIT_DONE || more < 0)
		return EXIT_FAILED;
	if (w->nr > 0)
		return EXIT_DONE;
	screen_text_warn("%s: no recording is in the window", set->path);
	return EXIT_FAILED;
}

/*
 * The archive may have grown since it was read: without another end the window ends with the last sample that was
 * read, by the clock of the last recording. That may have been set back: then it has no end.
 */
static uint64_t
end_of_window(const struct pack_window *w, const struct input_set *read, uint64_t since,
	      uint64_t until)
{
	uint64_t end;

	if (until != UINT64_MAX || w->last_start.realtime == 0)
		return until;
	end = w->last_start.realtime + (read->last_ns - w->last_start.monotonic) + 1;
	return end > since ? end : until;
}

int
pack_window_open(struct pack_window *w, struct input_set *set)
{
	uint64_t since, until;
	struct buf all, parts;
	int status;

	*w = (struct pack_window){ .access = INPUT_ACCESS_NONE_READ };
	buf_init(&all);
	buf_init(&parts);
	input_set_rewind(set);
	status = add_all(w, set, &parts);
	w->access = set->access;
	time_choice_wall(filter_times_const(set->filter), &since, &until);
	recording_parts_begin(&all, since, end_of_window(w, set, since, until));
	buf_append(&all, parts.p, parts.len);
	if (status == EXIT_DONE && (buf_failed(&parts) || buf_failed(&all))) {
		warnx("out of memory");
		status = EXIT_FAILED;
	} else if (status == EXIT_DONE) {
		w->meta->parts = all.p;
		w->meta->parts_len = all.len;
		buf_init(&all);
	}
	buf_done(&parts);
	buf_done(&all);
	return status;
}

void
pack_window_done(struct pack_window *w)
{
	for (size_t i = 0; i < w->nr; i++)
		w->parts[i]->close(w->parts[i]);
	free(w->parts);
	free(w->bytes);
	recording_meta_free(w->meta);
	memset(w, 0, sizeof(*w));
}

/* --- their bytes ------------------------------------------------------------------------- */

static int
copy_part(struct io_source *part, uint64_t bytes, uint8_t *chunk, struct io_sink *sink,
	  struct fmt_where *where)
{
	for (uint64_t at = 0; at < bytes;) {
		const uint64_t left = bytes - at;
		const ssize_t got =
			part->read(part, at, chunk, left < COPY_BYTES ? (size_t)left : COPY_BYTES);
		int r;

		if (got <= 0) {
			errno = got < 0 ? (int)-got : EIO; /* it became shorter */
			return fmt_fail(where, FMT_E_IO, at, "copy of a recording");
		}
		r = sink->write(sink, chunk, (size_t)got);
		if (r < 0) {
			errno = -r;
			return fmt_fail(where, FMT_E_IO, at, "write");
		}
		at += (uint64_t)got;
	}
	return 0;
}

int
pack_window_copy(const struct pack_window *w, struct io_sink *sink, struct fmt_where *where)
{
	uint8_t *chunk = malloc(COPY_BYTES);
	int error = chunk ? 0 : -FMT_E_NOMEM;

	for (size_t i = 0; i < w->nr && !error; i++)
		error = copy_part(w->parts[i], w->bytes[i], chunk, sink, where);
	if (!error && sink->sync(sink) < 0)
		error = fmt_fail(where, FMT_E_IO, 0, "sync");
	free(chunk);
	return error;
}
