/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/answer.h"

#include <stdio.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/heading.h"

static int
print_events(const struct load *l, bool json, answer_event_fn *print, void *arg)
{
	const char *before = "";
	int printed = 0;

	if (json)
		putchar('[');
	for (int event = profile_event_from(l->profile, -1);
	     event < profile_events(l->profile) && printed >= 0;
	     event = profile_event_from(l->profile, event + 1)) {
		printed = print(arg, l, event, before);
		if (printed > 0)
			before = json ? ",\n" : "\n";
	}
	if (json)
		puts("]");
	return printed < 0 ? printed : 0;
}

int
answer(struct load_options *o, const struct profile_options *po, answer_fn *print, void *arg)
{
	struct load l;
	int status = load_open(&l, o, po);

	if (status == 0) {
		const int err = print(arg, &l);

		if (err < 0) {
			screen_text_warn("%s", fmt_error_text(err));
			status = EXIT_FAILED;
		}
	}
	if (status == 0)
		status = l.status;
	load_close(&l);
	return status;
}

struct events_answer {
	bool json;
	answer_event_fn *print;
	void *arg;
};

static int
print_all(void *arg, struct load *l)
{
	const struct events_answer *a = arg;
	int err = 0;

	pager_start();
	if (!a->json)
		err = heading_print(l);
	return err ? err : print_events(l, a->json, a->print, a->arg);
}

int
answer_events(struct load_options *o, const struct profile_options *po, bool json,
	      answer_event_fn *print, void *arg)
{
	struct events_answer a = { json, print, arg };

	o->told = !json;
	return answer(o, po, print_all, &a);
}
