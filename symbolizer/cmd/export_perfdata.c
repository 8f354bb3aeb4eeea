/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cmd/export_perfdata.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/cmd/output.h"
#include "symbolizer/kallsyms_file.h"
#include "symbolizer/perfdata_export.h"

#define COPY_BYTES (1u << 20)

/* Where the bytes go first, and where from there. */
struct target {
	struct output out;
	FILE *spool; /* file mode to what cannot be gone back in; NULL: straight */
	struct io_sink *sink;
};

/* --- the kernel's symbols ---------------------------------------------------------------- */

struct symbols {
	struct intern *strings;
	struct kernel_symbols *kernel; /* NULL: not wanted */
};

static void
symbols_done(struct symbols *s)
{
	kernel_symbols_free(s->kernel);
	intern_free(s->strings);
}

static int
symbols_init(struct symbols *s, const char *wanted)
{
	*s = (struct symbols){ 0 };
	if (!wanted)
		return 0;
	s->strings = intern_new();
	s->kernel = s->strings ? kernel_symbols_new(s->strings) : NULL;
	if (s->kernel)
		return 0;
	symbols_done(s);
	warnx("out of memory");
	return EXIT_FAILED;
}

static int
write_kallsyms(const struct symbols *s, const struct recording_meta *meta, const char *path)
{
	struct output out;

	if (meta->kernel_text == 0)
		warnx("the recording does not tell where the kernel was: perf will not take %s",
		      path);
	if (output_open(&out, path) != 0)
		return EXIT_FAILED;
	kallsyms_file_write(s->kernel, meta->kernel_text, out.file);
	return output_close(&out, EXIT_DONE);
}

/* --- the bytes --------------------------------------------------------------------------- */

static int
target_open(struct target *t, const struct export_perfdata *rq)
{
	bool to_stdout = !rq->output || strcmp(rq->output, "-") == 0;
	int fd;

	*t = (struct target){ 0 };
	if (to_stdout && isatty(STDOUT_FILENO)) {
		warnx("a perf.data is not for a terminal: name a file with -o, or pipe it to "
		      "`perf report -i -`");
		return EXIT_FAILED;
	}
	if (output_open(&t->out, rq->output) != 0)
		return EXIT_FAILED;
	if (!rq->pipe && !t->out.temporary) {
		t->spool = tmpfile();
		if (!t->spool) {
			warn("a temporary file");
			return output_close(&t->out, EXIT_FAILED);
		}
	}
	fd = fcntl(fileno(t->spool ? t->spool : t->out.file), F_DUPFD_CLOEXEC, 3);
	t->sink = fd < 0 ? NULL : io_sink_fd(fd);
	if (t->sink)
		return 0;
	warn("%s", rq->output ? rq->output : "standard output");
	if (t->spool)
		fclose(t->spool);
	return output_close(&t->out, EXIT_FAILED);
}

/* 0 or -1 with errno set. */
static int
copy_spool(struct target *t)
{
	char *p = malloc(COPY_BYTES);
	size_t n;
	int result = p ? fseek(t->spool, 0, SEEK_SET) : -1;

	while (result == 0 && (n = fread(p, 1, COPY_BYTES, t->spool)) > 0)
		if (fwrite(p, 1, n, t->out.file) != n)
			result = -1;
	if (result == 0 && (ferror(t->spool) || fflush(t->out.file) != 0))
		result = -1;
	free(p);
	return result;
}

/* The sizes go to the beginning, and all of it where it was wanted. */
static int
target_finish(struct target *t, const struct export_perfdata *rq,
	      const uint8_t header[PERFDATA_HEADER_BYTES])
{
	const char *name = rq->output ? rq->output : "standard output";
	int fd = fileno(t->spool ? t->spool : t->out.file);

	if (rq->pipe)
		return EXIT_DONE;
	if (pwrite(fd, header, PERFDATA_HEADER_BYTES, 0) != PERFDATA_HEADER_BYTES ||
	    (t->spool && copy_spool(t) < 0)) {
		warn("%s", name);
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

static int
target_close(struct target *t, int status)
{
	t->sink->close(t->sink);
	if (t->spool)
		fclose(t->spool);
	return output_close(&t->out, status);
}

/* --- the export -------------------------------------------------------------------------- */

static void
say(const struct input *in, const struct export_perfdata *rq, int error,
    const struct perfdata_export_result *result, const struct fmt_where *where)
{
	if (result->bad_records > 0)
		warnx("%" PRIu64 " records that no event can parse are left out",
		      result->bad_records);
	if (error == 0)
		input_warn(in);
	if (error == -FMT_E_IO && where->saved_errno)
		warnx("%s: %s", rq->output ? rq->output : "standard output",
		      strerror(where->saved_errno));
	else if (error < 0)
		warnx("%s: %s", fmt_error_text(error), where->detail);
	else if (result->read_error < 0)
		input_failed(in, result->read_error, where);
}

static int export(const struct export_perfdata *rq, struct input *in, const struct symbols *symbols)
{
	struct perfdata_export_options o = { .pipe = rq->pipe, .kernel = symbols->kernel };
	struct perfdata_export_result result = { 0 };
	struct fmt_where where = { 0 };
	struct target t;
	int error, status;

	if (rq->filtered)
		o.filter = rq->load->filter;
	error = input_window(in, rq->load->filter, &o.windowed, &where);
	if (error < 0)
		return input_failed(in, error, &where);
	status = target_open(&t, rq);
	if (status != 0)
		return status;
	error = perfdata_export(in->reader, in->stream, t.sink, &o, &result, &where);
	say(in, rq, error, &result, &where);
	status = error ? EXIT_FAILED : target_finish(&t, rq, result.header);
	status = target_close(&t, status);
	if (status == EXIT_DONE && rq->kallsyms)
		status = write_kallsyms(symbols, recording_reader_meta(in->reader), rq->kallsyms);
	/* What came before the damage is kept. */
	return status == EXIT_DONE && result.read_error ? EXIT_FAILED : status;
}

int
export_perfdata(const struct export_perfdata *rq)
{
	struct symbols symbols;
	struct input in;
	int status = input_open(&in, rq->load->path);

	if (status != 0)
		return status;
	status = symbols_init(&symbols, rq->kallsyms);
	if (status == 0)
		status = export(rq, &in, &symbols);
	symbols_done(&symbols);
	input_close(&in);
	return status;
}
