/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_spec.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/string.h>

#include "recorder/event/event_name.h"
#include "recorder/event/pmu.h"
#include "recorder/ground/small_file.h"

#define ALIAS_DEPTH 4 /* an alias of an alias of... */

struct spec_parser {
	struct event_spec_roots roots;
	char *err;
	size_t err_bytes;
	int depth;
};

static int __attribute__((format(printf, 2, 3)))
event_spec_fail(const struct spec_parser *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->err, p->err_bytes, format, args);
	va_end(args);
	return -EINVAL;
}

static bool
event_spec_number(const char *text, int base, uint64_t *ret)
{
	char *end;

	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, base);
	return !*end && errno == 0;
}

static int
parse_modifiers(const struct spec_parser *p, const char *mods, struct event_spec *s)
{
	bool user = strchr(mods, 'u'), kernel = strchr(mods, 'k'), hv = strchr(mods, 'h');
	bool guest = strchr(mods, 'G'), host = strchr(mods, 'H');
	unsigned precise = 0;

	for (const char *m = mods; *m; m++) {
		if (!strchr("ukhIGHpPDe", *m))
			return event_spec_fail(
				p, "%s: unknown modifier '%c' (there are u k h I G H p P D e)",
				s->name, *m);
		precise += *m == 'p';
	}
	if (precise > 3)
		return event_spec_fail(p, "%s: at most three p", s->name);
	if (user || kernel || hv) {
		s->attr.exclude_user = !user;
		s->attr.exclude_kernel = !kernel;
		s->attr.exclude_hv = !hv;
	}
	if (guest || host) {
		s->attr.exclude_guest = !guest;
		s->attr.exclude_host = !host;
	}
	if (strchr(mods, 'I'))
		s->attr.exclude_idle = 1;
	s->attr.precise_ip = precise;
	s->attr.pinned = strchr(mods, 'D') != NULL;
	s->attr.exclusive = strchr(mods, 'e') != NULL;
	s->precise_max = strchr(mods, 'P') != NULL;
	s->modified = *mods && !s->named;
	return 0;
}

/* --- pmu/terms/ ---------------------------------------------------------------------- */

static int apply_terms(struct spec_parser *p, const char *pmu, char *terms, struct event_spec *s);

/* Terms that speak of the event rather than of the PMU. */
static int
general_term(const struct spec_parser *p, const char *term, const char *value, struct event_spec *s)
{
	uint64_t n;

	if (strcmp(term, "name") == 0 && value) {
		strlcpy(s->name, value, sizeof(s->name));
		s->named = true;
		return 0;
	}
	if (strcmp(term, "period") != 0 && strcmp(term, "freq") != 0)
		return -ENOENT;
	if (!value || !event_spec_number(value, 0, &n) || n == 0)
		return event_spec_fail(p, "%s: %s needs a number over 0", s->name, term);
	s->has_rate = true;
	s->attr.freq = *term == 'f';
	s->attr.sample_period = n;
	return 0;
}

static int
apply_term(struct spec_parser *p, const char *pmu, const char *term, const char *value,
	   struct event_spec *s)
{
	char alias[256];
	uint64_t n = 1;
	int r = general_term(p, term, value, s);

	if (r != -ENOENT)
		return r;
	if (!value && pmu_alias(p->roots.sysfs, pmu, term, alias, sizeof(alias)) == 0) {
		if (p->depth == ALIAS_DEPTH)
			return event_spec_fail(p, "%s: aliases of %s go round in a circle", s->name,
					       term);
		p->depth++;
		r = apply_terms(p, pmu, alias, s);
		p->depth--;
		return r;
	}
	if (value && !event_spec_number(value, 0, &n))
		return event_spec_fail(p, "%s: the value of %s is not a number: '%s'", s->name,
				       term, value);
	r = pmu_term(p->roots.sysfs, pmu, term, n, &s->attr);
	if (r == -ERANGE)
		return event_spec_fail(p, "%s: the value of %s has more bits than the term",
				       s->name, term);
	if (r < 0)
		return event_spec_fail(p, "%s: %s has no term or event '%s'", s->name, pmu, term);
	return 0;
}

static int
apply_terms(struct spec_parser *p, const char *pmu, char *terms, struct event_spec *s)
{
	char *term;
	int r = 0;

	while (r == 0 && (term = strsep(&terms, ","))) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		if (!*term)
			continue;
		r = apply_term(p, pmu, term, value, s);
	}
	return r;
}

