/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/info_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "format/block/aux_trace.h"
#include "symbolizer/dump/attr_json.h"
#include "symbolizer/dump/attr_text.h"
#include "symbolizer/text/json_value.h"
#include "symbolizer/view/count_unit_json.h"
#include "symbolizer/view/unwind_json.h"

static json_t *
hex(const uint8_t *p, size_t n)
{
	char out[2 * 20 + 1] = "";

	for (size_t i = 0; i < n && i < 20; i++)
		snprintf(out + 2 * i, 3, "%02x", p[i]);
	return json_string(out);
}

static json_t *
make_records(const struct summary *s)
{
	json_t *j = json_object();
	int error = 0;

	for (uint32_t type = 1; type < REC_KERNEL_MAX; type++) {
		if (s->by_type[type] > 0)
			error |= json_object_set_new(j, perf_record_type_name(type),
						     json_value_number(s->by_type[type]));
	}
	for (uint32_t i = 0; i < SUMMARY_TOOL_TYPES; i++) {
		const char *name = perfdata_record_name(REC_USER_FIRST + i);

		if (s->tool_records[i] > 0 && name)
			error |=
				json_object_set_new(j, name, json_value_number(s->tool_records[i]));
	}
	if (error) {
		json_decref(j);
		return NULL;
	}
	return j;
}

/* What its counts mean, and, where READ records tell it, what it counted. */
static int
set_count(json_t *j, const struct summary *s, size_t event, const struct count_unit *u)
{
	const struct read_total t = read_counts_total(&s->counts, event);
	int error = 0;

	if (!t.known)
		return count_unit_json_facts(j, u);
	error |= count_unit_json(j, u, read_total_scaled(&t));
	error |= json_object_set_new(j, "count", json_value_number(t.value));
	error |= json_object_set_new(j, "count_scaled", json_value_number(read_total_scaled(&t)));
	error |= json_object_set_new(j, "enabled_ns", json_value_number(t.enabled_ns));
	error |= json_object_set_new(j, "running_ns", json_value_number(t.running_ns));
	return error;
}

static json_t *
make_attr(const struct event *e)
{
	struct perf_event_attr attr;

	attr_text_of(e->attr_raw, &attr);
	return attr_json(&attr);
}

static json_t *
make_events(const struct info *info)
{
	json_t *events = json_array();
	int error = 0;

	for (size_t i = 0; i < event_set_count(info->meta->events) && !error; i++) {
		const struct event *e = event_set_at(info->meta->events, i);
		bool freq = event_attr_has(&e->attr, EVENT_ATTR_freq);
		const struct summary *s = &info->summary;
		json_t *j = json_object();
		char config[24];

		snprintf(config, sizeof(config), "%#" PRIx64, e->attr.config);
		error |= json_object_set_new(j, "name", json_value_text(e->name));
		error |= json_object_set_new(
			j, "samples",
			json_value_number(i < s->nr_events ? s->event_samples[i] : 0));
		error |= json_object_set_new(j, freq ? "frequency_hz" : "period",
					     json_value_number(e->attr.sample_period));
		error |= json_object_set_new(j, "type", json_value_number(e->attr.type));
		error |= json_object_set_new(j, "config", json_string(config));
		error |= json_object_set_new(j, "ids", json_value_number(e->nr_ids));
		error |= set_count(j, s, i, &e->unit);
		if (info->attrs)
			error |= json_object_set_new(j, "attr", make_attr(e));
		error |= json_array_append_new(events, j);
	}
	if (error) {
		json_decref(events);
		return NULL;
	}
	return events;
}

