/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dump/record_fields.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

#include <bsd/string.h>

#include "symbolizer/text/data_source.h"
#include "symbolizer/dump/register_name.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* ---- names ---- */

static const struct context_name {
	int64_t word;
	const char *name;
} context_names[] = {
	{ -32, "HV" },		 { -128, "KERNEL" },
	{ -512, "USER" },	 { -640, "USER_DEFERRED" },
	{ -2048, "GUEST" },	 { -2176, "GUEST_KERNEL" },
	{ -2560, "GUEST_USER" },
};

/* Numbers that the uapi header has names for, those of perf(1). */
struct words {
	const char *const *names; /* NULL: numbers */
	unsigned nr;
};
#define WORDS(array)                                                                               \
	{                                                                                          \
		array, NR(array)                                                                   \
	}

static const char *const branch_types[] = {
	"UNKNOWN", "COND",	"UNCOND",   "IND",  "CALL", "IND_CALL", "RET",	 "SYSCALL",
	"SYSRET",  "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",	"NO_TX", "EXTEND_ABI",
};
/* Of EXTEND_ABI; what ARCH_1 to ARCH_5 are, the machine says (FIQ, DEBUG_HALT... of arm64). */
static const char *const branch_new_types[] = {
	"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
};
static const char *const branch_specs[] = {
	"NA",
	"SPEC_WRONG_PATH",
	"NON_SPEC_CORRECT_PATH",
	"SPEC_CORRECT_PATH",
};
static const char *const privileges[] = { "UNKNOWN", "USER", "KERNEL", "HV" };
static const char *const ksymbol_types[] = { "UNKNOWN", "BPF", "OOL" };
static const char *const bpf_types[] = { "UNKNOWN", "PROG_LOAD", "PROG_UNLOAD" };
static const char *const aux_flags[] = { "TRUNCATED", "OVERWRITE", "PARTIAL", "COLLISION" };
static const char *const ksymbol_flags[] = { "UNREGISTER" };

/* Fields of the other types: numbers with names, and bits with names, from the lowest on. */
static const struct {
	enum perf_record_type type;
	const char *field;
	struct words words;
	bool bits;
} field_words[] = {
	{ REC_KSYMBOL, "ksym_type", WORDS(ksymbol_types), false },
	{ REC_KSYMBOL, "flags", WORDS(ksymbol_flags), true },
	{ REC_BPF_EVENT, "bpf_type", WORDS(bpf_types), false },
	{ REC_AUX, "flags", WORDS(aux_flags), true },
};

/* Fields of a word that the uapi header packs into bits; only those that are not 0 are shown. */
struct bits {
	const char *name;
	uint8_t shift, width;
	struct words words;
};

#define BRANCH_EXTEND_ABI 15 /* the type is in new_type, where 0 is one, too */

static const struct bits branch_bits[] = {
	{ "mispred", 0, 1, {} },
	{ "predicted", 1, 1, {} },
	{ "in_tx", 2, 1, {} },
	{ "abort", 3, 1, {} },
	{ "cycles", 4, 16, {} },
	{ "type", 20, 4, WORDS(branch_types) },
	{ "spec", 24, 2, WORDS(branch_specs) },
	{ "new_type", 26, 4, WORDS(branch_new_types) },
	{ "priv", 30, 3, WORDS(privileges) },
	{ NULL, 0, 0, {} },
};

static const struct bits transaction_bits[] = {
	{ "elision", 0, 1, {} },	{ "transaction", 1, 1, {} },
	{ "sync", 2, 1, {} },		{ "async", 3, 1, {} },
	{ "retry", 4, 1, {} },		{ "conflict", 5, 1, {} },
	{ "capacity_write", 6, 1, {} }, { "capacity_read", 7, 1, {} },
	{ "abort", 32, 32, {} },	{ NULL, 0, 0, {} },
};

/* ---- parts that several records have ---- */

static uint64_t
bits_of(uint64_t word, const struct bits *b)
{
	return word >> b->shift & ((UINT64_C(1) << b->width) - 1);
}

