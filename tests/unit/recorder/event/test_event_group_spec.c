/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What -e strings with groups become: which events are together, and what modifiers do to them. */
#include "recorder/event/event_group_spec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/bytes/buf.h"

/* Events as NAME, then in brackets their group's number and u k h I G H (excluded), D e p P S W. */
static const char *
told(const struct event_spec_list *l)
{
	static char text[1024];
	size_t n = 0;

	*text = '\0';
	for (size_t i = 0; i < l->nr; i++) {
		const struct event_spec *s = &l->specs[i];
		const struct perf_event_attr *a = &s->attr;

		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%s%s[%u%s%s%s%s%s%s%s%s%s%s%s%s]", i ? " " : "", s->name,
				      s->group, a->exclude_user ? "u" : "",
				      a->exclude_kernel ? "k" : "", a->exclude_hv ? "h" : "",
				      a->exclude_idle ? "I" : "", a->exclude_guest ? "" : "G",
				      a->exclude_host ? "H" : "", a->pinned ? "D" : "",
				      a->exclusive ? "e" : "", a->precise_ip ? "p" : "",
				      s->precise_max ? "P" : "", s->sample_read ? "S" : "",
				      s->weak ? "W" : "");
	}
	return text;
}

static const struct row {
	const char *text, *want;
} rows[] = {
	{ "cpu-clock,page-faults", "cpu-clock[0] page-faults[0]" },
	{ "{cpu-clock,page-faults}", "cpu-clock[1] page-faults[1]" },
	{ "{cpu-clock}", "cpu-clock[1]" },
	{ "{cpu-clock,faults}:S", "cpu-clock[1S] faults[1S]" },
	{ "{cpu-clock,faults}:SW,cs", "cpu-clock[1SW] faults[1SW] cs[0]" },
	{ "cs,cycles:u,{cpu-clock,faults}:W", "cs[0] cycles:u[0kh] cpu-clock[1W] faults[1W]" },
	{ "{cpu-clock,faults},{cs,cycles}:S", "cpu-clock[1] faults[1] cs[2S] cycles[2S]" },
	{ "name{cpu-clock,faults}:S", "cpu-clock[1S] faults[1S]" },
	{ "a.b-c_1{cpu-clock,faults}", "cpu-clock[1] faults[1]" },
	/* Beside those of the event itself, as perf has it. */
	{ "{cpu-clock,faults}:u", "cpu-clock[1kh] faults[1kh]" },
	{ "{cpu-clock:k,faults}:u", "cpu-clock:k[1h] faults[1kh]" },
	{ "{cpu-clock:k,faults:u}:S", "cpu-clock:k[1uhS] faults:u[1khS]" },
	{ "{cpu-clock,faults}:I", "cpu-clock[1I] faults[1I]" },
	{ "{cpu-clock,faults}:G", "cpu-clock[1GH] faults[1GH]" },
	{ "{cpu-clock,faults}:GH", "cpu-clock[1G] faults[1G]" },
	{ "{cpu-clock:G,faults}:H", "cpu-clock:G[1G] faults[1]" },
	{ "{cycles,instructions}:pp", "cycles[1p] instructions[1p]" },
	{ "{cycles,instructions}:P", "cycles[1P] instructions[1P]" },
	/* The leader's alone. */
	{ "{cpu-clock,faults}:D", "cpu-clock[1D] faults[1]" },
	{ "{cpu-clock,faults:D}:e", "cpu-clock[1e] faults:D[1]" },
	/* Blanks are around events, as lists are written in files; the names are without them. */
	{ " cpu-clock, page-faults\t,cs ", "cpu-clock[0] page-faults[0] cs[0]" },
	{ "cs , { cpu-clock , faults } , cycles:u", "cs[0] cpu-clock[1] faults[1] cycles:u[0kh]" },
	{ "{cpu-clock, faults}:S , name{cs}", "cpu-clock[1S] faults[1S] cs[2]" },
	{ "mem:0x1000/4:w, cs", "mem:0x1000/4:w[0] cs[0]" },
	{ "{mem:0x1000/4:w,cpu-clock},faults", "mem:0x1000/4:w[1] cpu-clock[1] faults[0]" },
	/* Nor do they hide what the event is: of these, a slash begins no terms that would hide a comma. */
	{ "cs, mem:0x1000/4,{cpu-clock,faults}", "cs[0] mem:0x1000/4[0] cpu-clock[1] faults[1]" },
	{ "cs,\tmem:0x1000/4:w,mem:0x2000/4:w,{faults}",
	  "cs[0] mem:0x1000/4:w[0] mem:0x2000/4:w[0] faults[1]" },
	/* A quoted name may have anything in it. */
	{ "cpu-clock/name='{x}'/", "{x}[0]" },
	{ "{cpu-clock/name='a}b'/,faults}", "a}b[1] faults[1]" },
	{ "{ cpu-clock/name=\"a},{b\"/ , faults}:S,cs", "a},{b[1S] faults[1S] cs[0]" },
	{ "cpu-clock/name='a,{b}'/,{faults}", "a,{b}[0] faults[1]" },
};

static void
test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct event_spec_list l = { 0 };
		char err[320] = "";

		if (event_group_spec_parse(rows[i].text, NULL, &l, err, sizeof(err)) < 0)
			fail_msg("%s: %s", rows[i].text, err);
		if (strcmp(told(&l), rows[i].want) != 0)
			fail_msg("%s: %s instead of %s", rows[i].text, told(&l), rows[i].want);
		event_spec_list_done(&l);
	}
}

