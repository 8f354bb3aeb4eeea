/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `spoor export -f perf-data` and `-f perf-data-file`: options to a file, a pipe, and words on
 * stderr.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/cli/output.h"
#include "symbolizer/input/coverage.h"
#include "symbolizer/input/input_set.h"
#include "symbolizer/input/temporary.h"
#include "symbolizer/perfdata/kallsyms_file.h"
#include "symbolizer/perfdata/perfdata_export.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/export.h"
#include "symbolizer/load/unmet.h"

#define COPY_BYTES (1u << 20)

/* Where the bytes go first, and where from there. */
struct target {
	struct output out;
	FILE *spool; /* file mode to what cannot be gone back in; NULL: straight */
	struct io_sink *sink;
	const char *name; /* of what the sink writes to */
	bool pipe;	  /* mode of the perf.data */
};

/* --- the kernel's symbols ---------------------------------------------------------------- */

struct symbols {
	const char *path; /* where they go; NULL: nowhere */
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
symbols_init(struct symbols *s, const struct export_request *rq)
{
	*s = (struct symbols){ .path = rq->given[EXPORT_write_kallsyms] };
	if (!s->path)
		return 0;
	if (strcmp(s->path, rq->output ? rq->output : "-") == 0)
		return cli_usage_error("export", "--write-kallsyms and -o are the same file");
	s->strings = intern_new(INTERN_BYTES_MAX);
	s->kernel = s->strings ? kernel_symbols_new(s->strings) : NULL;
	if (s->kernel)
		return 0;
	symbols_done(s);
	warnx("out of memory");
	return EXIT_FAILED;
}

static int
write_kallsyms(const struct symbols *s, uint64_t kernel_text, const struct input_access *access)
{
	struct output out;

	if (kernel_text == 0)
		screen_text_warn(
			"the recording does not tell where the kernel was: perf will not take %s",
			s->path);
	if (output_open(&out, s->path, access) != 0)
		return EXIT_FAILED;
	kallsyms_file_write(s->kernel, kernel_text, out.file);
	return output_close(&out, EXIT_DONE);
}

/* --- the bytes --------------------------------------------------------------------------- */

static FILE *
open_spool(void)
{
	int fd = temporary_open();
	FILE *spool = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!spool && fd >= 0) {
		warn(TEMPORARY_NAME);
		close(fd);
	}
	return spool;
}