static void
put_number_word(struct record_sink *s, const char *key, uint64_t v, const struct words *words)
{
	if (v < words->nr)
		sink_word(s, key, words->names[v]);
	else
		sink_number(s, key, v, SINK_DECIMAL);
}

/* "TRUNCATED|PARTIAL", "TRUNCATED|0x100"; the number alone where no bit has a name. */
static void
put_bit_words(struct record_sink *s, const char *key, uint64_t v, const struct words *words)
{
	char text[128] = "", number[24];

	for (unsigned i = 0; i < words->nr; i++) {
		if (!(v >> i & 1))
			continue;
		v &= ~(UINT64_C(1) << i);
		strlcat(text, *text ? "|" : "", sizeof(text));
		strlcat(text, words->names[i], sizeof(text));
	}
	if (!*text) {
		sink_number(s, key, v, SINK_HEX);
		return;
	}
	snprintf(number, sizeof(number), "|0x%" PRIx64, v);
	strlcat(text, v ? number : "", sizeof(text));
	sink_word(s, key, text);
}

static void
put_bits(struct record_sink *s, uint64_t word, const struct bits *bits)
{
	for (; bits->name; bits++) {
		uint64_t v = bits_of(word, bits);

		if (v)
			put_number_word(s, bits->name, v, &bits->words);
	}
}

static void
put_branch_bits(struct record_sink *s, uint64_t flags)
{
	put_bits(s, flags, branch_bits);
	for (const struct bits *b = branch_bits; b->name; b++)
		if (b->words.names == branch_new_types && bits_of(flags, b) == 0 &&
		    (flags >> 20 & 15) == BRANCH_EXTEND_ABI)
			sink_word(s, b->name, branch_new_types[0]);
}

static void
put_packed(struct record_sink *s, const char *key, uint64_t word, const struct bits *bits)
{
	sink_open_object(s, key);
	sink_number(s, "value", word, SINK_HEX);
	put_bits(s, word, bits);
	sink_close_object(s);
}

/* All of its parts, as in perf script, and the newest, which few machines have, if it is there. */
static void
put_data_source(struct record_sink *s, uint64_t word)
{
	char text[DATA_SOURCE_TEXT];

	sink_open_object(s, "data_src");
	sink_number(s, "value", word, SINK_HEX);
	for (enum data_source_part part = 0; part < DATA_SOURCE_PARTS_MAX; part++) {
		if (part == DATA_SOURCE_region && !(word & data_source_bits(part)))
			continue;
		data_source_text(part, word, text);
		sink_string(s, data_source_name(part), text);
	}
	sink_close_object(s);
}

static void
put_dec(struct record_sink *s, const char *key, uint64_t v)
{
	sink_number(s, key, v, SINK_DECIMAL);
}

static void
put_hex(struct record_sink *s, const char *key, uint64_t v)
{
	sink_number(s, key, v, SINK_HEX);
}

static void
put_context(struct record_sink *s, uint64_t word)
{
	char text[32];

	for (size_t i = 0; i < NR(context_names); i++) {
		if ((int64_t)word == context_names[i].word) {
			sink_word(s, NULL, context_names[i].name);
			return;
		}
	}
	snprintf(text, sizeof(text), "CONTEXT%" PRId64, (int64_t)word);
	sink_word(s, NULL, text);
}

static void
put_callchain(struct record_sink *s, const char *key, struct span words)
{
	sink_open_list(s, key);
	for (size_t i = 0; i < span_words(words); i++) {
		uint64_t word = span_word(words, i);

		if (perf_context_marker(word))
			put_context(s, word);
		else
			put_hex(s, NULL, word);
	}
	sink_close_list(s);
}

