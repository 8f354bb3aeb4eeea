/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands behind "mem:". */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "recorder/event/event_spec_internal.h"

static int
parse_access(const struct event_parser *p, const char *access, struct event_spec *s)
{
	uint32_t type = 0;

	for (const char *a = access; *a; a++) {
		uint32_t bit = *a == 'r' ? HW_BREAKPOINT_R
			: *a == 'w'	 ? HW_BREAKPOINT_W
			: *a == 'x'	 ? HW_BREAKPOINT_X
					 : 0;

		if (!bit || (type & bit))
			return event_parser_fail(
				p, a, "the access of a breakpoint is made of r, w, x, each once");
		type |= bit;
		if (type & HW_BREAKPOINT_X && type != HW_BREAKPOINT_X)
			return event_parser_fail(
				p, a,
				"a breakpoint is for what is executed (x), or for what is read and "
				"written (r, w, rw), not for both");
	}
	s->attr.bp_type = type;
	return 0;
}

static int
parse_length(const struct event_parser *p, const char *length, struct event_spec *s)
{
	uint64_t n;

	if (!event_parser_number(length, &n) || (n != 1 && n != 2 && n != 4 && n != 8))
		return event_parser_fail(p, length, "the length of a breakpoint is 1, 2, 4 or 8");
	if (s->attr.bp_type == HW_BREAKPOINT_X && n != sizeof(long))
		return event_parser_fail(p, length, "the length of a breakpoint for x is %zu",
					 sizeof(long));
	s->attr.bp_len = n;
	return 0;
}

/* "NAME=ADDR...": whoever finds addresses by name calls them so. Where the address is. */
static char *
named_address(char *text, struct event_spec *s)
{
	char *equals = strrchr(text, '=');

	if (!equals)
		return text;
	(void)snprintf(s->name, sizeof(s->name), "mem:%.*s%s", (int)(equals - text), text,
		       equals + 1 + strcspn(equals + 1, "/:"));
	return equals + 1;
}

int
event_parser_breakpoint(const struct event_parser *p, char *text, struct event_spec *s)
{
	char *rest = named_address(text, s), *address = strsep(&rest, ":");
	char *length = strchr(address, '/'), *field = strsep(&rest, ":");
	uint64_t n;
	int r;

	if (length)
		*length++ = '\0';
	s->attr.type = PERF_TYPE_BREAKPOINT;
	s->each = true;
	if (!event_parser_number(address, &n))
		return event_parser_fail(p, address,
					 "'%s' is not an address such as 0x1000: only spoor record "
					 "finds symbols",
					 address);
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
	if (length)
		r = parse_length(p, length, s);
	if (r == 0 && rest)
		r = event_parser_modifiers(p, rest, s);
	return r;
}
