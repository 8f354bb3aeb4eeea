/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/input_set.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "format/bytes/io_shared.h"
#include "symbolizer/input/exit_status.h"
#include "symbolizer/input/perfdata_directory.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"

#define DEFAULT_RECORDING "recording.spoor"
#define DEFAULT_ARCHIVE "/var/lib/spoor"

static bool
is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* --- one of an archive ------------------------------------------------------------------- */

/* What a file in an archive is called is for whoever may write there to choose. */
static int
set_shown(struct input_set *s, const char *name)
{
	char *escaped = escape_dup(name);

	free(s->shown);
	if (!escaped || asprintf(&s->shown, "%s/%s", s->path, escaped) < 0)
		s->shown = NULL;
	free(escaped);
	if (s->shown)
		return 0;
	warnx("out of memory");
	return -1;
}

/* One that was being written when we looked may have been finished since: -1 with errno. */
static int
open_segment(struct input_set *s, char *name)
{
	int fd = io_open(s->dirfd, name, O_NOFOLLOW);

	if (fd >= 0 || errno != ENOENT || !segment_name_is_active(name))
		return fd;
	name[strlen(name) - strlen(SEGMENT_NAME_ACTIVE)] = '\0';
	return io_open(s->dirfd, name, O_NOFOLLOW);
}

/* 1: it is open; 0: it is passed over, with a message; -1. */
static int
try_file(struct input_set *s, char *name)
{
	int fd = open_segment(s, name), error = errno;

	if (set_shown(s, name) < 0) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (fd < 0) {
		if (error == ENOENT)
			screen_text_warn("%s: has been deleted since, and is left out", s->shown);
		else if (error == ELOOP)
			screen_text_warn("%s: a symbolic link, and is left out", s->shown);
		else if (!input_say_unreadable(s->shown, error))
			screen_text_warn("%s: %s", s->shown, strerror(error));
		/* Of these nothing is wrong with the file: others could not be opened either. */
		return error == EMFILE || error == ENFILE || error == ENOMEM ? -1 : 0;
	}
	return input_open_fd(&s->in, fd, s->shown) == 0;
}

static int
try_part(struct input_set *s, const struct archive_segment *part)
{
	struct io_source *source;

	if (set_shown(s, part->name) < 0)
		return -1;
	source = input_parts_source(&s->parts, part);
	if (!source) {
		warnx("out of memory");
		return -1;
	}
	if (input_open_source(&s->in, source, s->shown, &s->parts.access) != 0)
		return 0;
	s->in.source->close(s->in.source);
	s->in.source = input_parts_cover(&s->parts);
	if (s->in.source)
		return 1;
	warnx("out of memory");
	return -1;
}

static int
try_segment(struct input_set *s, struct archive_segment *segment)
{
	int result;

	if (segment->failed)
		return 0;
	result = s->parts.file ? try_part(s, segment) : try_file(s, segment->name);
	if (result > 0 && s->in.parts) {
		screen_text_warn("%s: holds a window of an archive, and is left out: name it alone",
				 s->shown);
		input_close(&s->in);
		result = 0;
	}
	segment->failed = result == 0;
	if (result > 0)
		s->in.live = segment_name_is_active(segment->name);
	return result;
}

static bool
is_wanted(const struct input_set *s, size_t i)
{
	uint64_t from = 0, until = UINT64_MAX;

	if (s->filter)
		time_choice_wall(filter_times_const(s->filter), &from, &until);
	return archive_list_reaches(&s->list, i, from, until);
}

size_t
input_set_count(const struct input_set *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->list.nr; i++)
		n += is_wanted(s, i);
	return s->archive ? n : 1;
}

/* Opens the next one that may be wanted: 1, 0, -1. */
static int
next_segment(struct input_set *s)
{
	int result = 0;

	for (; result == 0 && s->next < s->list.nr; s->next++) {
		if (!is_wanted(s, s->next))
			continue;
		result = try_segment(s, &s->list.segments[s->next]);
		if (result == 0)
			s->skipped++;
	}
	return result;
}

/* --- range of an archive ----------------------------------------------------------------- */

