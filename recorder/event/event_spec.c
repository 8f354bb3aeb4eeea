/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_spec.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "format/record/off_cpu.h"
#include "recorder/event/event_aux.h"
#include "recorder/event/event_name.h"
#include "recorder/event/event_spec_internal.h"
#include "recorder/event/pmu.h"
#include "recorder/event/tracepoint_id.h"
#include "recorder/ground/session_error.h"

/* --- what every form ends in --------------------------------------------------------------- */

static int
event_spec_append(const struct event_parser *p, const struct event_spec *s)
{
	struct event_spec_list *list = p->list;
	struct event_spec *specs;

	if (list->nr == EVENT_SPECS_MAX)
		return event_parser_fail(p, p->event, "more than %d events in all",
					 EVENT_SPECS_MAX);
	specs = reallocarray(list->specs, list->nr + 1, sizeof(*specs));
	if (!specs)
		return -ENOMEM;
	list->specs = specs;
	specs[list->nr++] = *s;
	return 0;
}

/* The same event of another PMU or tracepoint: named so, with the tail as it was typed. */
static int
event_spec_rename(const struct event_parser *p, const char *head, const char *tail,
		  struct event_spec *s)
{
	size_t n;
	const char *typed = event_parser_rest(p, tail, &n);

	if (!s->named &&
	    (size_t)snprintf(s->name, sizeof(s->name), "%s%.*s", head, (int)n, typed) >=
		    sizeof(s->name))
		return event_parser_fail(p, p->event, "the event's name has more than %zu bytes",
					 sizeof(s->name) - 1);
	return 0;
}

/* "", "/terms/", "/terms/mods", ":mods" or "/terms/:mods"; cuts it up. */
static int
parse_tail(struct event_parser *p, const char *pmu, char *tail, struct event_spec *s)
{
	char *end;
	int r;

	if (*tail == '/') {
		end = strrchr(tail, '/');
		if (end == tail)
			return event_parser_fail(p, tail,
						 "terms stand between two slashes: the "
						 "second one is missing");
		*end = '\0';
		r = event_parser_terms(p, pmu, tail + 1, s);
		if (r < 0)
			return r;
		tail = end + 1;
	}
	return event_parser_modifiers(p, *tail == ':' ? tail + 1 : tail, s);
}

/* --- PMUs ---------------------------------------------------------------------------------- */

/* The same of each of these PMUs; event: the name that sysfs has for it there; NULL: its terms tell. */
static int
parse_pmus(struct event_parser *p, const struct pmu_names *pmus, char *event, char *tail,
	   const struct event_spec *s)
{
	char *copy = strdup(tail), head[PMU_NAME_BYTES + EVENT_SPEC_NAME_BYTES + 2];
	int r = copy ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < pmus->nr; i++) {
		struct event_spec one = *s;

		(void)strlcpy(one.pmu, pmus->names[i], sizeof(one.pmu));
		(void)snprintf(head, sizeof(head), event ? "%s/%s/" : "%s", one.pmu, event);
		memcpy(tail, copy, strlen(copy) + 1);
		r = pmu_type(p->roots.sysfs, one.pmu, &one.attr.type);
		if (r < 0)
			r = event_parser_absent(p, p->event,
						"sysfs tells no type of the PMU %s: %s", one.pmu,
						strerror(-r));
		if (!event)
			event_aux_defaults(p->roots.sysfs, one.pmu, &one.attr);
		if (r == 0 && event)
			r = event_parser_alias(p, one.pmu, event, &one);
		if (r == 0)
			r = parse_tail(p, one.pmu, tail, &one);
		if (r == 0 && pmus->nr > 1)
			r = event_spec_rename(p, head, tail + (event && *copy == ':'), &one);
		if (r == 0)
			r = event_spec_append(p, &one);
	}
	free(copy);
	return r;
}

