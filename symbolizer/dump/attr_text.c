/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dump/attr_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

static const char *const sample_types[] = {
	"IP",
	"TID",
	"TIME",
	"ADDR",
	"READ",
	"CALLCHAIN",
	"ID",
	"CPU",
	"PERIOD",
	"STREAM_ID",
	"RAW",
	"BRANCH_STACK",
	"REGS_USER",
	"STACK_USER",
	"WEIGHT",
	"DATA_SRC",
	"IDENTIFIER",
	"TRANSACTION",
	"REGS_INTR",
	"PHYS_ADDR",
	"AUX",
	"CGROUP",
	"DATA_PAGE_SIZE",
	"CODE_PAGE_SIZE",
	"WEIGHT_STRUCT",
};
static const char *const read_formats[] = { "TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID",
					    "GROUP", "LOST" };
static const char *const branch_types[] = {
	"USER",	    "KERNEL",	 "HV",	      "ANY",	  "ANY_CALL",	"ANY_RETURN", "IND_CALL",
	"ABORT_TX", "IN_TX",	 "NO_TX",     "COND",	  "CALL_STACK", "IND_JUMP",   "CALL",
	"NO_FLAGS", "NO_CYCLES", "TYPE_SAVE", "HW_INDEX", "PRIV_SAVE",	"COUNTERS",
};

/* Bits of the word behind read_format, from the lowest; two are one number. */
#define PRECISE_BIT 15
static const char *const flags[] = {
	"disabled",
	"inherit",
	"pinned",
	"exclusive",
	"exclude_user",
	"exclude_kernel",
	"exclude_hv",
	"exclude_idle",
	"mmap",
	"comm",
	"freq",
	"inherit_stat",
	"enable_on_exec",
	"task",
	"watermark",
	"precise_ip",
	NULL,
	"mmap_data",
	"sample_id_all",
	"exclude_host",
	"exclude_guest",
	"exclude_callchain_kernel",
	"exclude_callchain_user",
	"mmap2",
	"comm_exec",
	"use_clockid",
	"context_switch",
	"write_backward",
	"namespaces",
	"ksymbol",
	"bpf_event",
	"aux_output",
	"cgroup",
	"text_poke",
	"build_id",
	"inherit_thread",
	"remove_on_exec",
	"sigtrap",
	"defer_callchain",
	"defer_output",
};

#define NR(table) (sizeof(table) / sizeof((table)[0]))

/* Names of bits, with '|' between them; the rest as a number. */
static const char *
bit_names(uint64_t value, const char *const *names, size_t nr, char *out, size_t cap)
{
	char rest[24];

	*out = '\0';
	for (size_t i = 0; i < nr; i++) {
		if (!(value >> i & 1))
			continue;
		(void)strlcat(out, *out ? "|" : "", cap);
		(void)strlcat(out, names[i], cap);
		value &= ~(UINT64_C(1) << i);
	}
	if (value) {
		(void)snprintf(rest, sizeof(rest), "%s%#" PRIx64, *out ? "|" : "", value);
		(void)strlcat(out, rest, cap);
	}
	return out;
}

struct walk {
	bool (*see)(void *arg, const char *name, uint64_t value, const char *text);
	void *arg;
};

static bool
see_number(const struct walk *w, const char *name, uint64_t value)
{
	return !value || w->see(w->arg, name, value, NULL);
}

static bool
see_hex(const struct walk *w, const char *name, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%#" PRIx64, value);
	return !value || w->see(w->arg, name, value, text);
}

static bool
see_bits(const struct walk *w, const char *name, uint64_t value, const char *const *names,
	 size_t nr)
{
	char text[512];

	return !value ||
		w->see(w->arg, name, value, bit_names(value, names, nr, text, sizeof(text)));
}

static bool
see_flags(const struct walk *w, const struct perf_event_attr *attr)
{
	uint64_t bits;

	memcpy(&bits, (const uint8_t *)&attr->read_format + 8, sizeof(bits));
	for (size_t i = 0; i < 64; i++) {
		char number[16];
		uint64_t value = bits >> i & (i == PRECISE_BIT ? 3 : 1);

		(void)snprintf(number, sizeof(number), "bit %zu", i);
		if (i != PRECISE_BIT + 1 &&
		    !see_number(w, i < NR(flags) ? flags[i] : number, value))
			return false;
	}
	return true;
}

bool
attr_text_each(const struct perf_event_attr *a,
	       bool (*see)(void *arg, const char *name, uint64_t value, const char *text),
	       void *arg)
{
	const struct walk walk = { see, arg }, *w = &walk;

	return see_number(w, "type", a->type) && see_number(w, "size", a->size) &&
		see_hex(w, "config", a->config) &&
		see_number(w, "{ sample_period, sample_freq }", a->sample_period) &&
		see_bits(w, "sample_type", a->sample_type, sample_types, NR(sample_types)) &&
		see_bits(w, "read_format", a->read_format, read_formats, NR(read_formats)) &&
		see_flags(w, a) &&
		see_number(w, "{ wakeup_events, wakeup_watermark }", a->wakeup_events) &&
		see_number(w, "bp_type", a->bp_type) &&
		see_hex(w, "{ bp_addr, config1 }", a->config1) &&
		see_hex(w, "{ bp_len, config2 }", a->config2) &&
		see_bits(w, "branch_sample_type", a->branch_sample_type, branch_types,
			 NR(branch_types)) &&
		see_hex(w, "sample_regs_user", a->sample_regs_user) &&
		see_number(w, "sample_stack_user", a->sample_stack_user) &&
		see_number(w, "clockid", (uint64_t)(int64_t)a->clockid) &&
		see_hex(w, "sample_regs_intr", a->sample_regs_intr) &&
		see_number(w, "aux_watermark", a->aux_watermark) &&
		see_number(w, "sample_max_stack", a->sample_max_stack) &&
		see_number(w, "aux_sample_size", a->aux_sample_size) &&
		see_hex(w, "aux_action", a->aux_action) && see_hex(w, "sig_data", a->sig_data) &&
		see_hex(w, "config3", a->config3) && see_hex(w, "config4", a->config4);
}

static bool
append_field(void *arg, const char *name, uint64_t value, const char *text)
{
	struct buf *out = arg;
	char field[640];

	if (text)
		(void)snprintf(field, sizeof(field), "%s%s: %s", out->len ? ", " : "", name, text);
	else
		(void)snprintf(field, sizeof(field), "%s%s: %" PRIu64, out->len ? ", " : "", name,
			       value);
	buf_append(out, field, strlen(field));
	return true;
}

void
attr_text_of(struct span raw, struct perf_event_attr *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, raw.p, raw.len < sizeof(*ret) ? raw.len : sizeof(*ret));
}

void
attr_text(const struct perf_event_attr *attr, struct buf *out)
{
	struct buf fields;

	buf_init(&fields);
	(void)attr_text_each(attr, append_field, &fields);
	buf_append(out, fields.p, fields.len);
	buf_done(&fields);
}
