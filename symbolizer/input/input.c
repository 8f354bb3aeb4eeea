/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/input.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/block/recording_header.h"
#include "format/bytes/io_shared.h"
#include "format/bytes/time_text.h"
#include "symbolizer/input/exit_status.h"
#include "symbolizer/input/perfdata_directory.h"
#include "symbolizer/input/perfdata_input.h"
#include "symbolizer/text/screen_text.h"

#define DEFAULT_PATH "recording.spoor"

bool
input_say_unreadable(const char *shown, int error)
{
	if (error == EISDIR)
		screen_text_warn("%s: is a directory; name one recording in it", shown);
	else if (error == ENOTSUP)
		screen_text_warn("%s: is a device, not a recording", shown);
	else if (error == ESPIPE)
		screen_text_warn("%s: is a FIFO; what comes through one is read from standard "
				 "input (-)",
				 shown);
	else
		return false;
	return true;
}

static int
open_fd(const char *path, const char **ret_shown)
{
	int fd;

	if (path && strcmp(path, "-") == 0) {
		*ret_shown = "standard input";
		if (isatty(STDIN_FILENO)) {
			screen_text_warn(
				"standard input is a terminal; a recording is wanted there");
			return -1;
		}
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	} else {
		*ret_shown = path ? path : DEFAULT_PATH;
		fd = io_open(AT_FDCWD, *ret_shown, 0);
	}
	if (fd >= 0)
		return fd;
	if (input_say_unreadable(*ret_shown, errno))
		return -1;
	if (!path && errno == ENOENT)
		screen_text_warn("there is no " DEFAULT_PATH
				 " here: name a recording, or make one with "
				 "`spoor record`");
	else
		warn("%s", *ret_shown);
	return -1;
}

static void
say_open_failed(const struct input *in, int error, const struct fmt_where *where)
{
	if (where->saved_errno)
		screen_text_warn("%s: %s", in->path, strerror(where->saved_errno));
	else if (error == -FMT_E_EMPTY || error == -FMT_E_NOT_RECORDING)
		screen_text_warn("%s: %s", in->path, fmt_error_text(error));
	else
		screen_text_warn("%s: %s: %s", in->path, fmt_error_text(error), where->detail);
}

static uint64_t
written_ns(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_mtim.tv_sec <= 0)
		return 1;
	return (uint64_t)time_text_ns(&st.st_mtim);
}

/*
 * What a recorder appends later is not there: it would be in one walk over the file and not in that before it, and samples
 * would be counted that are of no time that was looked at. NULL with errno.
 */
static struct io_source *
source_as_it_is(int fd)
{
	struct io_source *source = io_source_fd(fd);
	int64_t size;

	if (!source)
		return NULL;
	size = source->size(source);
	if (size < 0) {
		source->close(source);
		errno = (int)-size;
		return NULL;
	}
	return io_source_front(source, (uint64_t)size);
}

/* in has what is known besides. */
static int
open_source(struct input *in, struct io_source *source)
{
	struct fmt_where where = { 0 };
	int error;

	source = io_source_share(source, &in->source);
	if (!source) {
		warnx("out of memory");
		return EXIT_FAILED;
	}
	error = recording_reader_open(source, &in->reader, &where);
	if (error) {
		say_open_failed(in, error, &where);
		input_close(in);
		return EXIT_FAILED;
	}
	in->parts = recording_reader_meta(in->reader)->parts != NULL;
	error = record_stream_open(in->reader, &in->stream);
	if (error) {
		screen_text_warn("%s: %s", in->path, fmt_error_text(error));
		input_close(in);
		return EXIT_FAILED;
	}
	return 0;
}

int
input_open_source(struct input *in, struct io_source *source, const char *shown,
		  const struct input_access *access)
{
	*in = (struct input){ .path = shown, .access = *access };
	return open_source(in, source);
}

static int
open_file(struct input *in, int fd, const char *shown, struct perfdata_others *others)
{
	uint64_t written = written_ns(fd);
	struct io_source *source;
	bool whole = true;

	memset(in, 0, sizeof(*in));
	in->path = shown;
	input_access_of(fd, &in->access);
	source = source_as_it_is(fd);
	if (!source) {
		if (!input_say_unreadable(in->path, errno))
			warn("%s", in->path);
		return EXIT_FAILED;
	}
	in->perfdata_ns = perfdata_input_probe(source) ? written : 0;
	if (in->perfdata_ns)
		source = perfdata_input_convert(source, others, in->path, &whole);
	in->incomplete = !whole;
	return source ? open_source(in, source) : EXIT_FAILED;
}