/* First and last sample of the i-th, in wall clock time: 1, 0 it has none, negative. */
static int
segment_range(struct input_set *s, size_t i, struct input_range *ret)
{
	struct input_range range = { 0 };
	struct fmt_where where = { 0 };
	const struct clock_triple *start;
	int result = try_segment(s, &s->list.segments[i]);

	if (result <= 0)
		return result;
	start = &recording_reader_meta(s->in.reader)->start;
	if (input_range(&s->in, &range, &where) != 0 || range.samples == 0 || start->realtime == 0)
		result = 0;
	ret->first_ns = start->realtime + (range.first_ns - start->monotonic);
	ret->last_ns = start->realtime + (range.last_ns - start->monotonic);
	ret->samples = range.samples;
	input_close(&s->in);
	return result;
}

/* From the first one with samples to the last. Those that fail will say so when it is their turn. */
static int
archive_range(struct input_set *s, struct input_range *ret)
{
	struct input_range all = { UINT64_MAX, 0, 0 }, one;
	size_t front = 0, back;
	int result = 0;

	for (; result == 0 && front < s->list.nr; front++)
		result = segment_range(s, front, &all);
	if (result == 0)
		all = (struct input_range){ UINT64_MAX, 0, 0 };
	for (back = s->list.nr; result > 0 && back > front; back--) {
		result = segment_range(s, back - 1, &one);
		if (result > 0) {
			all.last_ns = one.last_ns > all.last_ns ? one.last_ns : all.last_ns;
			break;
		}
		result = result == 0 ? 1 : result;
	}
	if (s->parts.file && all.samples > 0) {
		if (all.first_ns < s->parts.since_ns)
			all.first_ns = s->parts.since_ns;
		if (all.last_ns > s->parts.until_ns)
			all.last_ns = s->parts.until_ns;
	}
	*ret = all;
	return result < 0 ? -1 : 0;
}

/* --- the set ----------------------------------------------------------------------------- */

/* Is one of them, as far as names tell, being written? */
static bool
is_written(const struct input_set *s)
{
	for (size_t i = 0; i < s->list.nr; i++)
		if (segment_name_is_active(s->list.segments[i].name))
			return true;
	return false;
}

/* Times that depend on the range of all samples. 0, or an exit status after a message. */
static int
choose_archive_times(struct input_set *s)
{
	struct time_choice *times = s->filter ? filter_times(s->filter) : NULL;
	struct input_range range;

	if (!times || !time_choice_needs_range(times))
		return 0;
	if (archive_range(s, &range) < 0)
		return EXIT_FAILED;
	times->live = !s->parts.file && is_written(s);
	time_choice_range(times, true, range.first_ns, range.last_ns);
	return 0;
}

/* What is asked for is asked of its window. */
static int
open_parts(struct input_set *s)
{
	int error;

	s->archive = true;
	s->path = s->in.path;
	error = input_parts_open(&s->parts, &s->in, &s->list);
	input_close(&s->in);
	if (error < 0)
		return EXIT_FAILED;
	if (s->filter)
		time_choice_clip(filter_times(s->filter), s->parts.since_ns, s->parts.until_ns);
	return choose_archive_times(s);
}

static int
open_archive(struct input_set *s)
{
	s->archive = true;
	s->dirfd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dirfd < 0 || archive_list_read(s->dirfd, &s->list) < 0) {
		warn("%s", s->path);
		return EXIT_FAILED;
	}
	if (s->list.nr == 0) {
		screen_text_warn("%s: no recordings in this directory", s->path);
		return EXIT_FAILED;
	}
	return choose_archive_times(s);
}

int
input_set_open(struct input_set *s, const char *path, struct filter *filter)
{
	int status;

	memset(s, 0, sizeof(*s));
	s->dirfd = -1;
	s->access = INPUT_ACCESS_NONE_READ;
	s->filter = filter;
	s->loss = loss_new();
	if (!s->loss) {
		warnx("out of memory");
		return EXIT_FAILED;
	}
	if (filter && !time_choice_possible(filter_times_const(filter))) {
		screen_text_warn("--until is not after --since");
		return EXIT_USAGE;
	}
	if (!path && access(DEFAULT_RECORDING, F_OK) < 0 && is_directory(DEFAULT_ARCHIVE))
		path = DEFAULT_ARCHIVE;
	s->path = path;
	s->once = path && strcmp(path, "-") == 0;
	if (path && is_directory(path) && !perfdata_directory_is(path))
		return open_archive(s);
	status = input_open(&s->in, path);
	return status == 0 && s->in.parts ? open_parts(s) : status;
}