/* By cause, and of each CPU the causes that took something from it. */
static int
set_loss(json_t *j, const struct loss *loss)
{
	json_t *causes = json_object(), *cpus = json_object();
	uint32_t cpu;
	int error = 0;

	for (int c = 0; c < LOSS_CAUSES; c++)
		error |= json_object_set_new(
			causes, loss_key((enum loss_cause)c),
			json_value_number(loss_total(loss, (enum loss_cause)c)));
	for (size_t i = 0; loss_cpu_at(loss, i, &cpu) == 0; i++) {
		json_t *account = json_object();
		char name[16];

		for (int c = 0; c < LOSS_CAUSES; c++) {
			uint64_t n = loss_get(loss, cpu, (enum loss_cause)c);

			if (n > 0)
				error |= json_object_set_new(account, loss_key((enum loss_cause)c),
							     json_value_number(n));
		}
		snprintf(name, sizeof(name), "%u", cpu);
		error |= json_object_set_new(cpus, cpu == UINT32_MAX ? "none" : name, account);
	}
	error |= json_object_set_new(j, "loss", causes);
	error |= json_object_set_new(j, "loss_by_cpu", cpus);
	return error;
}

static json_t *
make_gap(const struct gap *g)
{
	const char *key = loss_key((enum loss_cause)g->cause);
	json_t *j = json_object();
	int error = json_object_set_new(j, "cause", json_string(key ? key : "unknown"));

	error |= json_object_set_new(
		j, "cpu", g->cpu == GAP_CPU_ALL ? json_null() : json_value_number(g->cpu));
	error |= json_object_set_new(j, "start_ns", json_value_number(g->from_ns));
	error |= json_object_set_new(j, "end_ns",
				     g->until_ns ? json_value_number(g->until_ns) : json_null());
	error |= json_object_set_new(j, "samples", json_value_number(g->samples));
	if (error) {
		json_decref(j);
		return NULL;
	}
	return j;
}

static int
set_gaps(json_t *j, const struct gap_list *l)
{
	json_t *gaps = json_array();
	int error = 0;

	for (size_t i = 0; i < l->nr; i++)
		error |= json_array_append_new(gaps, make_gap(&l->gaps[i]));
	error |= json_object_set_new(j, "gaps", gaps);
	if (l->more)
		error |= json_object_set_new(j, "gaps_not_listed", json_value_number(l->more));
	return error;
}

static int
set_rates(json_t *j, const struct rate_list *l)
{
	json_t *rates = json_array();
	int error = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct rate *r = &l->rates[i];
		json_t *rate = json_pack("{sosososs}", "time_ns", json_value_number(r->time_ns),
					 "asked_hz", json_value_number(r->asked_hz), "effective_hz",
					 json_value_number(r->effective_hz), "reason",
					 rate_reason_key(r->reason));

		error |= json_array_append_new(rates, rate);
	}
	error |= json_object_set_new(j, "rates", rates);
	return error;
}

/* Only where there is such a thing. */
static int
set_aux(json_t *j, const struct summary *s)
{
	const char *tracer = aux_tracer_name(s->aux_tracer);

	if (s->aux_pieces == 0)
		return 0;
	return json_object_set_new(j, "aux",
				   json_pack("{sssIsI}", "tracer", tracer ? tracer : "unknown",
					     "pieces", (json_int_t)s->aux_pieces, "bytes",
					     (json_int_t)s->aux_bytes));
}

static json_t *
make_blocks(const struct summary *s)
{
	json_t *blocks = json_object();
	int error = 0;

	for (uint8_t type = 1; type < SUMMARY_BLOCK_TYPES; type++) {
		const struct summary_blocks *b = &s->by_block[type];
		json_t *j;

		if (b->blocks == 0)
			continue;
		j = json_pack("{sIsIsI}", "blocks", (json_int_t)b->blocks, "bytes",
			      (json_int_t)b->stored_bytes, "raw_bytes", (json_int_t)b->raw_bytes);
		error |= json_object_set_new(blocks, block_type_name(type), j);
	}
	if (error) {
		json_decref(blocks);
		return NULL;
	}
	return blocks;
}