/* err is pmu_matching()'s. */
static int
pmu_error(const struct event_parser *p, const char *where, int err)
{
	const char *sysfs = p->roots.sysfs;

	if (err == -ENODEV)
		return event_parser_absent(p, where,
					   "no PMUs: there is no %s/" PMU_DEVICES
					   ": mount -t sysfs sysfs %s",
					   sysfs, sysfs);
	return event_parser_absent(p, where, "%s/" PMU_DEVICES ", which tells of PMUs: %s", sysfs,
				   strerror(-err));
}

/* One event for each PMU of that name. */
static int
parse_pmu(struct event_parser *p, const char *name, char *tail, const struct event_spec *s)
{
	struct pmu_names pmus;
	int r = pmu_matching(p->roots.sysfs, name, NULL, &pmus);

	if (r == -ENOENT)
		return event_parser_absent(p, p->event,
					   "this kernel has no PMU '%s': see spoor list", name);
	if (r < 0)
		return r == -ENOMEM ? r : pmu_error(p, p->event, r);
	r = parse_pmus(p, &pmus, NULL, tail, s);
	pmu_names_done(&pmus);
	return r;
}

/* An event of sysfs without its PMU: of each that has it. -EINVAL, with what is wrong; else as pmu_matching(). */
static int
parse_alias(struct event_parser *p, char *name, char *tail, const struct event_spec *s)
{
	struct pmu_names pmus;
	int r = pmu_matching(p->roots.sysfs, NULL, name, &pmus);

	if (r < 0)
		return r;
	r = parse_pmus(p, &pmus, name, tail, s);
	pmu_names_done(&pmus);
	return r;
}

/* --- tracepoints, names --------------------------------------------------------------------- */

static int
tracepoint_error(const struct event_parser *p, const char *name, int err)
{
	const char *tracefs = p->roots.tracefs;

	if (err == -EACCES || err == -EPERM)
		return event_parser_absent(
			p, p->event, "%s/events may not be read: tracepoints need root", tracefs);
	if (err == -ENODEV)
		return event_parser_absent(p, p->event,
					   "no tracepoints: mount -t tracefs tracefs %s", tracefs);
	return event_parser_absent(
		p, name,
		"neither an event with modifiers nor a tracepoint of %s/events: see "
		"spoor list",
		tracefs);
}

static int
parse_tracepoint(struct event_parser *p, char *subsystem, char *name, struct event_spec *s)
{
	char *tail = name + strcspn(name, ":/"), *rest = strdup(tail), *mods = tail;
	struct tracepoint_ids found = { 0 };
	int r = rest ? 0 : -ENOMEM;

	if (r == 0) {
		*tail = '\0';
		r = tracepoint_ids_find(p->roots.tracefs, subsystem, name, &found);
		if (r < 0)
			r = r == -ENOMEM ? r : tracepoint_error(p, name, r);
	}
	if (r == 0) {
		memcpy(tail, rest, strlen(rest) + 1);
		s->attr.type = PERF_TYPE_TRACEPOINT;
		s->attr.sample_type |= PERF_SAMPLE_RAW;
		s->each = true;
		mods = *tail == '/' ? strrchr(tail, '/') + 1 : tail;
		mods += *mods == ':';
		r = parse_tail(p, "", tail, s);
	}
	/* Other tools, too, look for SUBSYSTEM:NAME in the name. */
	for (size_t i = 0; r == 0 && i < found.nr; i++) {
		const struct tracepoint *t = &found.points[i];

		if (!s->named)
			(void)snprintf(s->name, sizeof(s->name), "%s:%s%s%s", t->subsystem, t->name,
				       *mods ? ":" : "", mods);
		s->attr.config = t->id;
		s->syscalls = strcmp(t->subsystem, "syscalls") == 0 ||
			strcmp(t->subsystem, "raw_syscalls") == 0;
		if (asprintf(&s->tracepoint, "%s:%s", t->subsystem, t->name) < 0)
			r = -ENOMEM;
		else if ((r = event_spec_append(p, s)) < 0)
			free(s->tracepoint);
	}
	tracepoint_ids_done(&found);
	free(rest);
	return r;
}

