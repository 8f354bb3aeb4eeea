/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_tracing.h"

#include <ctype.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_BYTES 8
#define PAGE_BYTES 4096
#define NAME_MAX_BYTES 128
#define MAGIC "\x17\x08\x44tracing"

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

/* As the kernel told it: the system's name in the first line, then its file. */
static bool
put_known(struct buf *out, const struct event *e)
{
	const char *file = e->format ? strchr(e->format, '\n') : NULL;

	if (!file)
		return false;
	buf_append(out, e->format, (size_t)(file - e->format));
	buf_u8(out, 0);
	buf_u32(out, 1);
	buf_u64(out, strlen(file + 1));
	buf_text(out, file + 1);
	return true;
}

/* "sched:sched_switch:u": its system, its name. */
static void
put_unknown(struct buf *out, const struct event *e)
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
	static const char magic[] = MAGIC "0.5";
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
		if (is_first(events, i) && !put_known(out, event_set_at(events, i)))
			put_unknown(out, event_set_at(events, i));
	}
	buf_u32(out, 0); /* symbols */
	buf_u32(out, 0); /* formats of trace_printk() */
}

/* --- in ---------------------------------------------------------------------------------- */

static bool
take_file(struct span *s, struct span *ret)
{
	uint64_t length;

	return span_u64(s, &length) && length <= s->len && span_take(s, (size_t)length, ret);
}

static bool
take_named_file(struct span *s, const char *name)
{
	const char *found;
	struct span file;

	return span_string(s, &found) && strcmp(found, name) == 0 && take_file(s, &file);
}

/* The number in the line "ID: 5" of a format. */
static bool
find_id(struct span file, uint64_t *ret)
{
	const uint8_t *at = file.len ? memmem(file.p, file.len, "\nID:", 4) : NULL;
	size_t n = at ? (size_t)(at + 4 - file.p) : file.len;
	bool any = false;

	for (*ret = 0; n < file.len && file.p[n] == ' '; n++)
		;
	for (; n < file.len && isdigit(file.p[n]); n++, any = true)
		*ret = *ret * 10 + (uint64_t)(file.p[n] - '0');
	return any;
}

/* The tracepoints of a set, by their ids. */
struct wanted {
	uint64_t id;
	size_t index;
};

static int
wanted_cmp(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

struct wanted_list {
	struct event_set *events;
	struct wanted *v;
	size_t nr;
};

static int
wanted_list_of(struct wanted_list *l, struct event_set *events)
{
	const size_t nr = event_set_count(events);

	*l = (struct wanted_list){ events, calloc(nr + 1, sizeof(*l->v)), 0 };
	if (!l->v)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < nr; i++)
		if (event_set_at(events, i)->attr.type == PERF_TYPE_TRACEPOINT)
			l->v[l->nr++] = (struct wanted){ event_set_at(events, i)->attr.config, i };
	qsort(l->v, l->nr, sizeof(*l->v), wanted_cmp);
	return 0;
}

/* Index of the first with this id; nr: there is none. */
static size_t
wanted_list_find(const struct wanted_list *l, uint64_t id)
{
	size_t from = 0, to = l->nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (l->v[middle].id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return from < l->nr && l->v[from].id == id ? from : l->nr;
}

static int
give_format(const struct wanted_list *l, const char *system, struct span file)
{
	struct buf text;
	uint64_t id;
	size_t i;
	int error = 0;

	if (file.len > EVENT_FORMAT_BYTES_MAX - NAME_MAX_BYTES - 2 || !find_id(file, &id))
		return 0;
	i = wanted_list_find(l, id);
	/* A file may tell one a million times. */
	if (i == l->nr || event_set_at(l->events, l->v[i].index)->format)
		return 0;
	buf_init(&text);
	buf_text(&text, system);
	buf_u8(&text, '\n');
	buf_append(&text, file.p, file.len);
	buf_u8(&text, 0);
	if (buf_failed(&text))
		error = -FMT_E_NOMEM;
	for (; !error && i < l->nr && l->v[i].id == id; i++) {
		error = event_set_format(l->events, l->v[i].index, (const char *)text.p);
		/* There is no room for more. */
		if (!error && !event_set_at(l->events, l->v[i].index)->format)
			break;
	}
	buf_done(&text);
	return error;
}

/* Everything before the formats of tracepoints. */
static bool
take_head(struct span *s)
{
	const size_t magic_len = sizeof(MAGIC) - 1;
	const char *version;
	struct span magic, file;
	uint8_t big_endian, word;
	uint32_t nr, page;

	if (!span_take(s, magic_len, &magic) || memcmp(magic.p, MAGIC, magic_len) != 0 ||
	    !span_string(s, &version) || !span_u8(s, &big_endian) || big_endian ||
	    !span_u8(s, &word) || !span_u32(s, &page) || !take_named_file(s, "header_page") ||
	    !take_named_file(s, "header_event") || !span_u32(s, &nr))
		return false;
	for (; nr > 0; nr--)
		if (!take_file(s, &file))
			return false;
	return true;
}

static int
take_system(const struct wanted_list *l, struct span *s)
{
	const char *system;
	struct span file;
	uint32_t nr;
	bool named;
	int error = 0;

	if (!span_string(s, &system) || !span_u32(s, &nr))
		return -FMT_E_CORRUPT;
	named = strlen(system) < NAME_MAX_BYTES;
	for (; !error && nr > 0; nr--) {
		if (!take_file(s, &file))
			error = -FMT_E_CORRUPT;
		else if (named)
			error = give_format(l, system, file);
	}
	return error;
}

int
perfdata_tracing_read(struct span section, struct event_set *events)
{
	struct wanted_list l;
	uint32_t nr;
	int error;

	if (!take_head(&section) || !span_u32(&section, &nr))
		return -FMT_E_CORRUPT;
	error = wanted_list_of(&l, events);
	for (; !error && nr > 0; nr--)
		error = take_system(&l, &section);
	free(l.v);
	return error;
}
