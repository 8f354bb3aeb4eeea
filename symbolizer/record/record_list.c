/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_list.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "recorder/session/session.h"
#include "symbolizer/record/record_dry_run.h"
#include "symbolizer/text/escape.h"

struct listing {
	struct buf text;
	char how;	  /* '\0', 'v', 'F', 'g' */
	const char *last; /* the event before this one */
	const char *held; /* which is not written yet: there may be members of its group */
	bool grouped;	  /* there are */
};

static void
end_group(struct listing *l)
{
	if (l->held)
		escape(&l->text, l->held);
	if (l->last)
		buf_text(&l->text, l->grouped ? "}\n" : "\n");
	l->held = NULL;
	l->grouped = false;
}

/* An event that is one of each kind of core is in its group once. */
static void
list_grouped(struct listing *l, const struct session_attr *a)
{
	if (a->name == l->last)
		return;
	if (!a->member) {
		end_group(l);
		l->held = a->name;
	} else {
		if (l->held) {
			buf_text(&l->text, "{");
			escape(&l->text, l->held);
		}
		buf_text(&l->text, ",");
		escape(&l->text, a->name);
		l->held = NULL;
		l->grouped = true;
	}
	l->last = a->name;
}

static void
list_rate(struct buf *text, const struct session_attr *a)
{
	char rate[48];

	escape(text, a->name);
	(void)snprintf(rate, sizeof(rate), ": %s=%llu\n",
		       a->attr->freq ? "sample_freq" : "sample_period",
		       (unsigned long long)a->attr->sample_freq);
	buf_text(text, rate);
}

static bool
list_one(void *arg, const struct session_attr *a)
{
	struct listing *l = arg;

	if (a->sideband)
		return true;
	switch (l->how) {
	case 'v':
		record_dry_run_append(&l->text, a);
		break;
	case 'F':
		list_rate(&l->text, a);
		break;
	case 'g':
		list_grouped(l, a);
		break;
	default:
		escape(&l->text, a->name);
		buf_text(&l->text, "\n");
	}
	return true;
}

int
record_list_print(struct session *s, const char *how, struct session_error *error)
{
	struct listing l = { .how = *how ? how[1] : '\0' };
	int r;

	if (*how && strcmp(how, "-v") != 0 && strcmp(how, "-F") != 0 && strcmp(how, "-g") != 0)
		return session_fail(error, -EINVAL, "evlist takes -v, -F or -g");
	buf_init(&l.text);
	r = session_attrs_now(s, list_one, &l, error);
	if (r == 0) {
		end_group(&l);
		buf_u8(&l.text, '\0');
		if (buf_failed(&l.text))
			r = session_fail(error, -ENOMEM, "out of memory");
		else
			(void)fputs((const char *)l.text.p, stderr);
	}
	buf_done(&l.text);
	return r;
}