static void
forget_origin(struct input_set *s)
{
	free(s->hostname);
	free(s->release);
	free(s->arch);
	free(s->cmdline);
	s->hostname = s->release = s->arch = s->cmdline = NULL;
}

/* Where and how the first recording was made. -1 after a message. */
static int
keep_origin(struct input_set *s, const struct recording_meta *m)
{
	forget_origin(s);
	s->hostname = strdup(m->hostname);
	s->release = strdup(m->release);
	s->arch = strdup(m->arch);
	s->cmdline = strdup(m->cmdline);
	s->frequency_hz = m->frequency_hz_effective ? m->frequency_hz_effective : m->frequency_hz;
	if (s->hostname && s->release && s->arch && s->cmdline)
		return 0;
	warnx("out of memory");
	return -1;
}

void
input_set_close(struct input_set *s)
{
	if (s->in.reader)
		input_close(&s->in);
	archive_list_done(&s->list);
	input_parts_close(&s->parts);
	if (s->dirfd >= 0)
		close(s->dirfd);
	free(s->shown);
	forget_origin(s);
	loss_free(s->loss);
	gap_list_done(&s->gaps);
	free(s->spans);
	memset(s, 0, sizeof(*s));
	s->dirfd = -1;
}

/* Puts the open recording's times on the first one's clock. -1 after a message. */
static int
set_clock(struct input_set *s)
{
	const struct recording_meta *m = recording_reader_meta(s->in.reader);

	if (s->opened == 0) {
		s->start = m->start;
		if (keep_origin(s, m) < 0)
			return -1;
		memcpy(s->boot_id, m->boot_id, sizeof(s->boot_id));
	}
	s->shift_ns = 0;
	if (memcmp(s->boot_id, m->boot_id, sizeof(s->boot_id)) != 0 && m->start.realtime != 0 &&
	    s->start.realtime != 0)
		s->shift_ns = (m->start.realtime - m->start.monotonic) -
			(s->start.realtime - s->start.monotonic);
	return 0;
}

/* Parts of a recording (10%-20%) are times when its range is known. */
static void
choose_times(struct input_set *s)
{
	struct input_range range;

	if (!s->archive && s->filter && time_choice_needs_range(filter_times_const(s->filter)) &&
	    input_set_range(s, &range) == 0)
		time_choice_range(filter_times(s->filter), false, range.first_ns, range.last_ns);
}

/* 0, -1 after a message; what cannot be read is told when its records are. */
static int
note_span(struct input_set *s)
{
	if (!s->wants_spans)
		return 0;
	choose_times(s);
	if (array_reserve(s->spans, s->nr_spans, s->cap_spans, 1) < 0) {
		warnx("out of memory");
		return -1;
	}
	s->nr_spans += covered_span_find(&s->in, s->filter, s->shift_ns, &s->spans[s->nr_spans]);
	return 0;
}

static int
set_window(struct input_set *s)
{
	struct fmt_where where = { 0 };
	int error = s->filter ? input_window(&s->in, s->filter, NULL, &where) : 0;

	if (error == 0)
		return 0;
	input_failed(&s->in, error, &where);
	return -1;
}

/* After the last one: was there any? */
static int
all_read(const struct input_set *s)
{
	if (s->opened > 0 || s->skipped == 0)
		return 0;
	screen_text_warn("%s: no recording in it can be read", s->path);
	return -1;
}

/* The single one: it is open already. */
static int
next_single(struct input_set *s)
{
	s->path = s->in.path;
	s->access = s->in.access;
	return set_clock(s) == 0 && note_span(s) == 0 && set_window(s) == 0 ? 1 : -1;
}

static int
next_of_archive(struct input_set *s)
{
	int result;

	for (;;) {
		result = next_segment(s);
		if (result <= 0)
			return result < 0 ? result : all_read(s);
		input_access_add(&s->access, &s->in.access);
		if (set_clock(s) < 0 || note_span(s) < 0)
			return -1;
		if (set_window(s) == 0)
			return 1;
		s->list.segments[s->next - 1].failed = true;
		s->skipped++;
		input_close(&s->in);
	}
}

