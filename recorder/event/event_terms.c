/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Terms: what stands between two slashes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

#include "recorder/event/coresight.h"
#include "recorder/event/event_name.h"
#include "recorder/event/event_spec_internal.h"
#include "recorder/event/pmu.h"

#define ALIAS_DEPTH 4 /* an alias of an alias of... */

struct term {
	const struct event_parser *p;
	const char *name;
	const char *value; /* NULL: none */
	struct event_spec *s;
};

/* --- of every event --------------------------------------------------------------------- */

static int
needs(const struct term *t, const char *what)
{
	return event_parser_fail(t->p, t->value ? t->value : t->name, "%s needs %s", t->name, what);
}

static int
set_name(const struct term *t)
{
	size_t n = t->value ? strlen(t->value) : 0;

	if (!n)
		return needs(t, "a name: name=loads");
	if (n >= sizeof(t->s->name))
		return event_parser_fail(t->p, t->value, "a name has at most %zu bytes",
					 sizeof(t->s->name) - 1);
	(void)strlcpy(t->s->name, t->value, sizeof(t->s->name));
	t->s->named = true;
	return 0;
}

static int
set_rate(const struct term *t)
{
	uint64_t n;

	if (!t->value || !event_parser_number(t->value, &n) || n == 0 || n > INT64_MAX)
		return needs(t, "a number over 0");
	t->s->has_rate = true;
	t->s->attr.freq = *t->name == 'f';
	t->s->attr.sample_period = n;
	return 0;
}

static int
set_call_graph(const struct term *t)
{
	struct session_options o = { 0 };

	if (!t->value || session_call_graph_parse(t->value, &o) < 0)
		return needs(
			t, "fp, auto, dwarf, lbr or no; stack-size=BYTES goes with auto and dwarf");
	t->s->has_call_graph = true;
	t->s->call_graph = o.call_graph;
	return 0;
}

static int
set_stack_size(const struct term *t)
{
	uint64_t n;

	if (!t->value || !event_parser_number(t->value, &n) || n == 0 || n % 8 ||
	    n > SESSION_STACK_BYTES_MAX)
		return needs(t, "a multiple of 8 to 65528");
	t->s->stack_bytes = (uint32_t)n;
	return 0;
}

static int
set_max_stack(const struct term *t)
{
	uint64_t n;

	if (!t->value || !event_parser_number(t->value, &n) || n == 0 || n > UINT16_MAX)
		return needs(t, "a number of frames, to 65535");
	t->s->attr.sample_max_stack = (uint16_t)n;
	if (!t->s->has_call_graph)
		t->s->call_graph = SESSION_CALL_GRAPH_DEFAULT;
	t->s->has_call_graph = true;
	return 0;
}

static int
set_inherit(const struct term *t)
{
	if (t->value)
		return event_parser_fail(t->p, t->value, "%s has no value", t->name);
	t->s->has_inherit = true;
	t->s->inherit = *t->name == 'i';
	return 0;
}

/* In an event, commas end terms: privileges and kinds are joined by '+'. */
static int
set_branches(const struct term *t)
{
	const char *word;
	char words[128];
	uint64_t types;
	size_t n;

	if (!t->value || strlcpy(words, t->value, sizeof(words)) >= sizeof(words))
		return needs(t, "a kind of branch, such as any or any_call+u");
	for (char *w = words; (w = strchr(w, '+'));)
		*w = ',';
	if (session_branches_parse(words, &types, &word, &n) < 0)
		return event_parser_fail(t->p, t->value + (word - words),
					 "'%.*s' is no kind of branch: see -j", (int)n, word);
	t->s->attr.branch_sample_type = types;
	t->s->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	return 0;
}

static int
set_time(const struct term *t)
{
	uint64_t n = 1;

	if (t->value && (!event_parser_number(t->value, &n) || n != 1))
		return needs(t, "1, or none: every sample has its time");
	return 0;
}

#define STAT_TERM "%s is perf stat's: a recorder has no use for it"
#define AUX_TERM "%s puts samples and the AUX area together, which are recorded apart"

