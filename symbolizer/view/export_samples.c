/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `spoor export` of single samples: they are written while the recording is read, in a form of
 * symbolizer/export.
 */
#include <err.h>
#include <inttypes.h>

#include "symbolizer/cli/output.h"
#include "symbolizer/export/csv.h"
#include "symbolizer/export/json_lines.h"
#include "symbolizer/export/perf_script.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/export.h"
#include "symbolizer/view/export_size.h"

static int
end_samples(struct sample_export *x, const char *input)
{
	struct sample_left_out left_out;

	if (sample_export_end(x, &left_out) < 0) {
		warnx("out of memory");
		return EXIT_FAILED;
	}
	export_size_say(input, left_out.samples, sample_export_samples(x), "the last");
	return 0;
}

/*
 * The output is opened first: samples go there as they come. It is kept when the whole input was read, or
 * when its reader has enough.
 */
static int
export_samples(const struct export_request *rq, const struct profile_options *po,
	       const struct sample_form *form)
{
	struct load_options options = rq->load;
	struct load l = { .status = 0 };
	const struct sample_source source = { .hostname = (const char *const *)&l.set.hostname,
					      .arch = (const char *const *)&l.set.arch,
					      .name = rq->load.path ? rq->load.path : "",
					      .start = &l.set.start };
	struct sample_export *x;
	struct output out;
	uint64_t max_bytes;
	int status = export_size_parse(rq, &max_bytes);

	if (status != 0 || (status = output_open(&out, rq->output, &l.set.access)) != 0)
		return status;
	x = sample_export_new(form, &source, max_bytes, out.file);
	if (!x) {
		warnx("out of memory");
		return output_close(&out, EXIT_FAILED);
	}
	options.on_sample = sample_export_take;
	options.on_sample_arg = x;
	status = load_open(&l, &options, po);
	if (status == 0)
		status = end_samples(x, l.set.path);
	status = output_close(&out, status);
	if (status == 0)
		status = l.status;
	sample_export_free(x);
	load_close(&l);
	return status;
}

int
export_perf_script(const struct export_request *rq)
{
	return export_samples(rq,
			      &(struct profile_options){ .by_pid = true,
							 .by_tid = true,
							 .by_cpu = true,
							 .by_address = true,
							 .inlines = true,
							 .each_sample = true,
							 .fields = true,
							 .forget = true },
			      &perf_script_form);
}

int
export_json(const struct export_request *rq)
{
	return export_samples(rq,
			      &(struct profile_options){ .by_pid = true,
							 .by_tid = true,
							 .by_cpu = true,
							 .by_cgroup = true,
							 .by_address = true,
							 .by_line = true,
							 .inlines = true,
							 .each_sample = true,
							 .fields = true,
							 .forget = true },
			      &json_lines_form);
}

int
export_csv(const struct export_request *rq)
{
	return export_samples(rq,
			      &(struct profile_options){ .by_pid = true,
							 .by_tid = true,
							 .by_cpu = true,
							 .by_cgroup = true,
							 .inlines = true,
							 .each_sample = true,
							 .fields = true,
							 .forget = true },
			      &csv_form);
}
