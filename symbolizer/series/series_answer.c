/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/series/series_answer.h"

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/series/series_page.h"
#include "symbolizer/series/series_print.h"

int
series_answer(struct series_options *o, bool heat)
{
	struct series s;
	const struct series_print p = { .series = &s,
					.terminal = cli_columns(),
					.color = cli_color(),
					.utf8 = cli_utf8(),
					.heat = heat };
	int err, status;

	if (!o->output && !o->json) {
		o->columns = series_print_columns(p.terminal, false);
		o->columns_of_parts = series_print_columns(p.terminal, true);
	}
	status = series_open(&s, o);
	if (status == 0 && o->output) {
		status = series_page(&s);
	} else if (status == 0) {
		pager_start();
		err = o->json ? series_print_json(&p) : series_print_text(&p);
		if (err < 0) {
			screen_text_warn("%s", fmt_error_text(err));
			status = EXIT_FAILED;
		}
	}
	if (status == 0)
		status = s.load.status;
	series_close(&s);
	return status;
}
