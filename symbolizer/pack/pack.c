/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/pack/pack.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/io_shared.h"
#include "format/recording/recording_resume.h"
#include "format/recording/segment_name.h"
#include "symbolizer/cli/output.h"
#include "symbolizer/cli/record_output.h"
#include "symbolizer/input/coverage.h"
#include "symbolizer/input/temporary.h"
#include "symbolizer/pack/pack_object.h"
#include "symbolizer/pack/pack_window.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"

#define ZSTD_LEVEL_PACKED 6 /* it is packed once, and carried about */
#define MISSING_TOLD 5

/* --- what samples are in ----------------------------------------------------------------- */

/* An address of an object. */
struct sampled {
	const struct object *object;
	uint64_t address;
	const char *path;
};

static int
compare_sampled(const void *x, const void *y)
{
	const struct sampled *a = x, *b = y;

	if (a->object != b->object)
		return (uintptr_t)a->object < (uintptr_t)b->object ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* Those of all frames, by object. */
static int
find_sampled(const struct profile *p, struct sampled **ret, size_t *ret_nr)
{
	const size_t frames = profile_frames(p);
	struct sampled *s = calloc(frames + 1, sizeof(*s));
	size_t nr = 0;

	if (!s)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < frames; i++) {
		const struct frame *f = profile_frame(p, (uint32_t)i);

		if (f->object && !f->kernel)
			s[nr++] = (struct sampled){ f->object, f->looked_up, f->dso_path };
	}
	qsort(s, nr, sizeof(*s), compare_sampled);
	*ret = s;
	*ret_nr = nr;
	return 0;
}

/* Of one object, which is the first of nr. */
static int
pack_one(struct pack_job *job, const struct sampled *s, size_t nr, uint64_t *addresses,
	 struct fmt_where *where)
{
	for (size_t i = 0; i < nr; i++)
		addresses[i] = s[i].address;
	return pack_object(job, s->object, s->path, addresses, nr, where);
}

static int
pack_all(struct pack_job *job, const struct profile *p, uint64_t *ret_unknown,
	 struct fmt_where *where)
{
	struct sampled *s = NULL;
	uint64_t *addresses = NULL;
	size_t nr = 0;
	int error = find_sampled(p, &s, &nr);

	if (!error && !(addresses = calloc(nr + 1, sizeof(*addresses))))
		error = -FMT_E_NOMEM;
	for (size_t i = 0, end; i < nr && !error; i = end) {
		for (end = i; end < nr && s[end].object == s[i].object;)
			end++;
		if (s[i].object->build_id.size == 0)
			++*ret_unknown;
		else
			error = pack_one(job, &s[i], end - i, addresses, where);
	}
	free(addresses);
	free(s);
	return error;
}

/* --- what is missing --------------------------------------------------------------------- */

static bool
is_missing(const struct frame *f)
{
	return !f->kernel && !f->symbol && !f->object &&
		(f->miss == RESOLVE_NO_FILE || f->miss == RESOLVE_MISMATCH ||
		 f->miss == RESOLVE_UNSURE || f->miss == RESOLVE_BAD_FILE);
}

static int
compare_texts(const void *x, const void *y)
{
	const char *const *a = x, *const *b = y;

	return strcmp(*a, *b);
}

/* Of what samples are in and is not here names are missing wherever the recording is read. */
static void
say_missing(const char *path, const struct profile *p)
{
	const size_t frames = profile_frames(p);
	const char **paths = calloc(frames + 1, sizeof(*paths));
	size_t nr = 0, told = 0, different = 0;

	for (size_t i = 0; paths && i < frames; i++) {
		const struct frame *f = profile_frame(p, (uint32_t)i);

		if (is_missing(f))
			paths[nr++] = f->dso_path;
	}
	if (nr > 0)
		qsort(paths, nr, sizeof(*paths), compare_texts);
	for (size_t i = 0; i < nr; i++) {
		char *shown;

		if (i > 0 && strcmp(paths[i], paths[i - 1]) == 0)
			continue;
		if (++different > MISSING_TOLD)
			continue;
		shown = escape_dup(paths[i]);
		screen_text_warn("%s: %s: is not here, or is another build: it is not packed", path,
				 shown ? shown : "a file");
		free(shown);
		told++;
	}
	if (different > told)
		screen_text_warn("%s: %zu more objects are not here: they are not packed", path,
				 different - told);
	free(paths);
}

struct pack_result {
	uint64_t unknown; /* objects without a build-id */
	uint64_t bytes;	  /* of the file, or of the cover */
	size_t parts;	  /* of a window: its recordings */
};