static int
set_meta(json_t *j, const struct recording_meta *m)
{
	int error = 0;

	error |= json_object_set_new(j, "start_realtime_ns", json_value_number(m->start.realtime));
	error |=
		json_object_set_new(j, "start_monotonic_ns", json_value_number(m->start.monotonic));
	error |= json_object_set_new(j, "start_boottime_ns", json_value_number(m->start.boottime));
	error |= json_object_set_new(j, "clockid", json_value_number(m->clockid));
	error |= json_object_set_new(j, "frequency_hz", json_value_number(m->frequency_hz));
	error |= json_object_set_new(j, "frequency_hz_effective",
				     json_value_number(m->frequency_hz_effective));
	error |= json_object_set_new(j, "hostname", json_value_text(m->hostname));
	if (m->pid_namespace)
		error |= json_object_set_new(j, "pid_namespace",
					     json_value_number(m->pid_namespace));
	error |= json_object_set_new(j, "release", json_value_text(m->release));
	error |= json_object_set_new(j, "arch", json_value_text(m->arch));
	error |= json_object_set_new(j, "cpus_online", json_value_number(m->cpus_online));
	error |= json_object_set_new(j, "cpus_possible", json_value_number(m->cpus_possible));
	error |= json_object_set_new(j, "page_size", json_value_number(m->page_size));
	error |= json_object_set_new(j, "cmdline", json_value_text(m->cmdline));
	error |= json_object_set_new(j, "notes", json_value_text(m->notes));
	error |= json_object_set_new(j, "writer", json_value_text(m->writer));
	error |= json_object_set_new(j, "file_id", hex(m->file_id, sizeof(m->file_id)));
	error |= json_object_set_new(j, "machine_id", hex(m->machine_id, sizeof(m->machine_id)));
	error |= json_object_set_new(j, "boot_id", hex(m->boot_id, sizeof(m->boot_id)));
	error |= json_object_set_new(j, "kernel_build_id",
				     hex(m->kernel_build_id.bytes, m->kernel_build_id.size));
	return error;
}

static int
set_health(json_t *j, const struct recording_health *h)
{
	int error = 0;

	error |= json_object_set_new(j, "damaged_blocks", json_value_number(h->damaged_blocks));
	error |= json_object_set_new(j, "damaged_bytes", json_value_number(h->damaged_bytes));
	error |= json_object_set_new(j, "torn_tail_bytes", json_value_number(h->torn_tail_bytes));
	error |= json_object_set_new(j, "unknown_blocks", json_value_number(h->unknown_blocks));
	error |= json_object_set_new(j, "header_damaged", json_boolean(h->header_damaged));
	error |= json_object_set_new(j, "closed", json_boolean(h->closed));
	return error;
}

json_t *
info_json(const struct info *info)
{
	const struct summary *s = &info->summary;
	json_t *j = json_object();
	int error = 0;

	error |= json_object_set_new(j, "samples", json_value_number(s->samples));
	error |= json_object_set_new(j, "lost", json_value_number(loss_samples(s->loss)));
	error |= json_object_set_new(j, "exact_samples", json_value_number(s->exact_samples));
	error |= json_object_set_new(j, "throttled_ns", json_value_number(s->throttled_ns));
	error |= json_object_set_new(j, "records", make_records(s));
	error |= json_object_set_new(j, "state_records", json_value_number(s->state_records));
	error |= json_object_set_new(j, "bad_records", json_value_number(s->bad_records));
	error |= json_object_set_new(j, "start_ns", json_value_number(s->first_ns));
	error |= json_object_set_new(j, "end_ns", json_value_number(s->last_ns));
	error |= json_object_set_new(j, "duration_ns", json_value_number(s->last_ns - s->first_ns));
	error |= json_object_set_new(j, "file_bytes", json_value_number(info->file_bytes));
	error |= set_health(j, &info->health);
	error |= set_loss(j, s->loss);
	error |= set_gaps(j, &s->gaps);
	error |= set_rates(j, &s->rates);
	error |= json_object_set_new(j, "events", make_events(info));
	error |= json_object_set_new(j, "kernel_symbols", json_value_number(s->kernel_symbols));
	error |= json_object_set_new(j, "build_ids", json_value_number(s->build_ids));
	error |= json_object_set_new(j, "jit_symbols", json_value_number(s->jit_symbols));
	error |= json_object_set_new(j, "unwound", unwind_json(&s->stops));
	error |= json_object_set_new(j, "packed_objects", json_value_number(s->packed_objects));
	error |= set_aux(j, s);
	error |= json_object_set_new(j, "blocks", make_blocks(s));
	error |= set_meta(j, info->meta);
	if (error) {
		json_decref(j);
		return NULL;
	}
	return j;
}