/* set, or why not. */
static const struct general_term {
	const char *name;
	int (*set)(const struct term *t);
	const char *refused;
} general_terms[] = {
	{ "name", set_name, NULL },
	{ "period", set_rate, NULL },
	{ "freq", set_rate, NULL },
	{ "call-graph", set_call_graph, NULL },
	{ "stack-size", set_stack_size, NULL },
	{ "max-stack", set_max_stack, NULL },
	{ "inherit", set_inherit, NULL },
	{ "no-inherit", set_inherit, NULL },
	{ "branch_type", set_branches, NULL },
	{ "time", set_time, NULL },
	{ "percore", NULL, STAT_TERM },
	{ "metric-id", NULL, STAT_TERM },
	{ "overwrite", NULL, "%s is not of one event: all events of a CPU share its ring" },
	{ "no-overwrite", NULL, "%s is not needed: no ring is overwritten" },
	{ "nr", NULL, "%s is not known: give --duration, or a command that ends" },
	{ "aux-output", NULL, AUX_TERM },
	{ "aux-action", NULL,
	  "%s has an event pause a trace, which is recorded whole: -D, --control and -S choose a "
	  "part of its time" },
	{ "aux-sample-size", NULL, AUX_TERM },
};

/* -ENOENT: it is none of these. */
static int
general_term(const struct term *t)
{
	for (size_t i = 0; i < sizeof(general_terms) / sizeof(general_terms[0]); i++) {
		const struct general_term *g = &general_terms[i];

		if (strcmp(t->name, g->name) != 0)
			continue;
		if (g->set)
			return g->set(t);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		return event_parser_fail(t->p, t->name, g->refused, t->name);
#pragma GCC diagnostic pop
	}
	return -ENOENT;
}

/* --- of a PMU -------------------------------------------------------------------------- */

/* cpu/cycles/, cpu/L1-dcache-loads/, cpu/r1a8/: what every core counts, of this kind of core. -ENOENT. */
static int
core_term(const struct term *t, const char *pmu)
{
	struct perf_event_attr *attr = &t->s->attr;
	uint32_t type, of_pmu;
	uint64_t config;

	if (t->value || !*pmu)
		return -ENOENT;
	if (event_name_find(t->name, &type, &config) &&
	    (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE)) {
		if (!pmu_is_core(t->p->roots.sysfs, pmu, &of_pmu))
			return event_parser_absent(t->p, t->name,
						   "%s does not count %s: only PMUs of cores do",
						   pmu, t->name);
		attr->type = type;
		attr->config = config | (uint64_t)of_pmu << 32; /* PERF_PMU_TYPE_SHIFT */
		return 0;
	}
	if (*t->name != 'r' || !event_parser_hex(t->name + 1, &config))
		return -ENOENT;
	attr->config = config;
	return 0;
}

/* Does the event, as it was typed, have a term NAME=VALUE? A term begins behind a slash or a comma. */
static bool
is_given(const struct event_parser *p, const char *name)
{
	const size_t len = strlen(name);
	char before = '\0', quote = '\0';
	size_t n;
	const char *typed = event_parser_rest(p, p->event, &n);

	for (size_t i = 0; i + len < n; before = typed[i++]) {
		if (quote) {
			quote = typed[i] == quote ? '\0' : quote;
			continue;
		}
		if (before == '=' && (typed[i] == '\'' || typed[i] == '"'))
			quote = typed[i];
		if ((before == '/' || before == ',') && memcmp(typed + i, name, len) == 0 &&
		    typed[i + len] == '=')
			return true;
	}
	return false;
}

/* A value that whoever names the alias has to give ("event=?"), before the alias or behind it. */
static int
parameter(const struct term *t, const char *pmu)
{
	if (is_given(t->p, t->name))
		return 0;
	return event_parser_fail(t->p, t->name,
				 "this event of %s needs a value of %s: add %s=NUMBER", pmu,
				 t->name, t->name);
}

