/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dump/record_text.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

#include <bsd/string.h>

#include "format/record/read_counts.h"
#include "symbolizer/dump/record_fields.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static const char *const cpumodes[8] = {
	NULL,		"kernel",     "user",	   "hypervisor",
	"guest_kernel", "guest_user", "cpumode_6", "cpumode_7",
};

/* Bits 12 to 15 mean something else for each type. */
static const struct misc_name {
	uint32_t type;
	uint16_t bit;
	const char *name;
} misc_names[] = {
	{ REC_MMAP, PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT, "proc_map_parse_timeout" },
	{ REC_MMAP2, PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT, "proc_map_parse_timeout" },
	{ REC_MMAP, PERF_RECORD_MISC_MMAP_DATA, "mmap_data" },
	{ REC_MMAP2, PERF_RECORD_MISC_MMAP_DATA, "mmap_data" },
	{ REC_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, "build_id" },
	{ REC_COMM, PERF_RECORD_MISC_COMM_EXEC, "exec" },
	{ REC_FORK, PERF_RECORD_MISC_FORK_EXEC, "exec" },
	{ REC_FORK, 1 << 12, "copy" },
	{ REC_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, "out" },
	{ REC_SWITCH, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, "preempt" },
	{ REC_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, "out" },
	{ REC_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, "preempt" },
	{ REC_READ, READ_MISC_BEFORE, "before" },
	{ REC_SAMPLE, PERF_RECORD_MISC_EXACT_IP, "exact_ip" },
	{ REC_LOST_SAMPLES, 1 << 15, "bpf" },
};

/* ---- what every record has ---- */

static void
misc_text(char *text, size_t size, uint32_t type, uint16_t misc)
{
	const char *cpumode = cpumodes[misc & PERF_RECORD_MISC_CPUMODE_MASK];
	uint16_t rest = misc & (uint16_t)~PERF_RECORD_MISC_CPUMODE_MASK;
	char number[8];

	strlcpy(text, cpumode ? cpumode : "", size);
	for (size_t i = 0; i < NR(misc_names); i++) {
		if (misc_names[i].type != type || !(rest & misc_names[i].bit))
			continue;
		rest &= (uint16_t)~misc_names[i].bit;
		strlcat(text, *text ? "|" : "", size);
		strlcat(text, misc_names[i].name, size);
	}
	if (*text && !rest)
		return;
	snprintf(number, sizeof(number), rest ? "0x%x" : "%x", rest);
	strlcat(text, *text ? "|" : "", size);
	strlcat(text, number, size);
}

static void
put_header(struct record_sink *s, const struct perf_record *r,
	   const struct record_text_about *about)
{
	char text[128];

	misc_text(text, sizeof(text), r->type, r->misc);
	sink_word(s, "misc", text);
	sink_number(s, "size", r->size, SINK_DECIMAL);
	if (about->event)
		sink_string(s, "event", about->event);
	if (about->state)
		sink_number(s, "state", 1, SINK_DECIMAL);
	if (r->sid.have & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		sink_number(s, "id", r->sid.id, SINK_DECIMAL);
	if (r->sid.have & PERF_SAMPLE_STREAM_ID)
		sink_number(s, "stream_id", r->sid.stream_id, SINK_DECIMAL);
}

/* text is room for the name of a type that has none. */
static const char *
type_text(char *text, size_t size, uint32_t type)
{
	const char *name = perf_record_type_name(type);

	if (name)
		return name;
	snprintf(text, size, "TYPE_%" PRIu32, type);
	return text;
}

void
record_text(FILE *file, const struct perf_record *r, const struct record_text_about *about)
{
	const struct perf_sample_id *sid = &r->sid;
	struct record_sink s;
	char type[32];

	if (sid->have & PERF_SAMPLE_TIME)
		fprintf(file, "%" PRIu64 ".%09" PRIu64 " ", sid->time / 1000000000,
			sid->time % 1000000000);
	else
		fputs("- ", file);
	if (sid->cpu != UINT32_MAX)
		fprintf(file, "%" PRIu32 " ", sid->cpu);
	else
		fputs("- ", file);
	if (sid->have & PERF_SAMPLE_TID)
		fprintf(file, "%" PRId32 "/%" PRId32 " ", (int32_t)sid->pid, (int32_t)sid->tid);
	else
		fputs("- ", file);
	fprintf(file, "%s ", type_text(type, sizeof(type), r->type));
	record_sink_text(&s, file);
	put_header(&s, r, about);
	record_fields(&s, r, about);
	putc('\n', file);
}

json_t *
record_text_json(const struct perf_record *r, const struct record_text_about *about)
{
	const struct perf_sample_id *sid = &r->sid;
	struct record_sink s;
	char type[32];

	record_sink_json(&s);
	sink_word(&s, "type", type_text(type, sizeof(type), r->type));
	if (sid->have & PERF_SAMPLE_TIME)
		sink_number(&s, "time", sid->time, SINK_DECIMAL);
	if (sid->cpu != UINT32_MAX)
		sink_number(&s, "cpu", sid->cpu, SINK_DECIMAL);
	if (sid->have & PERF_SAMPLE_TID) {
		sink_signed(&s, "pid", (int32_t)sid->pid);
		sink_signed(&s, "tid", (int32_t)sid->tid);
	}
	put_header(&s, r, about);
	sink_open_object(&s, "fields");
	record_fields(&s, r, about);
	sink_close_object(&s);
	return record_sink_json_done(&s);
}

/* ---- records that did not parse ---- */

static void
put_bad(struct record_sink *s, struct span bytes, const char *why)
{
	char text[128];

	sink_string(s, "error", why);
	if (bytes.len >= PERF_RECORD_HEADER_BYTES) {
		const uint32_t type = le32dec(bytes.p);

		sink_word(s, "bad_type", type_text(text, sizeof(text), type));
		misc_text(text, sizeof(text), type, le16dec(bytes.p + 4));
		sink_word(s, "misc", text);
		sink_number(s, "size", le16dec(bytes.p + 6), SINK_DECIMAL);
	}
	sink_bytes(s, "bytes", bytes);
}

void
record_text_bad(FILE *file, struct span bytes, const char *why)
{
	struct record_sink s;

	fputs("- - - BAD ", file);
	record_sink_text(&s, file);
	put_bad(&s, bytes, why);
	putc('\n', file);
}

json_t *
record_text_bad_json(struct span bytes, const char *why)
{
	struct record_sink s;

	record_sink_json(&s);
	sink_word(&s, "type", "BAD");
	put_bad(&s, bytes, why);
	return record_sink_json_done(&s);
}