/* Several -e: their groups have numbers of their own. */
static void
test_several(void **state)
{
	struct event_spec_list l = { 0 };
	char err[320];

	(void)state;
	assert_int_equal(event_group_spec_parse("{cs,faults}", NULL, &l, err, sizeof(err)), 0);
	assert_int_equal(event_group_spec_parse("cpu-clock", NULL, &l, err, sizeof(err)), 0);
	assert_int_equal(event_group_spec_parse("{cs,faults}:S", NULL, &l, err, sizeof(err)), 0);
	assert_string_equal(told(&l), "cs[1] faults[1] cpu-clock[0] cs[2S] faults[2S]");
	/* --group leaves them as they are. */
	assert_int_equal(event_group_spec_all(&l, err, sizeof(err)), 0);
	assert_string_equal(told(&l), "cs[1] faults[1] cpu-clock[0] cs[2S] faults[2S]");
	event_spec_list_done(&l);
	assert_int_equal(event_group_spec_all(&l, err, sizeof(err)), 0);
	assert_int_equal(event_group_spec_parse("cs:D,faults:D", NULL, &l, err, sizeof(err)), 0);
	assert_int_equal(event_group_spec_all(&l, err, sizeof(err)), 0);
	assert_string_equal(told(&l), "cs:D[1D] faults:D[1]");
	event_spec_list_done(&l);
}

static const struct row refused[] = {
	{ "{", "'}' is missing" },
	{ "{cs", "'}' is missing" },
	{ "{}", "without events" },
	{ "{cs,{faults}}", "a group in a group" },
	{ "{cs,faults}S", "at character 12: behind the '}'" },
	{ "{cs}{faults}", "behind the '}'" },
	{ "{cs}:x", "at character 6: unknown modifier 'x' of a group" },
	{ "{cs}:SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS", "too many modifiers" },
	{ "cs,{cs,nonsense}", "at character 8: unknown event 'nonsense'" },
	{ "{cs,}", "at character 5: an event is missing" },
	{ "{cs},", "at character 6: an event is missing" },
	{ "{cs,off-cpu}:S", "off-cpu is in no group" },
	{ "cs}", "braces" },
	{ "cs,x:{faults}", "braces" },
	{ "", "at character 1: an event is missing" },
	{ "cs, ", "at character 5: an event is missing" },
	{ "cs,  nonsense ,faults", "at character 6: unknown event 'nonsense'" },
	{ "cs faults", "at character 1: unknown event 'cs faults'" },
	{ "{cs} :S", "behind the '}'" },
	{ "cpu-clock/name={x}/", "at character 16: braces" },
	{ "{cpu-clock/name='a/,faults}", "at character 17: a quote without its end" },
	{ "{cpu-clock/period=1,faults}", "the second one is missing" },
};

static void
test_refused(void **state)
{
	char many[8 * (EVENT_GROUP_MAX + 1)] = "{cs";
	struct event_spec_list l = { 0 };
	char err[320];

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (event_group_spec_parse(refused[i].text, NULL, &l, err, sizeof(err)) != -EINVAL)
			fail_msg("%s is taken", refused[i].text);
		if (!strstr(err, refused[i].want))
			fail_msg("%s: %s instead of %s", refused[i].text, err, refused[i].want);
		event_spec_list_done(&l);
	}
	for (int i = 0; i < EVENT_GROUP_MAX; i++)
		memcpy(many + strlen(many), ",cs", sizeof(",cs"));
	memcpy(many + strlen(many), "}", sizeof("}"));
	assert_int_equal(event_group_spec_parse(many, NULL, &l, err, sizeof(err)), -EINVAL);
	event_spec_list_done(&l);
}

/* What this machine has not is left out, the rest of its group stays one; what is malformed is an error. */
static void
test_missing(void **state)
{
	struct buf notes;
	struct event_spec_list l = { .skipped = &notes };
	char err[EVENT_SPEC_ERROR_BYTES];

	(void)state;
	buf_init(&notes);
	assert_int_equal(
		event_group_spec_parse("nosuch,{cs,nosuch/event=1/,faults:u}:S,nosuch:nosuch,"
				       "cpu-clock",
				       NULL, &l, err, sizeof(err)),
		0);
	assert_string_equal(told(&l), "cs[1S] faults:u[1khS] cpu-clock[0]");
	buf_u8(&notes, 0);
	assert_non_null(strstr((char *)notes.p, "at character 1: unknown event 'nosuch'"));
	assert_non_null(
		strstr((char *)notes.p, "at character 12: this kernel has no PMU 'nosuch'"));
	assert_non_null(
		strstr((char *)notes.p,
		       access("/sys/kernel/tracing/events", R_OK) < 0 && errno == EACCES
			       ? "at character 40: /sys/kernel/tracing/events may not be read"
			       : "at character 47: neither"));
	assert_int_equal(event_group_spec_parse("cs:Q", NULL, &l, err, sizeof(err)), -EINVAL);
	assert_int_equal(event_group_spec_parse("nosuch,mem:q", NULL, &l, err, sizeof(err)),
			 -EINVAL);
	event_spec_list_done(&l);
	buf_done(&notes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests_name("event_group_spec", tests, NULL, NULL);
}