static void
say_packed(const struct pack_request *rq, const struct pack_counts *c, const char *path,
	   const struct pack_result *result, uint64_t more)
{
	char parts[48] = "";

	if (result->unknown > 0)
		screen_text_warn("%s: %" PRIu64 " object%s without a recorded build-id: not packed",
				 path, result->unknown, result->unknown == 1 ? "" : "s");
	if (c->refused > 0)
		screen_text_warn("%s: %" PRIu64 " file%s changed, or could not be read: not packed",
				 path, c->refused, c->refused == 1 ? "" : "s");
	if (result->parts > 0)
		snprintf(parts, sizeof(parts), "%zu recording%s, ", result->parts,
			 result->parts == 1 ? "" : "s");
	if (!rq->quiet)
		fprintf(stderr, "[ spoor pack: %s%" PRIu64 " objects, %.2f MB more, in %s ]\n",
			parts, c->objects, (double)more / 1e6, rq->output ? rq->output : path);
}

/* --- the file ---------------------------------------------------------------------------- */

static struct io_sink *
open_sink(const struct output *o)
{
	int fd = fcntl(fileno(o->file), F_DUPFD_CLOEXEC, 3);
	struct io_sink *sink = fd < 0 ? NULL : io_sink_fd(fd);

	if (!sink && fd >= 0)
		close(fd);
	return sink;
}

static int
pack_failed(const char *path, const struct pack_job *job, int error, const struct fmt_where *where)
{
	const struct input in = { .path = path };

	if (error == -FMT_E_IO && job->counts.error) {
		errno = job->counts.error;
		warn(TEMPORARY_NAME);
		return EXIT_FAILED;
	}
	return input_failed(&in, error, where);
}

/* What names the samples, behind what the writer has; the writer is done with. */
static int
write_objects(struct pack_job *job, const struct load *l, struct pack_result *ret,
	      struct fmt_where *where)
{
	struct recording_writer_stats st;
	int error = pack_all(job, l->profile, &ret->unknown, where);

	free(job->done);
	recording_writer_stats(job->writer, &st);
	ret->bytes = st.file_bytes;
	if (error)
		recording_writer_abandon(job->writer);
	else
		error = recording_writer_close(job->writer, 1, where);
	return error;
}

/* The recording as it is, and what names it behind it. */
static int
write_packed(const struct pack_request *rq, const struct load *l, struct input *in,
	     struct packed_objects *there, struct output *o, struct input_access *access)
{
	const struct recording_writer_options options = { .zstd_level = ZSTD_LEVEL_PACKED };
	struct pack_job job = { .there = there, .names_only = rq->names_only, .access = access };
	const uint64_t before = recording_reader_size(in->reader);
	struct pack_result result = { 0 };
	struct fmt_where where = { 0 };
	struct io_sink *sink = open_sink(o);
	int error;

	if (!sink) {
		warn("%s", rq->output ? rq->output : in->path);
		return EXIT_FAILED;
	}
	error = recording_resume(in->reader, in->source, sink, &options, &job.writer, &where);
	if (error)
		return input_failed(in, error, &where);
	error = write_objects(&job, l, &result, &where);
	if (error)
		return pack_failed(in->path, &job, error, &where);
	say_missing(in->path, l->profile);
	say_packed(rq, &job.counts, in->path, &result,
		   result.bytes > before ? result.bytes - before : 0);
	return EXIT_DONE;
}

/* Packed in place it stays its owner's, unless it has now what that user may not read. */
static void
leave_owner(int in_place, const struct output *o, bool public)
{
	struct stat was, is;

	if (fstat(in_place, &was) < 0 || fstat(fileno(o->file), &is) < 0 ||
	    (was.st_uid == is.st_uid && was.st_gid == is.st_gid))
		return;
	if (!public)
		screen_text_warn(
			"%s: belongs to you now: not all packed files may be read by all users",
			o->path);
	else if (fchown(fileno(o->file), was.st_uid, was.st_gid) < 0)
		screen_text_warn("%s: its owner cannot be kept: %s", o->path, strerror(errno));
}

/* in_place: the file that is replaced, or -1. */
static int
pack_into(const struct pack_request *rq, const struct load *l, struct input *in, int in_place)
{
	const char *output = rq->output ? rq->output : rq->load->path;
	struct input_access access = in->access, files = INPUT_ACCESS_NONE_READ;
	struct packed_objects *there = NULL;
	struct io_source *again;
	struct output o;
	int status;

	if (in->perfdata_ns && !rq->output)
		return cli_usage_error(
			rq->load->command,
			"-o FILE says where the recording goes that a perf.data becomes");
	in->source = io_source_share(in->source, &again);
	if (!in->source || packed_objects_new(again, &there) < 0) {
		warnx("out of memory");
		return EXIT_FAILED;
	}
	status = output_open(&o, output, &access);
	if (status == 0) {
		status = write_packed(rq, l, in, there, &o, &files);
		input_access_add(&access, &files);
		if (status == EXIT_DONE && in_place >= 0)
			leave_owner(in_place, &o, (files.mode & S_IROTH) != 0);
		status = output_close(&o, status);
	}
	packed_objects_free(there);
	return status;
}