/* An event by its name or numbers. -ENOENT: it is neither. */
static int
event_spec_known(const char *name, struct event_spec *s)
{
	uint32_t type;
	uint64_t config;

	if (event_name_find(name, &type, &config)) {
		s->attr.type = type;
		s->attr.config = config;
		return 0;
	}
	if (*name != 'r' || !event_parser_hex(name + 1, &config))
		return -ENOENT;
	s->attr.type = PERF_TYPE_RAW;
	s->attr.config = config;
	return 0;
}

static int
parse_known(struct event_parser *p, char *tail, struct event_spec *s)
{
	int r;

	if (s->attr.type == PERF_TYPE_SOFTWARE && s->attr.config == PERF_COUNT_SW_BPF_OUTPUT)
		return event_parser_fail(
			p, p->event,
			"its samples come from a BPF program that was given the event, "
			"and spoor loads none");
	r = parse_tail(p, "", tail, s);
	return r < 0 ? r : event_spec_append(p, s);
}

/* TYPE:CONFIG */
static int
parse_numbers(struct event_parser *p, const char *type, char *config, struct event_spec *s)
{
	char *tail = config + strcspn(config, ":/"), cut = *tail;
	uint64_t t, c;

	*tail = '\0';
	if (!event_parser_number(type, &t) || t > UINT32_MAX)
		return event_parser_fail(p, type, "'%s' is not the number of a PMU", type);
	if (!event_parser_number(config, &c))
		return event_parser_fail(p, config, "'%s' is not the number of an event", config);
	*tail = cut;
	s->attr.type = (uint32_t)t;
	s->attr.config = c;
	s->numbered = true;
	return parse_known(p, tail, s);
}

/* A word, and what stands behind it: '/', ':' or nothing. */
static int
parse_word(struct event_parser *p, char *word, struct event_spec *s)
{
	char *tail = word + strcspn(word, ":/"), name[EVENT_SPEC_NAME_BYTES], cut = *tail;
	uint32_t type;
	int aliased;

	(void)strlcpy(name, word, (size_t)(tail - word) + 1);
	if (cut == '/' && pmu_type(p->roots.sysfs, name, &type) == 0)
		return parse_pmu(p, name, tail, s);
	if (event_spec_known(name, s) == 0)
		return parse_known(p, tail, s);
	aliased = parse_alias(p, name, tail, s);
	if (aliased == 0 || aliased == -EINVAL || aliased == -ENOMEM)
		return aliased;
	if (cut == '/')
		return parse_pmu(p, name, tail, s);
	if (cut == ':' && *name && name[strspn(name, "0123456789")] == '\0') {
		*tail = '\0';
		return parse_numbers(p, word, tail + 1, s);
	}
	if (cut == ':')
		return parse_tracepoint(p, name, tail + 1, s);
	if (aliased != -ENOENT)
		return pmu_error(p, word, aliased);
	return event_parser_absent(p, word, "unknown event '%s': see spoor list%s", name,
				   strpbrk(name, "._")
					   ? "; a name that only tables of the CPU's vendor "
					     "have is given as numbers: rHEX, or "
					     "PMU/event=0x..,umask=0x../"
					   : "");
}

/*
 * The SWITCH records are in the ring of the samples, and the side-band's is never flooded. Its rate is its own:
 * -F and -c are of other events.
 */
static int
parse_off_cpu(struct event_parser *p, const char *text, struct event_spec *s)
{
	struct off_cpu_terms terms;
	const char *bad;
	size_t len;

	if (off_cpu_parse(text, &terms, &bad, &len) < 0)
		return event_parser_fail(p, bad,
					 "'%.*s': off-cpu/min=TIME,freq=HZ/ and "
					 "off-cpu/no-wakeups/ or off-cpu/waker/ are what there is, "
					 "and no modifier",
					 (int)len, bad);
	s->attr.type = PERF_TYPE_SOFTWARE;
	s->attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	s->attr.context_switch = 1;
	s->has_rate = true;
	s->attr.freq = terms.freq_hz > 0;
	s->attr.sample_period = terms.freq_hz ? terms.freq_hz : 1;
	return event_spec_append(p, s);
}

