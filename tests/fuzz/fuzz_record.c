/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of a chosen shape, one after another. The first 32 bytes choose the shape:
 *
 *	u8 flags (1 sample_id_all, 2 a second event, 4 no attr at all), u8 read_format,
 *	u16 unused, u32 sample_type, u32 sample_type of the second event,
 *	u32 branch_sample_type, u64 sample_regs_user, u64 sample_regs_intr
 *
 * and what follows is records. Whatever parses has to point into itself, to be printable
 * on one line, and, when it is a sample, to survive being built and parsed again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/record/event_set.h"
#include "symbolizer/dump/record_text.h"
#include "tests/lab/attr_encode.h"
#include "tests/lab/record_sample.h"

#define SHAPE_BYTES 32
#define FIRST_ID 1
#define SECOND_ID 2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void
check(bool ok)
{
	if (!ok)
		abort();
}

/* Inside the record, and readable to its last byte. */
static void
check_span(const struct perf_record *r, struct span s)
{
	uint64_t sum = 0;

	if (s.len == 0)
		return;
	check(s.p >= r->raw.p && s.len <= r->raw.len);
	check((size_t)(s.p - r->raw.p) <= r->raw.len - s.len);
	for (size_t i = 0; i < s.len; i++)
		sum += s.p[i];
	sink += sum;
}

static void
check_string(const struct perf_record *r, const char *s)
{
	check(s != NULL);
	check_span(r, span_of(s, strlen(s) + 1));
}

static void
check_read(const struct perf_record *r, const struct perf_read *read)
{
	check_span(r, read->values);
	for (uint64_t i = 0; i < read->nr; i++)
		sink += perf_read_at(read, i).value + perf_read_at(read, i).lost;
}

static void
check_regs(const struct perf_record *r, const struct perf_regs *regs)
{
	check_span(r, regs->words);
	check(span_words(regs->words) == (size_t)__builtin_popcountll(regs->mask));
}

static void
check_sample(const struct perf_record *r)
{
	const struct perf_sample *s = &r->sample;

	check_read(r, &s->read);
	check_span(r, s->callchain);
	check_span(r, s->raw);
	check_span(r, s->branch.entries);
	check_span(r, s->branch.counters);
	check(span_words(s->branch.entries) == s->branch.nr * 3);
	for (uint64_t i = 0; i < s->branch.nr; i++)
		sink += perf_branch_at(s, i).to;
	check_regs(r, &s->regs_user);
	check_regs(r, &s->regs_intr);
	check_span(r, s->stack_user);
	check(s->stack_user_dyn_size <= s->stack_user.len);
	check_span(r, s->aux);
}

static void
check_others(const struct perf_record *r)
{
	switch (r->type) {
	case REC_MMAP:
	case REC_MMAP2:
		check(r->mmap.build_id.size <= sizeof(r->mmap.build_id));
		check_string(r, r->mmap.filename);
		break;
	case REC_COMM:
		check_string(r, r->comm.comm);
		break;
	case REC_CGROUP:
		check_string(r, r->cgroup.path);
		break;
	case REC_KSYMBOL:
		check_string(r, r->ksymbol.name);
		break;
	case REC_READ:
		check_read(r, &r->read.read);
		break;
	case REC_NAMESPACES:
		check(span_words(r->namespaces.links) == r->namespaces.nr * 2);
		check_span(r, r->namespaces.links);
		break;
	case REC_TEXT_POKE:
		check_span(r, r->text_poke.old_bytes);
		check_span(r, r->text_poke.new_bytes);
		break;
	case REC_CALLCHAIN_DEFERRED:
		check_span(r, r->deferred.ips);
		break;
	}
}

static void
check_text(const struct perf_record *r)
{
	const struct record_text_about about = { .arch = "x86_64" };
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return;
	record_text(f, r, &about);
	if (fclose(f) == 0) {
		check(size > 0 && text[size - 1] == '\n');
		for (size_t i = 0; i + 1 < size; i++)
			check(text[i] >= 0x20 && text[i] <= 0x7e);
	}
	free(text);
}

static void
check_rebuilt(const struct perf_record *r)
{
	struct perf_record again;
	struct buf b;

	/* Of odd lengths no kernel makes a record: the builder has to pad its end. */
	if ((r->sample.stack_user.len | r->sample.aux.len) % 8)
		return;
	buf_init(&b);
	if (record_sample_build(&b, &r->sid, &r->sample, r->misc) == 0) {
		check(perf_record_parse(buf_span(&b), r->attr, &again) == 0);
		check(again.sid.time == r->sid.time && again.sid.id == r->sid.id);
		check(again.sample.callchain.len == r->sample.callchain.len);
		check(again.sample.stack_user.len == r->sample.stack_user.len);
		check(again.sample.branch.nr == r->sample.branch.nr);
		check(again.sample.cgroup == r->sample.cgroup);
		check(again.sample.aux.len == r->sample.aux.len);
		check(again.trailing.len == 0);
	}
	buf_done(&b);
}

static void
check_record(const struct perf_record *r)
{
	check_span(r, r->trailing);
	if (r->type == REC_SAMPLE)
		check_sample(r);
	else
		check_others(r);
	check_text(r);
	if (r->type == REC_SAMPLE)
		check_rebuilt(r);
}

static void
add_event(struct event_set *set, struct event_attr *attr, uint64_t sample_type, uint64_t id)
{
	uint8_t raw[ATTR_ENCODE_MAX];
	size_t index;
	int n;

	attr->sample_type = sample_type;
	n = attr_encode(attr, raw);
	check(n == ATTR_ENCODE_MAX);
	if (event_set_add(set, span_of(raw, (size_t)n), "event", &index) == 0)
		event_set_add_id(set, index, id);
}

static struct event_set *
make_set(struct span shape)
{
	struct event_set *set = event_set_new();
	struct event_attr attr = { .size = ATTR_ENCODE_MAX };

	if (!set)
		return NULL;
	attr.flags = shape.p[0] & 1 ? UINT64_C(1) << EVENT_ATTR_sample_id_all : 0;
	attr.read_format = shape.p[1];
	attr.branch_sample_type = le32dec(shape.p + 12);
	attr.sample_regs_user = le64dec(shape.p + 16);
	attr.sample_regs_intr = le64dec(shape.p + 24);
	add_event(set, &attr, le32dec(shape.p + 4), FIRST_ID);
	if (shape.p[0] & 2)
		add_event(set, &attr, le32dec(shape.p + 8), SECOND_ID);
	return set;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span s = span_of(data, size), shape, record;
	struct event_set *set;
	struct perf_record r;

	if (!span_take(&s, SHAPE_BYTES, &shape))
		return 0;
	set = make_set(shape);
	if (!set)
		return 0;
	while (perf_record_next(&s, &record) == 1) {
		int event = -1;

		if (event_set_parse(set, record, &r, &event) == 0) {
			check(event < (int)event_set_count(set));
			check_record(&r);
		}
		if (perf_record_parse(record, &event_set_at(set, 0)->attr, &r) == 0)
			check_record(&r);
		if (shape.p[0] & 4 && perf_record_parse(record, NULL, &r) == 0)
			check_record(&r);
	}
	event_set_free(set);
	return 0;
}