static int
target_open(struct target *t, const struct export_request *rq, bool pipe,
	    const struct input_access *access)
{
	bool to_stdout = !rq->output || strcmp(rq->output, "-") == 0;
	int fd;

	*t = (struct target){ .name = to_stdout ? "standard output" : rq->output, .pipe = pipe };
	if (to_stdout && isatty(STDOUT_FILENO)) {
		screen_text_warn(
			"a perf.data is not for a terminal: name a file with -o, or pipe it to "
			"`perf report -i -`");
		return EXIT_FAILED;
	}
	if (output_open(&t->out, rq->output, access) != 0)
		return EXIT_FAILED;
	if (!pipe && !t->out.temporary) {
		t->spool = open_spool();
		if (!t->spool)
			return output_close(&t->out, EXIT_FAILED);
		t->name = TEMPORARY_NAME;
	}
	fd = fcntl(fileno(t->spool ? t->spool : t->out.file), F_DUPFD_CLOEXEC, 3);
	t->sink = fd < 0 ? NULL : io_sink_fd(fd);
	if (t->sink)
		return 0;
	warn("%s", t->name);
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
target_finish(struct target *t, const struct export_request *rq,
	      const uint8_t header[PERFDATA_HEADER_BYTES])
{
	const char *name = rq->output ? rq->output : "standard output";
	int fd = fileno(t->spool ? t->spool : t->out.file);

	if (t->pipe)
		return EXIT_DONE;
	if (pwrite(fd, header, PERFDATA_HEADER_BYTES, 0) != PERFDATA_HEADER_BYTES ||
	    (t->spool && copy_spool(t) < 0)) {
		if (errno != EPIPE)
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

struct run {
	const struct export_request *rq;
	const struct target *to;
	struct perfdata_export *x;
	struct perfdata_export_result result;
	uint64_t kernel_text; /* of the last recording */
	bool cut;	      /* a recording could not be read to its end: what it had is kept */
};

static int
say_failed(const struct run *r, int error, const struct fmt_where *where)
{
	const char *output = r->rq->output ? r->rq->output : "standard output";

	/* Who reads has seen enough: main says nothing of that either. */
	if (error == -FMT_E_IO && where->saved_errno == EPIPE)
		return EXIT_FAILED;
	if (error == -FMT_E_IO && where->saved_errno)
		screen_text_warn("%s: %s", r->to->name, strerror(where->saved_errno));
	else
		screen_text_warn("%s: %s: %s%s", output, fmt_error_text(error), where->detail,
				 error == -FMT_E_TOO_BIG && r->to->pipe
					 ? "; -f perf-data-file has room"
					 : "");
	return EXIT_FAILED;
}

static int
export_perfdata_look(struct run *r, const struct input *in)
{
	struct fmt_where where = { 0 };
	int error = perfdata_export_look(r->x, in->reader, &where);

	if (error == -FMT_E_MISMATCH) {
		screen_text_warn(
			"%s: is of another boot than those before it: they do not fit into one "
			"perf.data; choose with --since and --until",
			in->path);
		return EXIT_FAILED;
	}
	return error ? input_failed(in, error, &where) : EXIT_DONE;
}

static int
export_perfdata_add(struct run *r, const struct input *in)
{
	struct fmt_where where = { 0 };
	int read_error, error;

	error = perfdata_export_add(r->x, in->reader, in->stream, &read_error, &where);
	if (error)
		return say_failed(r, error, &where);
	if (read_error) {
		input_failed(in, read_error, &where);
		r->cut = true;
	}
	r->kernel_text = recording_reader_meta(in->reader)->kernel_text;
	return EXIT_DONE;
}

/* All recordings of an archive are looked at before the first one is written. */
static int
look_at_all(struct run *r)
{
	struct input_set set;
	int more = 0, status = input_set_open(&set, r->rq->load.path, r->rq->load.filter);

	while (status == EXIT_DONE && set.archive && (more = input_set_next(&set)) > 0) {
		status = export_perfdata_look(r, &set.in);
		input_set_leave(&set);
	}
	input_set_close(&set);
	return more < 0 ? EXIT_FAILED : status;
}

static int
add_all(struct run *r, struct input_set *set)
{
	int more = 0, status = EXIT_DONE;

	while (status == EXIT_DONE && (more = input_set_next(set)) > 0) {
		if (!set->archive)
			status = export_perfdata_look(r, &set->in);
		if (status == EXIT_DONE)
			status = export_perfdata_add(r, &set->in);
		if (status == EXIT_DONE && input_set_finish(set) < 0) {
			warnx("out of memory");
			status = EXIT_FAILED;
		}
	}
	return more < 0 ? EXIT_FAILED : status;
}

static int
write_all(struct run *r, struct input_set *set, struct target *t)
{
	struct fmt_where where = { 0 };
	int status = add_all(r, set), error;

	if (status != EXIT_DONE)
		return status;
	if (set->read == 0) {
		coverage_warn_nothing(set);
		return EXIT_FAILED;
	}
	error = perfdata_export_finish(r->x, &r->result, &where);
	if (error)
		return say_failed(r, error, &where);
	if (r->result.bad_records > 0)
		screen_text_warn("%s: %" PRIu64 " records that no event can parse are left out",
				 set->path, r->result.bad_records);
	if (r->result.left_out > 0)
		screen_text_warn("%s: more than 64 MiB of header sections: %" PRIu64
				 " are left out",
				 set->path, r->result.left_out);
	if (r->result.aux_left_out)
		screen_text_warn("%s: AUX data are left out: no filter can take them apart, and a "
				 "perf.data has those of one tracer",
				 set->path);
	input_set_warn(set, true);
	if (r->result.samples == 0 && r->result.aux_pieces == 0)
		coverage_warn_nothing(set);
	unmet_warn(set, NULL);
	return target_finish(t, r->rq, r->result.header);
}

static int
export_set(const struct export_request *rq, bool pipe, struct input_set *set,
	   const struct symbols *symbols)
{
	struct perfdata_export_options o = {
		.pipe = pipe,
		.filter = filter_given(rq->load.filter) ? rq->load.filter : NULL,
		.kernel = symbols->kernel,
	};
	struct target t;
	struct run r = { .rq = rq, .to = &t };
	int status = target_open(&t, rq, pipe, &set->access);

	if (status != EXIT_DONE)
		return status;
	if (perfdata_export_open(t.sink, &o, &r.x) < 0) {
		warnx("out of memory");
		status = EXIT_FAILED;
	}
	if (status == EXIT_DONE && set->archive)
		status = look_at_all(&r);
	if (status == EXIT_DONE)
		status = write_all(&r, set, &t);
	perfdata_export_close(r.x);
	status = target_close(&t, status);
	if (status == EXIT_DONE && symbols->path)
		status = write_kallsyms(symbols, r.kernel_text, &set->access);
	/* What came before the damage is kept. */
	return status == EXIT_DONE && r.cut ? EXIT_FAILED : status;
}

static int
export_perfdata(const struct export_request *rq, bool pipe)
{
	struct symbols symbols;
	struct input_set set;
	int status = symbols_init(&symbols, rq);

	if (status != EXIT_DONE)
		return status;
	status = input_set_open(&set, rq->load.path, rq->load.filter);
	if (status == EXIT_DONE)
		status = export_set(rq, pipe, &set, &symbols);
	input_set_close(&set);
	symbols_done(&symbols);
	return status;
}

int
export_perf_data(const struct export_request *rq)
{
	return export_perfdata(rq, true);
}

int
export_perf_data_file(const struct export_request *rq)
{
	return export_perfdata(rq, false);
}