/* What may be at any place of a program. Of one in a file, the path has slashes of its own. */
static const struct placed {
	const char *prefix;
	bool file;
	enum event_probe probe;
} placed[] = {
	{ "mem:", true, EVENT_PROBE_NONE },
	{ "uprobe:", true, EVENT_PROBE_USER },
	{ "uretprobe:", true, EVENT_PROBE_USER_RETURN },
	{ "usdt:", true, EVENT_PROBE_USER_STATIC },
	{ "kprobe:", false, EVENT_PROBE_KERNEL },
	{ "kretprobe:", false, EVENT_PROBE_KERNEL_RETURN },
};

/* NULL: it is an event of another kind. */
static const struct placed *
placed_of(const char *event)
{
	for (size_t i = 0; i < sizeof(placed) / sizeof(placed[0]); i++)
		if (strncmp(event, placed[i].prefix, strlen(placed[i].prefix)) == 0)
			return &placed[i];
	return NULL;
}

static int
event_spec_long(const struct event_parser *p)
{
	return event_parser_fail(p, p->event, "an event of more than %d bytes",
				 EVENT_SPEC_NAME_BYTES - 1);
}

static int
parse_placed(struct event_parser *p, const struct placed *as, char *text, struct event_spec *s)
{
	char *tail = text + event_spec_terms(text, strlen(text)), cut = *tail;
	char *place = text + strlen(as->prefix);
	int r;

	*tail = '\0';
	(void)strlcpy(s->name, text, sizeof(s->name));
	r = as->probe ? event_parser_probe(p, as->probe, place, s)
		      : event_parser_breakpoint(p, place, s);
	*tail = cut;
	if (r == 0 && cut && s->modified)
		r = event_parser_fail(p, tail, "modifiers stand behind the terms: /period=1/u");
	/* Where a probe is takes no room in the name of one that has another. */
	if (strlcat(s->name, tail, sizeof(s->name)) >= sizeof(s->name) && r == 0)
		r = event_spec_long(p);
	if (r == 0 && cut)
		r = parse_tail(p, "", tail, s);
	if (r == 0)
		r = event_spec_append(p, s);
	if (r < 0) {
		free(s->probe);
		free(s->more);
	}
	return r;
}

/* In this copy. */
static int
parse_one(struct event_parser *p, char *text)
{
	struct event_spec s = { 0 };
	const char *brace = text + event_spec_bytes(text, "{}");
	const struct placed *as = placed_of(text);

	if (!*text)
		return event_parser_fail(p, text,
					 "an event is missing: commas stand between events");
	if (strlcpy(s.name, text, sizeof(s.name)) >= sizeof(s.name) && !(as && as->probe))
		return event_spec_long(p);
	s.attr.size = sizeof(s.attr);
	s.attr.exclude_guest = 1; /* as perf does outside of perf kvm */
	if (*brace)
		return event_parser_fail(p, brace,
					 "braces are around a group: {EVENT,EVENT}, or "
					 "{EVENT,EVENT}:MODS");
	if (off_cpu_is_name(text))
		return parse_off_cpu(p, text, &s);
	if (strncmp(text, "sdt:", 4) == 0)
		return event_parser_fail(p, text,
					 "only spoor record finds the file of a static probe: give "
					 "usdt:PATH:PROVIDER:NAME=OFFSET");
	return as ? parse_placed(p, as, text, &s) : parse_word(p, text, &s);
}

bool
event_spec_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Behind the quote that is closed here or later; one without its end is none. */
static const char *
behind_quote(const char *quote)
{
	const char *end = strchr(quote + 1, *quote);

	return end ? end + 1 : quote + 1;
}

/* Slashes before here are of a path, or there are none but those of terms. */
static const char *
behind_path(const char *event)
{
	const struct placed *as = placed_of(event);
	const char *place;

	if (!as || !as->file)
		return event;
	place = event + strlen(as->prefix);
	return as->probe || strchr("/.", *place) ? place + strcspn(place, ":") : place;
}