int
input_set_next(struct input_set *s)
{
	int result = 0;

	if (s->archive)
		result = next_of_archive(s);
	else if (s->opened == 0)
		result = next_single(s);
	s->opened += result > 0;
	return result;
}

void
input_set_rewind(struct input_set *s)
{
	s->next = 0;
}

const char *
input_set_name(const struct input_set *s)
{
	return s->list.segments[s->next - 1].name;
}

struct io_source *
input_set_bytes(const struct input_set *s)
{
	return io_source_another(s->in.source);
}

void
input_set_detach(struct input_set *s, struct input_detached *ret)
{
	*ret = (struct input_detached){ s->in, s->shown, s->shift_ns };
	memset(&s->in, 0, sizeof(s->in));
	s->shown = NULL;
}

void
input_set_attach(struct input_set *s, const struct input_detached *d)
{
	free(s->shown);
	s->in = d->in;
	s->shown = d->shown;
	s->shift_ns = d->shift_ns;
}

void
input_set_leave(struct input_set *s)
{
	s->read++;
	/* A single one stays: what it is called, and what its meta says, is asked for still. */
	if (s->archive)
		input_close(&s->in);
}

static void
add_samples(struct input_set *s, const struct record_stream_stats *stats)
{
	const uint64_t first = stats->first_ns + s->shift_ns, last = stats->last_ns + s->shift_ns;

	if (stats->samples == 0)
		return;
	if (s->samples == 0 || first < s->first_ns)
		s->first_ns = first;
	if (s->samples == 0 || last > s->last_ns)
		s->last_ns = last;
	s->samples += stats->samples;
}

int
input_set_finish(struct input_set *s)
{
	const struct record_stream_stats *stats = record_stream_stats(s->in.stream);
	int error;

	error = loss_merge(s->loss, record_stream_loss(s->in.stream));
	if (!error)
		error = gap_list_merge(&s->gaps, record_stream_gaps(s->in.stream), s->shift_ns);
	add_samples(s, stats);
	s->bad_records += stats->bad_records;
	if (!s->silent)
		input_warn_damage(&s->in);
	input_set_leave(s);
	return error == -FMT_E_NOMEM ? error : 0;
}

int
input_set_range(struct input_set *s, struct input_range *ret)
{
	struct fmt_where where = { 0 };

	if (s->archive)
		return archive_range(s, ret);
	return input_range(&s->in, ret, &where) < 0 ? -1 : 0;
}

uint64_t
input_set_extent(struct input_set *s)
{
	uint64_t from = 0, until = UINT64_MAX;
	struct input_range range;
	struct covered_span span;

	if (!s->archive) {
		choose_times(s);
		return covered_span_find(&s->in, s->filter, 0, &span) ? span.until_ns - span.from_ns
								      : 0;
	}
	if (input_set_range(s, &range) < 0 || range.samples == 0)
		return 0;
	if (s->filter)
		time_choice_wall(filter_times_const(s->filter), &from, &until);
	from = range.first_ns > from ? range.first_ns : from;
	until = range.last_ns < until ? range.last_ns : until;
	return until > from ? until - from : 0;
}

bool
input_set_is_of_tasks(struct input_set *s)
{
	struct covered_span span;

	if (s->archive)
		return false;
	choose_times(s);
	return covered_span_find(&s->in, s->filter, 0, &span) && span.tasks;
}

uint64_t
input_set_wall(const struct input_set *s, uint64_t ns)
{
	return s->start.realtime ? ns - s->start.monotonic + s->start.realtime : 0;
}

uint64_t
input_set_realtime(const struct input_set *s, uint64_t ns)
{
	return s->samples ? input_set_wall(s, ns) : 0;
}

void
input_set_warn(const struct input_set *s, bool loss)
{
	if (s->bad_records > 0)
		screen_text_warn("%s: %" PRIu64 " records could not be parsed", s->path,
				 s->bad_records);
	if (loss)
		input_warn_loss(s->path, s->loss, s->samples);
}