int
input_open_fd(struct input *in, int fd, const char *shown)
{
	return open_file(in, fd, shown, NULL);
}

bool
input_is_recording(const char *path)
{
	uint8_t magic[PERFDATA_MAGIC_BYTES];
	/* A FIFO is not waited for, and read from by nobody else. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	bool whole;

	_Static_assert(sizeof(magic) == RECORDING_MAGIC_BYTES, "one read is enough for both");
	if (fd < 0)
		return false;
	whole = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic);
	close(fd);
	return whole &&
		(memcmp(magic, RECORDING_MAGIC, sizeof(magic)) == 0 ||
		 perfdata_header_probe(span_of(magic, sizeof(magic))));
}

static bool
is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool
input_is_first(const char *first, const char *second)
{
	return (input_is_recording(first) || is_directory(first)) && !input_is_recording(second) &&
		!is_directory(second) && strcmp(second, "-") != 0;
}

static int
open_directory(struct input *in, const char *path)
{
	struct perfdata_others others;
	struct input_access access;
	int fd = perfdata_directory_open(path, &others, &access), status = EXIT_FAILED;

	if (fd >= 0)
		status = open_file(in, fd, path, &others);
	in->access = access;
	perfdata_directory_close(&others);
	return status;
}

int
input_open(struct input *in, const char *path)
{
	const char *shown;
	int fd;

	memset(in, 0, sizeof(*in));
	if (path && strcmp(path, "-") != 0 && perfdata_directory_is(path))
		return open_directory(in, path);
	fd = open_fd(path, &shown);
	return fd < 0 ? EXIT_FAILED : open_file(in, fd, shown, NULL);
}

void
input_close(struct input *in)
{
	record_stream_close(in->stream);
	recording_reader_close(in->reader);
	if (in->source)
		in->source->close(in->source);
	memset(in, 0, sizeof(*in));
}

/* Looks at a block's header and wants no payload. */
static bool
see_header(const struct block_header *h, void *arg)
{
	struct input_range *r = arg;

	if (h->type == BLOCK_RECORDS && h->samples > 0) {
		if (h->t_min < r->first_ns)
			r->first_ns = h->t_min;
		if (h->t_max > r->last_ns)
			r->last_ns = h->t_max;
		r->samples += h->samples;
	}
	return false;
}

int
input_range(struct input *in, struct input_range *ret, struct fmt_where *where)
{
	struct input_range r = { UINT64_MAX, 0, 0 };
	struct block none;
	int error;

	recording_reader_rewind(in->reader);
	error = recording_reader_next(in->reader, see_header, &r, &none, where);
	recording_reader_rewind(in->reader);
	if (error)
		return error;
	*ret = r;
	return 0;
}

int
input_window(struct input *in, struct filter *filter, bool *ret_windowed, struct fmt_where *where)
{
	struct input_range range = { 0 };
	const struct clock_triple *start = &recording_reader_meta(in->reader)->start;
	struct time_choice *times = filter_times(filter);
	const struct stream_slice *slices = NULL;
	uint64_t from, until;
	size_t nr_slices;
	int error;

	if (time_choice_needs_range(times)) {
		error = input_range(in, &range, where);
		if (error < 0)
			return error;
		time_choice_range(times, false, range.first_ns, range.last_ns);
	}
	if (time_choice_window(times, start, &from, &until) < 0)
		return fmt_fail(where, FMT_E_UNSUPPORTED, 0,
				"it does not know the time of day, which --since and --until need");
	nr_slices = time_choice_within(times, start, &slices);
	if (ret_windowed)
		*ret_windowed = from != 0 || until != UINT64_MAX;
	record_stream_window(in->stream, from, until);
	return record_stream_slices(in->stream, slices, nr_slices);
}

int
input_failed(const struct input *in, int error, const struct fmt_where *where)
{
	screen_text_warn("%s: offset %" PRIu64 ": %s%s%s", in->path, where->offset,
			 fmt_error_text(error), where->saved_errno || where->detail[0] ? ": " : "",
			 where->saved_errno ? strerror(where->saved_errno) : where->detail);
	return EXIT_FAILED;
}

static void
warn_damage(const char *path, const struct recording_health *h, bool live)
{
	if (h->header_damaged)
		screen_text_warn("%s: the file header is damaged; its copy in the file was used",
				 path);
	if (h->damaged_blocks > 0 || h->damaged_bytes > 0 || h->moved_blocks > 0)
		screen_text_warn("%s: damaged: blocks lost: %" PRIu64
				 ", bytes passed over: %" PRIu64 " (first at offset %" PRIu64
				 ": %s)",
				 path, h->damaged_blocks, h->damaged_bytes, h->first.offset,
				 h->first.detail);
	if (h->bad_indexes > 0)
		screen_text_warn("%s: %" PRIu64 " indexes contradict the blocks that they list",
				 path, h->bad_indexes);
	if (!h->closed && live)
		;
	else if (!h->closed && h->torn_tail_bytes > 0)
		screen_text_warn(
			"%s: not closed in order: its end is missing, or still being written "
			"(%" PRIu64 " bytes of a block begun)",
			path, h->torn_tail_bytes);
	else if (!h->closed)
		screen_text_warn(
			"%s: not closed in order: its end is missing, or still being written",
			path);
	else if (h->torn_tail_bytes > 0)
		screen_text_warn("%s: %" PRIu64 " bytes behind its end", path, h->torn_tail_bytes);
	if (h->unknown_blocks > 0)
		screen_text_warn("%s: %" PRIu64 " blocks of kinds that this version does not know",
				 path, h->unknown_blocks);
}

void
input_warn_damage(const struct input *in)
{
	warn_damage(in->path, recording_reader_health(in->reader), in->live);
}

void
input_loss_text(enum loss_cause cause, uint64_t n, char *out, size_t size)
{
	if (strcmp(loss_unit(cause), "ns") == 0)
		snprintf(out, size, "%" PRIu64 ".%03" PRIu64 " s", n / 1000000000,
			 n / 1000000 % 1000);
	else
		snprintf(out, size, "%" PRIu64 " %s", n, loss_unit(cause));
}

static double
seconds_since(uint64_t ns, uint64_t start_ns)
{
	return ((double)ns - (double)start_ns) / 1e9;
}

void
input_gap_text(const struct gap *gap, uint64_t start_ns, char *out, size_t size)
{
	const char *why = loss_text((enum loss_cause)gap->cause);
	char cpu[32] = "all CPUs", until[48] = "the end of this file", samples[48] = "";

	if (gap->cpu != GAP_CPU_ALL)
		snprintf(cpu, sizeof(cpu), "CPU %" PRIu32, gap->cpu);
	if (gap->until_ns)
		snprintf(until, sizeof(until), "%+.3f s", seconds_since(gap->until_ns, start_ns));
	if (gap->samples)
		snprintf(samples, sizeof(samples), ", %" PRIu64 " samples", gap->samples);
	snprintf(out, size, "%s, %+.3f s to %s%s: %s", cpu, seconds_since(gap->from_ns, start_ns),
		 until, samples, why ? why : "for a reason that this version does not know");
}

/* The one cause whose unit is samples; -1: there are several, or none. */
static int
only_cause(const struct loss *loss)
{
	const uint64_t lost = loss_samples(loss);

	for (int cause = 0; cause < LOSS_CAUSES && lost > 0; cause++)
		if (strcmp(loss_unit((enum loss_cause)cause), "samples") == 0 &&
		    loss_total(loss, (enum loss_cause)cause) == lost)
			return cause;
	return -1;
}

void
input_warn_loss(const char *path, const struct loss *loss, uint64_t samples)
{
	const uint64_t lost = loss_samples(loss);
	const int only = only_cause(loss);
	char text[64];

	if (lost > 0)
		screen_text_warn("%s: %" PRIu64 " sample%s lost (%.1f %% of %" PRIu64 ")%s%s", path,
				 lost, lost == 1 ? "" : "s",
				 100.0 * (double)lost / ((double)lost + (double)samples),
				 lost + samples, only < 0 ? "" : ": ",
				 only < 0 ? "" : loss_text((enum loss_cause)only));
	for (int cause = 0; cause < LOSS_CAUSES; cause++) {
		uint64_t n = loss_total(loss, (enum loss_cause)cause);

		if (n == 0 || cause == only)
			continue;
		input_loss_text((enum loss_cause)cause, n, text, sizeof(text));
		screen_text_warn("%s: loss: %s: %s", path, text, loss_text((enum loss_cause)cause));
	}
}