/*
 * Behind a place, a slash may also be of a symbol (Go: net/http.Get) or before a length. Of terms, one has a value, or
 * behind them all is nothing but modifiers.
 */
static bool
opens_terms(const char *slash)
{
	const char *end = slash;

	do {
		end++;
		if (*end >= 'a' && *end <= 'z')
			end += strspn(end, "abcdefghijklmnopqrstuvwxyz0123456789_-");
	} while (*end == ',');
	if (*end != '/')
		return *end == '=';
	end += 1 + (end[1] == ':');
	while ((*end >= 'a' && *end <= 'z') || (*end >= 'A' && *end <= 'Z'))
		end++;
	return strchr(" \t,{}", *end) != NULL;
}

size_t
event_spec_terms(const char *event, size_t n)
{
	const char *at = behind_path(event);

	while (at < event + n && (*at != '/' || !opens_terms(at)))
		at++;
	return at < event + n ? (size_t)(at - event) : n;
}

size_t
event_spec_bytes(const char *text, const char *ends)
{
	const char *at = text, *place;
	bool slashes, inside = false;

	while (event_spec_blank(*at))
		at++;
	place = behind_path(at);
	slashes = place == at;
	while (*at && (!strchr(ends, *at) || (inside && *at == ','))) {
		if (inside && at[-1] == '=' && strchr("'\"", *at)) {
			at = behind_quote(at);
			continue;
		}
		if (*at == '/' && !slashes)
			slashes = at >= place && opens_terms(at);
		inside ^= slashes && *at == '/';
		at++;
	}
	return (size_t)(at - text);
}

void
event_spec_done(struct event_spec *spec)
{
	free(spec->probe);
	free(spec->more);
	free(spec->tracepoint);
}

/* Of an event that stands for several, as one a PMU, all. */
static int
leave_out(struct event_spec_list *list, size_t had, const char *err)
{
	while (list->nr > had)
		event_spec_done(&list->specs[--list->nr]);
	session_note(list->skipped, "left out: %s", err);
	return 0;
}

int
event_spec_parse_part(const char *text, size_t from, size_t to,
		      const struct event_spec_roots *roots, struct event_spec_list *list, char *err,
		      size_t err_bytes)
{
	struct event_parser p = {
		.text = text, .at = from, .list = list, .err = err, .err_bytes = err_bytes
	};
	size_t had, next;
	int r;

	p.roots.sysfs = roots && roots->sysfs ? roots->sysfs : PMU_SYSFS;
	p.roots.tracefs = roots && roots->tracefs ? roots->tracefs : TRACEPOINT_TRACEFS;
	for (;;) {
		char *one;

		/* As perf: blanks around an event are no part of it. */
		while (p.at < to && event_spec_blank(text[p.at]))
			p.at++;
		p.bytes = event_spec_bytes(text + p.at, ",");
		if (p.bytes > to - p.at)
			p.bytes = to - p.at;
		next = p.at + p.bytes;
		while (p.bytes && event_spec_blank(text[p.at + p.bytes - 1]))
			p.bytes--;
		one = strndup(text + p.at, p.bytes);
		if (!one)
			return -ENOMEM;
		p.event = p.instead = one;
		had = list->nr;
		list->absent = false;
		r = parse_one(&p, one);
		free(one);
		if (r == -EINVAL && list->absent && list->skipped)
			r = leave_out(list, had, err);
		if (r < 0 || next == to)
			return r;
		p.at = next + 1;
	}
}

int
event_spec_parse(const char *text, const struct event_spec_roots *roots,
		 struct event_spec_list *list, char *err, size_t err_bytes)
{
	return event_spec_parse_part(text, 0, strlen(text), roots, list, err, err_bytes);
}

void
event_spec_list_done(struct event_spec_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		event_spec_done(&list->specs[i]);
	free(list->specs);
	*list = (struct event_spec_list){ 0 };
}