/* The lock of what is replaced, so that no recorder is writing it; -1 in *ret_fd: nothing is. */
static int
take_in_place(const struct pack_request *rq, int *ret_fd)
{
	const char *path = rq->load->path, *slash = strrchr(path, '/');

	*ret_fd = -1;
	if (rq->output)
		return EXIT_DONE;
	if (!segment_name_is_active(slash ? slash + 1 : path) &&
	    record_output_take(path, ret_fd) == 0)
		return EXIT_DONE;
	screen_text_warn(
		"%s: is being written: pack it when its recorder has ended, or give -o FILE", path);
	return EXIT_FAILED;
}

/* --- a window of an archive -------------------------------------------------------------- */

/* First the cover, with what names all of them, and behind it the recordings. */
static int
write_window(const struct pack_request *rq, const struct load *l, const struct pack_window *w,
	     struct output *o, struct input_access *access)
{
	const struct recording_writer_options options = { .zstd_level = ZSTD_LEVEL_PACKED };
	struct pack_job job = { .names_only = rq->names_only, .access = access };
	struct pack_result result = { .parts = w->nr };
	struct fmt_where where = { 0 };
	struct io_sink *sink = open_sink(o), *behind = sink ? open_sink(o) : NULL;
	int error;

	if (!behind) {
		warn("%s", rq->output);
		if (sink)
			sink->close(sink);
		return EXIT_FAILED;
	}
	error = recording_writer_open(sink, w->meta, &options, &job.writer, &where);
	if (!error)
		error = write_objects(&job, l, &result, &where);
	if (!error)
		error = pack_window_copy(w, behind, &where);
	behind->close(behind);
	if (error)
		return pack_failed(rq->output, &job, error, &where);
	say_missing(rq->load->path, l->profile);
	say_packed(rq, &job.counts, rq->load->path, &result, result.bytes);
	return EXIT_DONE;
}

static int
pack_archive(const struct pack_request *rq, struct load *l)
{
	struct input_access files = INPUT_ACCESS_NONE_READ;
	struct pack_window w;
	struct output o;
	struct stat st;
	int status;

	if (l->set.samples == 0) {
		coverage_warn_nothing(&l->set);
		return EXIT_FAILED;
	}
	if (stat(rq->output, &st) == 0 && archive_list_has(&l->set.list, st.st_dev, st.st_ino)) {
		screen_text_warn(
			"%s: is one of the recordings of %s: -o FILE has to be another one",
			rq->output, l->set.path);
		return EXIT_FAILED;
	}
	status = pack_window_open(&w, &l->set);
	if (status == EXIT_DONE)
		status = output_open(&o, rq->output, &w.access);
	if (status == EXIT_DONE) {
		status = write_window(rq, l, &w, &o, &files);
		input_access_add(&w.access, &files);
		status = output_close(&o, status);
	}
	pack_window_done(&w);
	return status;
}

/* --- all of it --------------------------------------------------------------------------- */

static int
read_samples(const struct pack_request *rq, struct load *l)
{
	const struct profile_options po = { .by_address = true };
	int status;

	rq->load->keep_code = true;
	rq->load->told = true;
	status = load_open(l, rq->load, &po);
	return status == 0 ? l->status : status;
}

static int
pack_recording(const struct pack_request *rq, struct input *in)
{
	struct load l = { 0 };
	int in_place, status = EXIT_DONE;

	if (filter_given(rq->load->filter))
		return cli_usage_error(
			rq->load->command,
			"a recording is packed whole: --since, --until and --last are for an archive");
	status = take_in_place(rq, &in_place);
	if (status != EXIT_DONE)
		return status;
	status = read_samples(rq, &l);
	if (status == EXIT_DONE)
		status = pack_into(rq, &l, in, in_place);
	load_close(&l);
	if (in_place >= 0)
		close(in_place);
	return status;
}

static int
pack_directory(const struct pack_request *rq)
{
	struct load l = { 0 };
	int status;

	if (!rq->output)
		return cli_usage_error(rq->load->command,
				       "-o FILE says where a window of an archive goes");
	status = read_samples(rq, &l);
	if (status == EXIT_DONE)
		status = pack_archive(rq, &l);
	load_close(&l);
	return status;
}

int
pack(const struct pack_request *rq)
{
	struct stat st;
	struct input in;
	int status;

	if (stat(rq->load->path, &st) == 0 && S_ISDIR(st.st_mode))
		return pack_directory(rq);
	/* First what may be no recording. */
	status = input_open(&in, rq->load->path);
	if (status != 0)
		return status;
	if (!in.parts) {
		status = pack_recording(rq, &in);
	} else {
		screen_text_warn("%s: is a window of an archive, and was packed when it was made",
				 in.path);
		status = EXIT_FAILED;
	}
	input_close(&in);
	return status;
}