static int
pmu_bits(const struct term *t, const char *pmu)
{
	const char *sysfs = t->p->roots.sysfs;
	uint64_t n = 1;
	int r;

	if (t->value && t->p->depth && strcmp(t->value, "?") == 0)
		return parameter(t, pmu);
	if (t->value && !event_parser_number(t->value, &n))
		return event_parser_fail(t->p, t->value,
					 "the value of %s is not a number such as 12 or 0x1f: '%s'",
					 t->name, t->value);
	/* A tracepoint is its number, a probe its place: that of another one would be called by this one's name. */
	r = t->s->each && !*pmu ? -ENOENT : pmu_term(sysfs, pmu, t->name, n, &t->s->attr);
	if (r == 0)
		return 0;
	if (r == -ERANGE)
		return event_parser_fail(t->p, t->value ? t->value : t->name,
					 "the value of %s has more bits than the term", t->name);
	if (r == -EACCES || r == -EPERM)
		return event_parser_absent(t->p, t->name, "sysfs tells this user nothing of %s: %s",
					   t->name, strerror(-r));
	if (r != -ENOENT)
		return event_parser_fail(t->p, t->name,
					 "sysfs describes %s in no way that is known", t->name);
	r = core_term(t, pmu);
	if (r != -ENOENT)
		return r;
	if (!*pmu)
		return event_parser_fail(t->p, t->name,
					 "no term '%s': such an event has %sname, period, freq, "
					 "call-graph, stack-size, max-stack, inherit, no-inherit, "
					 "branch_type",
					 t->name, t->s->each ? "" : "config, ");
	return event_parser_absent(t->p, t->name, "%s has no term or event '%s': see spoor list",
				   pmu, t->name);
}

/* @NAME: perf's way to name the sink of a trace. */
static int
set_sink(const struct term *t, const char *pmu)
{
	const char *name = t->name + 1;
	int r;

	if (strcmp(pmu, CORESIGHT_PMU) != 0)
		return event_parser_fail(t->p, t->name, "only " CORESIGHT_PMU " traces to a sink");
	if (t->value || !*name)
		return needs(t, "the name of a sink, as in " CORESIGHT_PMU "/@tmc_etr0/");
	r = coresight_sink(t->p->roots.sysfs, name, &t->s->attr);
	if (r == -ENOENT)
		return event_parser_absent(
			t->p, name,
			"no sink '%s': %s/bus/event_source/devices/" CORESIGHT_PMU
			"/sinks has those that there are; without a name the "
			"kernel chooses one",
			name, t->p->roots.sysfs);
	return r < 0 ? event_parser_fail(t->p, name, "sysfs tells no number of the sink '%s'", name)
		     : 0;
}

static int
apply_term(struct event_parser *p, const char *pmu, const char *name, const char *value,
	   struct event_spec *s)
{
	const struct term t = { .p = p, .name = name, .value = value, .s = s };
	const char *outside = p->instead;
	char alias[256];
	int r = general_term(&t);

	if (r != -ENOENT)
		return r;
	if (*name == '@')
		return set_sink(&t, pmu);
	if (value || !*pmu || pmu_alias(p->roots.sysfs, pmu, name, alias, sizeof(alias)) < 0)
		return pmu_bits(&t, pmu);
	if (p->depth == ALIAS_DEPTH)
		return event_parser_fail(p, name, "aliases of %s go round in a circle", name);
	if (p->depth++ == 0) {
		p->instead = name;
		pmu_unit(p->roots.sysfs, pmu, name, &s->unit);
	}
	r = event_parser_terms(p, pmu, alias, s);
	p->depth--;
	p->instead = outside;
	return r;
}

/* The next one, and its value without quotes; NULL: it has none. */
static int
cut_term(const struct event_parser *p, char **rest, char **ret_term, char **ret_value)
{
	char *term = *rest, *end = term + strcspn(term, "=,"), *value = NULL;

	if (*end == '=') {
		*end = '\0';
		value = end + 1;
		end = value + strcspn(value, ",");
	}
	if (value && (*value == '\'' || *value == '"')) {
		end = strchr(value + 1, *value);
		if (!end)
			return event_parser_fail(p, value, "a quote without its end");
		*end++ = '\0';
		value++;
		if (*end && *end != ',')
			return event_parser_fail(p, end,
						 "a comma or a slash stands behind a quote");
	}
	*rest = *end ? end + 1 : NULL;
	*end = '\0';
	*ret_term = term;
	*ret_value = value;
	return 0;
}

int
event_parser_terms(struct event_parser *p, const char *pmu, char *terms, struct event_spec *s)
{
	char *rest = *terms ? terms : NULL, *term = NULL, *value = NULL;
	int r = 0;

	while (r == 0 && rest) {
		r = cut_term(p, &rest, &term, &value);
		if (r == 0 && !*term)
			r = event_parser_fail(p, term,
					      "a term is missing: they stand between commas");
		if (r == 0)
			r = apply_term(p, pmu, term, value, s);
	}
	return r;
}

int
event_parser_alias(struct event_parser *p, const char *pmu, char *name, struct event_spec *s)
{
	return apply_term(p, pmu, name, NULL, s);
}
