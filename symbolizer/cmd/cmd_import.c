/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor import: a perf.data as a recording. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/io.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/output.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/input/input.h"
#include "symbolizer/input/perfdata_directory.h"
#include "symbolizer/input/perfdata_input.h"
#include "symbolizer/text/screen_text.h"

static const struct cli_option options[] = {
	{ 'i', 'i', "input", "FILE", "perf.data to read; - is standard input" },
	{ 'o', 'o', "output", "FILE", "recording to write; - is standard output" },
	{ 'q', 'q', "quiet", NULL, "no summary at the end" },
	{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "import",
	.synopsis = "[options] PERF.DATA -o FILE",
	.about =
		"Writes what a perf.data holds (of perf record, in file or pipe mode) as a recording.",
	.options = options,
};

struct request {
	const char *path, *output;
	bool quiet;
};

static int
cmd_import_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	if (value == 'i')
		rq->path = text;
	else if (value == 'o')
		rq->output = text;
	else
		rq->quiet = true;
	return CLI_GO_ON;
}

static void
print_summary(const struct request *rq, const struct perfdata_import_result *r, int fd)
{
	struct stat st;

	fprintf(stderr,
		"spoor: %s: %" PRIu64 " samples in %" PRIu64 " kernel records, %" PRIu64
		" records of perf's tools, %" PRIu64 " samples lost",
		strcmp(rq->output, "-") == 0 ? "standard output" : rq->output, r->samples,
		r->records, r->tool_records, r->lost);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		fprintf(stderr, "; %jd bytes", (intmax_t)st.st_size);
	fputc('\n', stderr);
	/* A trace has no samples that could be missing. */
	for (int i = LOSS_AUX_TRUNCATED; i <= LOSS_AUX_DROPPED; i++)
		if (r->loss[i])
			screen_text_warn("%" PRIu64 " %s: %s", r->loss[i],
					 loss_unit((enum loss_cause)i),
					 loss_text((enum loss_cause)i));
}

/* What comes by a pipe in pipe mode is not held in memory: it may go on for days. */
static struct io_source *
open_pipe(int fd)
{
	struct io_source *source = io_source_pipe(fd);
	struct perfdata_header h;
	uint8_t head[PERFDATA_HEADER_BYTES];
	ssize_t n;
	int error;

	if (!source)
		return NULL;
	n = source->read(source, 0, head, sizeof(head));
	if (n >= 0 && (perfdata_header_decode(span_of(head, (size_t)n), &h, NULL) != 0 || h.pipe))
		return source;
	error = n < 0 ? (int)n : io_source_slurp(source);
	if (!error)
		return source;
	source->close(source);
	errno = -error;
	return NULL;
}

/* others: what a directory has besides. NULL after a message. */
static struct io_source *
open_input(const char *path, struct perfdata_others *others, const char **ret_shown,
	   struct input_access *ret_access)
{
	struct io_source *source = NULL;
	const bool directory = strcmp(path, "-") != 0 && perfdata_directory_is(path);
	struct stat st;
	int fd;

	*ret_shown = path;
	if (directory) {
		fd = perfdata_directory_open(path, others, ret_access);
		if (fd < 0)
			return NULL;
	} else if (strcmp(path, "-") == 0) {
		*ret_shown = "standard input";
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	} else {
		fd = io_open(AT_FDCWD, path, 0);
	}
	if (fd >= 0 && !directory)
		input_access_of(fd, ret_access);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
		source = open_pipe(fd);
	else if (fd >= 0)
		source = io_source_fd(fd);
	if (!source && errno == ENOTSUP)
		screen_text_warn("%s: is a device, not a perf.data", *ret_shown);
	else if (!source && errno == EISDIR)
		screen_text_warn(
			"%s: is a directory, and not one of perf record --threads or --kcore",
			*ret_shown);
	else if (!source && !input_say_unreadable(*ret_shown, errno))
		warn("%s", *ret_shown);
	return source;
}

/*
 * Of one file; or of a directory, whose other files are in others then. The recording goes to where o points, which
 * output_close() looks after.
 */
static int
import_files(const struct request *rq, const struct output *o, struct perfdata_others *others,
	     struct input_access *ret_access)
{
	struct perfdata_import_result result;
	const char *shown, *to = strcmp(rq->output, "-") == 0 ? "standard output" : rq->output;
	struct io_source *source = open_input(rq->path, others, &shown, ret_access);
	struct io_sink *sink;
	int fd;

	if (!source)
		return EXIT_FAILED;
	fd = fcntl(fileno(o->file), F_DUPFD_CLOEXEC, 3);
	sink = fd < 0 ? NULL : io_sink_fd(fd);
	if (!sink) {
		warn("%s", to);
		source->close(source);
		if (fd >= 0)
			close(fd);
		return EXIT_FAILED;
	}
	if (perfdata_input_import(source, others->sources ? others : NULL, shown, sink, to,
				  &result) != 0)
		return EXIT_FAILED;
	if (!rq->quiet)
		print_summary(rq, &result, fileno(o->file));
	return EXIT_DONE;
}

static int
import(const struct request *rq, const struct output *o, struct input_access *ret_access)
{
	struct perfdata_others others = { .nr = 0 };
	int status = import_files(rq, o, &others, ret_access);

	perfdata_directory_close(&others);
	return status;
}

int
cmd_import(int argc, char **argv)
{
	struct input_access access = INPUT_ACCESS_NONE_READ;
	struct request rq = { 0 };
	struct output o;
	int status;

	status = cli_parse_file(&syntax, argc, argv, cmd_import_set, &rq, &rq.path);
	if (status != CLI_GO_ON)
		return status;
	if (!rq.path)
		return cli_usage_error("import", "which perf.data?");
	if (!rq.output)
		return cli_usage_error("import", "-o FILE says where the recording goes");
	if (strcmp(rq.output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_usage_error("import", "standard output is a terminal");
	status = output_open(&o, rq.output, &access);
	if (status == 0)
		status = output_close(&o, import(&rq, &o, &access));
	return status;
}
