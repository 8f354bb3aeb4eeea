/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/perfdata_input.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/input/exit_status.h"
#include "symbolizer/input/temporary.h"
#include "symbolizer/text/screen_text.h"

bool
perfdata_input_probe(struct io_source *source)
{
	uint8_t magic[PERFDATA_MAGIC_BYTES];

	return source->read(source, 0, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
		perfdata_header_probe(span_of(magic, sizeof(magic)));
}

static void
say_error(const char *path, int error, const struct fmt_where *where)
{
	if (where->saved_errno)
		screen_text_warn("%s: %s", path, strerror(where->saved_errno));
	else if (error == -FMT_E_UNSUPPORTED || error == -FMT_E_NOT_RECORDING)
		screen_text_warn("%s: %s", path, where->detail);
	else if (error == -FMT_E_EMPTY)
		screen_text_warn("%s: %s", path, fmt_error_text(error));
	else
		screen_text_warn("%s: offset %" PRIu64 ": %s: %s", path, where->offset,
				 fmt_error_text(error), where->detail);
}

static void
say_damage(const char *path, const struct perfdata_import_result *r)
{
	const struct perfdata_health *h = &r->health;

	if (h->unfinished)
		screen_text_warn(
			"%s: perf record was killed: read as far as it goes; what it writes last "
			"(build-ids, host, event names) is missing",
			path);
	if (r->ended == -FMT_E_TRUNCATED)
		screen_text_warn("%s: ends in the middle (offset %" PRIu64
				 ": %s); what is before is read",
				 path, r->where.offset, r->where.detail);
	else if (r->ended)
		screen_text_warn("%s: damaged at offset %" PRIu64 ": %s; what is before is read",
				 path, r->where.offset, r->where.detail);
	if (h->skipped > 0)
		screen_text_warn("%s: damaged: records and sections passed over: %" PRIu64
				 " (first at offset %" PRIu64 ": %s)",
				 path, h->skipped, h->first.offset, h->first.detail);
	if (h->unpacked_failed > 0)
		screen_text_warn(
			"%s: packed records that cannot be unpacked (their stream is damaged, or "
			"began in another file of perf record --switch-output): %" PRIu64
			" (first trouble at offset %" PRIu64 ": %s)",
			path, h->unpacked_failed, h->first.offset, h->first.detail);
	if (r->bad_records > 0)
		screen_text_warn("%s: %" PRIu64 " records could not be parsed", path,
				 r->bad_records);
}

int
perfdata_input_import(struct io_source *source, struct perfdata_others *others, const char *input,
		      struct io_sink *sink, const char *output, struct perfdata_import_result *ret)
{
	struct fmt_where where = { 0 };
	bool reading = false;
	int error = perfdata_import_directory(source, others, sink, ret, &reading, &where);

	if (error) {
		say_error(reading ? input : output, error, &where);
		return EXIT_FAILED;
	}
	say_damage(input, ret);
	return 0;
}

struct io_source *
perfdata_input_convert(struct io_source *source, struct perfdata_others *others, const char *input,
		       bool *ret_whole)
{
	struct perfdata_import_result result;
	struct io_source *recording;
	struct io_sink *sink;
	int fd, copy;

	fd = temporary_open();
	copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	sink = copy < 0 ? NULL : io_sink_fd(copy);
	if (!sink) {
		if (fd >= 0)
			warn(TEMPORARY_NAME);
		if (copy >= 0)
			close(copy);
		if (fd >= 0)
			close(fd);
		source->close(source);
		return NULL;
	}
	if (perfdata_input_import(source, others, input, sink, TEMPORARY_NAME, &result) != 0) {
		close(fd);
		return NULL;
	}
	*ret_whole = perfdata_import_whole(&result) && result.bad_records == 0;
	recording = io_source_fd(fd);
	if (!recording)
		warn(TEMPORARY_NAME);
	return recording;
}
