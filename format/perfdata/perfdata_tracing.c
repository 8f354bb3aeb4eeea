/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_tracing.h"

#include <ctype.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define LONG_BYTES 8
#define PAGE_BYTES 4096
#define NAME_MAX_BYTES 128

/* Of a page of the kernel's trace buffer, of which there is none here: as on 64 bits. */
static const char page_format[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static const char fields[] =
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n\n" /* the end of common fields, and of its own */
	"print fmt: \"\"\n";

/* Is it a tracepoint, and the first event of that one? */
static bool
is_first(const struct event_set *events, size_t index)
{
	const struct event_attr *a = &event_set_at(events, index)->attr;

	if (a->type != PERF_TYPE_TRACEPOINT)
		return false;
	for (size_t i = 0; i < index; i++) {
		const struct event_attr *b = &event_set_at(events, i)->attr;

		if (b->type == PERF_TYPE_TRACEPOINT && b->config == a->config)
			return false;
	}
	return true;
}

uint32_t
perfdata_tracing_count(const struct event_set *events)
{
	uint32_t n = 0;

	for (size_t i = 0; i < event_set_count(events); i++)
		n += is_first(events, i);
	return n;
}

/* Copies a part of a name that ends in a colon or a NUL, made fit for the parser of formats. */
static const char *
take_word(const char *from, char *to)
{
	size_t n = 0;

	for (; *from && *from != ':'; from++) {
		if (n < NAME_MAX_BYTES - 1)
			to[n++] = (char)(isalnum((unsigned char)*from) ? *from : '_');
	}
	to[n] = '\0';
	return *from ? from + 1 : from;
}

/* "sched:sched_switch:u": its system, its name. */
static void
put_event(struct buf *out, const struct event *e)
{
	char system[NAME_MAX_BYTES], name[NAME_MAX_BYTES], head[NAME_MAX_BYTES + 64];
	const char *rest = take_word(e->name, system);
	size_t n;

	take_word(rest, name);
	if (!*system || !*name) {
		snprintf(system, sizeof(system), "unknown");
		snprintf(name, sizeof(name), "tracepoint_%" PRIu64, e->attr.config);
	}
	n = (size_t)snprintf(head, sizeof(head), "name: %s\nID: %" PRIu64 "\n", name,
			     e->attr.config);
	buf_append(out, system, strlen(system) + 1);
	buf_u32(out, 1);
	buf_u64(out, n + sizeof(fields) - 1);
	buf_append(out, head, n);
	buf_append(out, fields, sizeof(fields) - 1);
}

void
perfdata_tracing_section(struct buf *out, const struct event_set *events)
{
	/* 0.5: without the names of commands, which 0.6 has at its end. */
	static const char magic[] = "\x17\x08\x44tracing0.5";
	static const char page[] = "header_page", event[] = "header_event";

	buf_append(out, magic, sizeof(magic));
	buf_u8(out, 0); /* little-endian */
	buf_u8(out, LONG_BYTES);
	buf_u32(out, PAGE_BYTES);
	buf_append(out, page, sizeof(page));
	buf_u64(out, sizeof(page_format) - 1);
	buf_append(out, page_format, sizeof(page_format) - 1);
	buf_append(out, event, sizeof(event));
	buf_u64(out, 0);
	buf_u32(out, 0); /* formats of ftrace itself */
	buf_u32(out, perfdata_tracing_count(events));
	for (size_t i = 0; i < event_set_count(events); i++) {
		if (is_first(events, i))
			put_event(out, event_set_at(events, i));
	}
	buf_u32(out, 0); /* symbols */
	buf_u32(out, 0); /* formats of trace_printk() */
}
