/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/output.h"
#include "symbolizer/page/flame_svg.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/flamegraph.h"
#include "symbolizer/view/heading.h"
#include "symbolizer/view/unnamed.h"

static int
find_facts(const struct flamegraph *f, struct load *l, struct buf *facts)
{
	int err = heading_keep(l, facts);

	if (err == 0)
		err = unnamed_keep(l->profile, facts);
	if (f->load.filters.len > 0)
		buf_append(facts, f->load.filters.p, f->load.filters.len);
	if (l->status != 0)
		buf_append(facts, FLAMEGRAPH_IN_PART, sizeof(FLAMEGRAPH_IN_PART));
	return buf_failed(facts) ? -FMT_E_NOMEM : err;
}

static int
write_svg(const struct flamegraph *f, struct load *l, const struct buf *facts)
{
	const struct flame_svg svg = {
		.profile = l->profile,
		.title = f->title ? f->title : l->set.path,
		.facts = facts,
		.inverted = f->inverted,
	};
	struct output out;
	int err, status = output_open(&out, f->output, &l->set.access);

	if (status != 0)
		return status;
	err = flame_svg_write(&svg, out.file);
	if (err < 0) {
		screen_text_warn("%s", fmt_error_text(err));
		status = EXIT_FAILED;
	}
	return output_close(&out, status);
}

int
flamegraph_svg(struct flamegraph *f)
{
	const struct profile_options po = { .inlines = true, .processes = true };
	struct buf facts;
	struct load l;
	int status = load_open(&l, &f->load, &po);

	buf_init(&facts);
	if (status == 0 && find_facts(f, &l, &facts) < 0) {
		screen_text_warn("%s", fmt_error_text(-FMT_E_NOMEM));
		status = EXIT_FAILED;
	}
	if (status == 0)
		status = write_svg(f, &l, &facts);
	if (status == 0)
		status = l.status;
	buf_done(&facts);
	load_close(&l);
	return status;
}