static void
put_read(struct record_sink *s, const struct perf_read *read, const struct event_set *events)
{
	const bool group = read->format & PERF_FORMAT_GROUP;
	char name[256]; /* of each value: a long one would be there a thousand times */

	sink_open_object(s, "read");
	if (read->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put_dec(s, "time_enabled", read->time_enabled);
	if (read->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put_dec(s, "time_running", read->time_running);
	sink_open_list(s, "values");
	for (uint64_t i = 0; i < read->nr; i++) {
		struct perf_read_value v = perf_read_at(read, i);
		int event = -1;

		/* Of one value the record says whose it is. */
		if (events && group && read->format & PERF_FORMAT_ID)
			event = event_set_find(events, v.id);
		sink_open_object(s, NULL);
		if (event >= 0) {
			(void)strlcpy(name, event_set_at(events, (size_t)event)->name,
				      sizeof(name));
			sink_string(s, "event", name);
		}
		put_dec(s, "value", v.value);
		if (read->format & PERF_FORMAT_ID)
			put_dec(s, "id", v.id);
		if (read->format & PERF_FORMAT_LOST)
			put_dec(s, "lost", v.lost);
		sink_close_object(s);
	}
	sink_close_list(s);
	sink_close_object(s);
}

/* ---- samples ---- */

static void
put_branch_stack(struct record_sink *s, const struct perf_sample *sample)
{
	const size_t nr_counters = span_words(sample->branch.counters);

	sink_open_object(s, "branch_stack");
	put_dec(s, "nr", sample->branch.nr);
	if (sample->branch.has_hw_idx)
		put_hex(s, "hw_idx", sample->branch.hw_idx);
	sink_open_list(s, "entries");
	for (uint64_t i = 0; i < sample->branch.nr; i++) {
		struct perf_branch b = perf_branch_at(sample, i);

		sink_open_object(s, NULL);
		put_hex(s, "from", b.from);
		put_hex(s, "to", b.to);
		put_hex(s, "flags", b.flags);
		put_branch_bits(s, b.flags);
		if (i < nr_counters)
			put_hex(s, "counters", span_word(sample->branch.counters, i));
		sink_close_object(s);
	}
	sink_close_list(s);
	sink_close_object(s);
}

static void
put_reg(struct record_sink *s, const char *arch, unsigned n, uint64_t value)
{
	const char *name = register_name(arch, n);
	char number[8];

	snprintf(number, sizeof(number), "r%u", n);
	put_hex(s, name ? name : number, value);
}

static void
put_regs(struct record_sink *s, const char *key, const struct perf_regs *regs, const char *arch)
{
	uint64_t mask = regs->mask;

	sink_open_object(s, key);
	put_dec(s, "abi", regs->abi);
	for (size_t i = 0; i < span_words(regs->words) && mask; i++, mask &= mask - 1)
		put_reg(s, arch, (unsigned)__builtin_ctzll(mask), span_word(regs->words, i));
	sink_close_object(s);
}

static void
put_weight(struct record_sink *s, uint64_t have, uint64_t weight)
{
	if (have & PERF_SAMPLE_WEIGHT) {
		put_dec(s, "weight", weight);
	} else if (have & PERF_SAMPLE_WEIGHT_STRUCT) {
		sink_open_object(s, "weight");
		put_dec(s, "var1", (uint32_t)weight);
		put_dec(s, "var2", (uint16_t)(weight >> 32));
		put_dec(s, "var3", (uint16_t)(weight >> 48));
		sink_close_object(s);
	}
}

static void
put_stack_user(struct record_sink *s, const struct perf_sample *sample)
{
	sink_bytes(s, "stack_user", sample->stack_user);
	if (sample->stack_user.len > 0)
		put_dec(s, "stack_user_dyn_size", sample->stack_user_dyn_size);
}

static void
put_text(struct record_sink *s, const char *key, struct span bytes)
{
	struct buf text;

	buf_init(&text);
	buf_append(&text, bytes.p, bytes.len);
	buf_u8(&text, 0);
	if (buf_failed(&text))
		sink_bytes(s, key, bytes);
	else
		sink_string(s, key, (const char *)text.p);
	buf_done(&text);
}

static void
put_number(struct record_sink *s, const char *key, uint64_t n, bool is_signed)
{
	if (is_signed)
		sink_signed(s, key, (int64_t)n);
	else
		put_dec(s, key, n);
}

static void
put_value(struct record_sink *s, const char *key, const struct tracepoint_value *v)
{
	uint64_t n;

	switch (v->kind) {
	case TRACEPOINT_NUMBER:
		put_number(s, key, v->number, v->is_signed);
		break;
	case TRACEPOINT_ADDRESS:
		put_hex(s, key, v->number);
		break;
	case TRACEPOINT_TEXT:
		put_text(s, key, v->bytes);
		break;
	case TRACEPOINT_NUMBERS:
		sink_open_list(s, key);
		for (size_t i = 0; tracepoint_number_at(v, i, &n); i++)
			put_number(s, NULL, n, v->is_signed);
		sink_close_list(s);
		break;
	case TRACEPOINT_BYTES:
		sink_bytes(s, key, v->bytes);
		break;
	}
}

/* What does not lie in the bytes has no value, and is not there. */
static void
put_tracepoint(struct record_sink *s, const struct tracepoint *t, struct span raw)
{
	struct tracepoint_value v;

	sink_open_object(s, "trace");
	for (size_t i = 0; i < t->nr_fields; i++)
		if (!t->fields[i].common && tracepoint_value(&t->fields[i], raw, &v))
			put_value(s, t->fields[i].name, &v);
	sink_close_object(s);
}

static void
put_sample_stacks(struct record_sink *s, const struct perf_sample *sample,
		  const struct record_text_about *about)
{
	const char *arch = about->arch;

	if (sample->have & PERF_SAMPLE_READ)
		put_read(s, &sample->read, about->events);
	if (sample->have & PERF_SAMPLE_CALLCHAIN)
		put_callchain(s, "callchain", sample->callchain);
	if (sample->have & PERF_SAMPLE_RAW)
		sink_bytes(s, "raw", sample->raw);
	if ((sample->have & PERF_SAMPLE_RAW) && about->tracepoint)
		put_tracepoint(s, about->tracepoint, sample->raw);
	if (sample->have & PERF_SAMPLE_BRANCH_STACK)
		put_branch_stack(s, sample);
	if (sample->have & PERF_SAMPLE_REGS_USER)
		put_regs(s, "regs_user", &sample->regs_user, arch);
	if (sample->have & PERF_SAMPLE_STACK_USER)
		put_stack_user(s, sample);
}

static void
put_sample(struct record_sink *s, const struct perf_record *r,
	   const struct record_text_about *about)
{
	const struct perf_sample *sample = &r->sample;
	const uint64_t have = sample->have;

	if (have & PERF_SAMPLE_IP)
		put_hex(s, "ip", sample->ip);
	if (have & PERF_SAMPLE_ADDR)
		put_hex(s, "addr", sample->addr);
	if (have & PERF_SAMPLE_PERIOD)
		put_dec(s, "period", sample->period);
	put_sample_stacks(s, sample, about);
	put_weight(s, have, sample->weight);
	if (have & PERF_SAMPLE_DATA_SRC)
		put_data_source(s, sample->data_src);
	if (have & PERF_SAMPLE_TRANSACTION)
		put_packed(s, "transaction", sample->transaction, transaction_bits);
	if (have & PERF_SAMPLE_REGS_INTR)
		put_regs(s, "regs_intr", &sample->regs_intr, about->arch);
	if (have & PERF_SAMPLE_PHYS_ADDR)
		put_hex(s, "phys_addr", sample->phys_addr);
	if (have & PERF_SAMPLE_CGROUP)
		put_dec(s, "cgroup", sample->cgroup);
	if (have & PERF_SAMPLE_DATA_PAGE_SIZE)
		put_dec(s, "data_page_size", sample->data_page_size);
	if (have & PERF_SAMPLE_CODE_PAGE_SIZE)
		put_dec(s, "code_page_size", sample->code_page_size);
	if (have & PERF_SAMPLE_AUX)
		sink_bytes(s, "aux", sample->aux);
}

/* ---- the other types ---- */

/* Has the field words? Then it is put. */
static bool
put_field_words(struct record_sink *s, uint32_t type, const char *field, uint64_t v)
{
	for (size_t i = 0; i < NR(field_words); i++) {
		if (field_words[i].type != type || strcmp(field_words[i].field, field) != 0)
			continue;
		if (field_words[i].bits)
			put_bit_words(s, field, v, &field_words[i].words);
		else
			put_number_word(s, field, v, &field_words[i].words);
		return true;
	}
	return false;
}

static void
put_field(struct record_sink *s, const struct perf_record *r, const struct perf_field *f)
{
	const void *member = (const uint8_t *)r + f->offset;
	uint64_t v;

	if (f->style == PERF_FIELD_STRING) {
		sink_string(s, f->name, *(const char *const *)member);
		return;
	}
	if (f->bytes == sizeof(uint64_t))
		v = *(const uint64_t *)member;
	else
		v = f->bytes == sizeof(uint32_t) ? *(const uint32_t *)member
						 : *(const uint16_t *)member;
	if (put_field_words(s, r->type, f->name, v))
		return;
	if (f->style == PERF_FIELD_PID)
		sink_signed(s, f->name, (int32_t)v);
	else
		sink_number(s, f->name, v, f->style == PERF_FIELD_HEX ? SINK_HEX : SINK_DECIMAL);
}

static void
put_mmap2(struct record_sink *s, const struct perf_record *r)
{
	const struct perf_mmap *m = &r->mmap;

	/* The bit alone may be another recorder's, over an inode. */
	if (r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && (m->build_id.size || !m->ino)) {
		sink_bytes(s, "build_id", span_of(m->build_id.bytes, m->build_id.size));
	} else {
		put_dec(s, "maj", m->maj);
		put_dec(s, "min", m->min);
		put_dec(s, "ino", m->ino);
		put_dec(s, "ino_generation", m->ino_generation);
	}
	put_hex(s, "prot", m->prot);
	put_hex(s, "flags", m->flags);
	sink_string(s, "filename", m->filename);
}

static void
put_namespaces(struct record_sink *s, const struct perf_record *r)
{
	/* uapi: NET_NS_INDEX... */
	static const char *const names[] = { "net",  "uts", "ipc",    "pid",
					     "user", "mnt", "cgroup", "time" };

	sink_open_list(s, "namespaces");
	for (uint64_t i = 0; i < r->namespaces.nr; i++) {
		sink_open_object(s, NULL);
		if (i < NR(names))
			sink_word(s, "ns", names[i]);
		put_hex(s, "dev", span_word(r->namespaces.links, (size_t)i * 2));
		put_dec(s, "inode", span_word(r->namespaces.links, (size_t)i * 2 + 1));
		sink_close_object(s);
	}
	sink_close_list(s);
}

void
record_fields(struct record_sink *s, const struct perf_record *r,
	      const struct record_text_about *about)
{
	for (const struct perf_field *f = perf_record_fields(r->type); f->name; f++)
		put_field(s, r, f);
	switch (r->type) {
	case REC_SAMPLE:
		put_sample(s, r, about);
		break;
	case REC_READ:
		put_read(s, &r->read.read, about->events);
		break;
	case REC_MMAP2:
		put_mmap2(s, r);
		break;
	case REC_NAMESPACES:
		put_namespaces(s, r);
		break;
	case REC_BPF_EVENT:
		sink_bytes(s, "tag", span_of(r->bpf.tag, sizeof(r->bpf.tag)));
		break;
	case REC_TEXT_POKE:
		sink_bytes(s, "old", r->text_poke.old_bytes);
		sink_bytes(s, "new", r->text_poke.new_bytes);
		break;
	case REC_CALLCHAIN_DEFERRED:
		put_callchain(s, "callchain", r->deferred.ips);
		break;
	}
	if (r->trailing.len > 0)
		sink_bytes(s, "trailing", r->trailing);
}