static int
parse_pmu(struct spec_parser *p, char *text, struct event_spec *s)
{
	char *slash = strchr(text, '/'), *end = strrchr(text, '/'), *mods = end + 1;
	int r;

	if (end == slash)
		return event_spec_fail(p, "%s: the terms of a PMU stand between two slashes",
				       s->name);
	*slash = *end = '\0';
	r = pmu_type(p->roots.sysfs, text, &s->attr.type);
	if (r < 0)
		return event_spec_fail(p, "%s: this kernel has no PMU '%s'", s->name, text);
	(void)strlcpy(s->pmu, text, sizeof(s->pmu));
	r = apply_terms(p, text, slash + 1, s);
	if (r < 0)
		return r;
	return parse_modifiers(p, *mods == ':' ? mods + 1 : mods, s);
}

/* --- breakpoints, tracepoints, names --------------------------------------------------- */

static int
parse_access(const struct spec_parser *p, const char *access, struct event_spec *s)
{
	uint32_t type = 0;

	for (const char *a = access; *a; a++) {
		uint32_t bit = *a == 'r' ? HW_BREAKPOINT_R
			: *a == 'w'	 ? HW_BREAKPOINT_W
			: *a == 'x'	 ? HW_BREAKPOINT_X
					 : 0;

		if (!bit || (type & bit))
			return event_spec_fail(
				p, "%s: the access of a breakpoint is made of r, w, x", s->name);
		type |= bit;
	}
	if (type & HW_BREAKPOINT_X && type != HW_BREAKPOINT_X)
		return event_spec_fail(
			p,
			"%s: a breakpoint is for what is executed (x), or for what is "
			"read and written (r, w, rw), not for both",
			s->name);
	s->attr.bp_type = type;
	return 0;
}

static int
parse_breakpoint(const struct spec_parser *p, char *text, struct event_spec *s)
{
	char *rest = text + strlen("mem:"), *address = strsep(&rest, ":");
	char *length = strchr(address, '/'), *field = strsep(&rest, ":");
	uint64_t n;
	int r;

	if (length)
		*length++ = '\0';
	s->attr.type = PERF_TYPE_BREAKPOINT;
	s->each = true;
	if (!event_spec_number(address, 0, &n))
		return event_spec_fail(p, "%s: '%s' is not an address", s->name, address);
	s->attr.bp_addr = n;
	/* mem:ADDR:u has modifiers and the usual access. */
	if (field && *field && !rest && !strpbrk(field, "rwx")) {
		rest = field;
		field = NULL;
	}
	r = parse_access(p, field && *field ? field : "rw", s);
	if (r < 0)
		return r;
	s->attr.bp_len = s->attr.bp_type & HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	if (length) {
		if (!event_spec_number(length, 0, &n) || (n != 1 && n != 2 && n != 4 && n != 8))
			return event_spec_fail(p, "%s: the length of a breakpoint is 1, 2, 4 or 8",
					       s->name);
		if (s->attr.bp_type == HW_BREAKPOINT_X && n != sizeof(long))
			return event_spec_fail(p, "%s: the length of a breakpoint for x is %zu",
					       s->name, sizeof(long));
		s->attr.bp_len = n;
	}
	return rest ? parse_modifiers(p, rest, s) : 0;
}

static int
tracepoint_id(const struct spec_parser *p, const char *subsystem, const char *name, uint64_t *ret)
{
	char path[512], text[32];
	ssize_t n;

	if (strchr(subsystem, '/') || strchr(name, '/') || *subsystem == '.' || *name == '.')
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/events/%s/%s/id", p->roots.tracefs, subsystem, name);
	n = small_file_read(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	text[strcspn(text, "\n")] = '\0';
	return event_spec_number(text, 10, ret) ? 0 : -EIO;
}

static int
parse_tracepoint(const struct spec_parser *p, char *text, struct event_spec *s)
{
	char *subsystem = strsep(&text, ":"), *name = strsep(&text, ":"), path[256];
	uint64_t id;
	int r = tracepoint_id(p, subsystem, name, &id);

	snprintf(path, sizeof(path), "%s/events", p->roots.tracefs);
	if (r == -EACCES || r == -EPERM)
		return event_spec_fail(p, "%s: %s may not be read: tracepoints need root", s->name,
				       path);
	if (r < 0 && access(path, F_OK) < 0)
		return event_spec_fail(p, "%s: no tracepoints: tracefs is not mounted on %s",
				       s->name, p->roots.tracefs);
	if (r < 0)
		return event_spec_fail(p, "%s: neither an event nor a tracepoint of %s", s->name,
				       path);
	s->attr.type = PERF_TYPE_TRACEPOINT;
	s->attr.config = id;
	s->attr.sample_type = PERF_SAMPLE_RAW;
	s->each = true;
	return text ? parse_modifiers(p, text, s) : 0;
}

static int
parse_name(struct spec_parser *p, char *text, struct event_spec *s)
{
	char *mods = text, *name = strsep(&mods, ":"), pmu[PMU_NAME_BYTES];
	uint32_t type;
	uint64_t config;

	if (event_name_find(name, &type, &config)) {
		if (type == PERF_TYPE_SOFTWARE && config == PERF_COUNT_SW_BPF_OUTPUT)
			return event_spec_fail(
				p,
				"%s: its samples come from a BPF program that was given the "
				"event, and spoor loads none",
				s->name);
		s->attr.type = type;
		s->attr.config = config;
	} else if (*name == 'r' && event_spec_number(name + 1, 16, &config)) {
		s->attr.type = PERF_TYPE_RAW;
		s->attr.config = config;
	} else if (pmu_find(p->roots.sysfs, name, pmu) == 0) {
		int r = pmu_type(p->roots.sysfs, pmu, &s->attr.type);

		(void)strlcpy(s->pmu, pmu, sizeof(s->pmu));
		if (r == 0)
			r = apply_term(p, pmu, name, NULL, s);
		if (r < 0)
			return r;
	} else {
		return event_spec_fail(p, "unknown event '%s'", name);
	}
	return mods ? parse_modifiers(p, mods, s) : 0;
}

/* Before its modifiers: else it is a tracepoint's, which is not looked for among PMUs. */
static bool
known_name(const struct spec_parser *p, const char *text)
{
	char name[EVENT_SPEC_NAME_BYTES], pmu[PMU_NAME_BYTES];
	uint32_t type;
	uint64_t config;

	strlcpy(name, text, sizeof(name));
	name[strcspn(name, ":")] = '\0';
	return event_name_find(name, &type, &config) ||
		(*name == 'r' && event_spec_number(name + 1, 16, &config)) ||
		pmu_find(p->roots.sysfs, name, pmu) == 0;
}

static int
parse_one(struct spec_parser *p, const char *text, struct event_spec *s)
{
	char copy[EVENT_SPEC_NAME_BYTES];

	*s = (struct event_spec){ 0 };
	if (strlcpy(s->name, text, sizeof(s->name)) >= sizeof(s->name))
		return event_spec_fail(p, "'%.40s...': an event of more than %d bytes", text,
				       EVENT_SPEC_NAME_BYTES - 1);
	s->attr.size = sizeof(s->attr);
	s->attr.exclude_guest = 1; /* as perf does outside of perf kvm */
	strlcpy(copy, text, sizeof(copy));
	if (!*copy)
		return event_spec_fail(p, "an event without a name");
	if (strpbrk(copy, "{}"))
		return event_spec_fail(
			p, "%s: braces are around a group: {EVENT,EVENT}, or {EVENT,EVENT}:MODS",
			text);
	if (strncmp(copy, "mem:", 4) == 0)
		return parse_breakpoint(p, copy, s);
	if (strchr(copy, '/'))
		return parse_pmu(p, copy, s);
	if (strchr(copy, ':') && !known_name(p, copy))
		return parse_tracepoint(p, copy, s);
	return parse_name(p, copy, s);
}

size_t
event_spec_bytes(const char *text)
{
	bool inside = false, breakpoint = strncmp(text, "mem:", 4) == 0;
	size_t n;

	for (n = 0; text[n] && (inside || text[n] != ','); n++)
		inside ^= text[n] == '/' && !breakpoint;
	return n;
}

static int
event_spec_append(struct event_spec_list *list, const struct event_spec *s)
{
	struct event_spec *specs = reallocarray(list->specs, list->nr + 1, sizeof(*specs));

	if (!specs)
		return -ENOMEM;
	list->specs = specs;
	specs[list->nr++] = *s;
	return 0;
}

int
event_spec_parse(const char *text, const struct event_spec_roots *roots,
		 struct event_spec_list *list, char *err, size_t err_bytes)
{
	struct spec_parser p = { .err = err, .err_bytes = err_bytes };
	struct event_spec s;
	char *one;
	int r;

	p.roots.sysfs = roots && roots->sysfs ? roots->sysfs : PMU_SYSFS;
	p.roots.tracefs = roots && roots->tracefs ? roots->tracefs : "/sys/kernel/tracing";
	for (;;) {
		size_t n = event_spec_bytes(text);

		one = strndup(text, n);
		if (!one)
			return -ENOMEM;
		r = parse_one(&p, one, &s);
		free(one);
		if (r == 0 && list->nr == EVENT_SPECS_MAX)
			r = event_spec_fail(&p, "more than %d events", EVENT_SPECS_MAX);
		if (r == 0)
			r = event_spec_append(list, &s);
		if (r < 0 || !text[n])
			return r;
		text += n + 1;
	}
}

void
event_spec_list_done(struct event_spec_list *list)
{
	free(list->specs);
	*list = (struct event_spec_list){ 0 };
}
