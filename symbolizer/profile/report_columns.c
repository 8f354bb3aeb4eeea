/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_columns: which keys and columns a report has, by what was asked for. */
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

#include "symbolizer/profile/report.h"
#include "symbolizer/profile/trace_fields.h"

static const char *const names[] = {
#define X(name, ...) #name,
	REPORT_KEYS(X)
#undef X
#define X(name, title) #name,
		REPORT_NUMBERS(X)
#undef X
};

bool
report_has(const struct report_list *l, enum report_column column)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == column)
			return true;
	return false;
}

bool
report_is_detail(enum report_column column)
{
	switch (column) {
#define VALUE(name)                                                                                \
	case REPORT_##name:                                                                        \
		return true;
#define DATA(name)
#define CODE(name)
#define X(name, kind, ...) kind(name)
		SAMPLE_DETAILS(X)
#undef X
#undef VALUE
#undef DATA
#undef CODE
	default:
		return false;
	}
}

static bool
is_word(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && strncmp(word, name, len) == 0;
}

static int
find_column(const char *word, size_t len, enum report_column end)
{
	if (is_word(word, len, "symbol"))
		return REPORT_sym;
	for (int k = 0; k < (int)end; k++)
		if (is_word(word, len, names[k]))
			return k;
	return -1;
}

/* False: it is no field of a tracepoint, or one too many. */
static bool
add_field(struct report_list *l, const char *word, size_t len)
{
	const size_t used = strlen(l->fields);

	if (!trace_fields_is_one(word, len) || used + len + 2 > sizeof(l->fields) ||
	    (report_has(l, REPORT_trace) && !used))
		return false;
	if (!used)
		l->v[l->n++] = REPORT_trace;
	snprintf(l->fields + used, sizeof(l->fields) - used, "%s%.*s", used ? "," : "", (int)len,
		 word);
	return true;
}

int
report_parse_list(const char *text, enum report_column end, struct report_list *ret,
		  const char **ret_bad, size_t *ret_len)
{
	struct report_list l = { .more = *text == '+' };

	for (text += l.more;; text++) {
		size_t len = strcspn(text, ",");
		int column = find_column(text, len, end);

		if (column < 0 && add_field(&l, text, len)) {
			text += len;
			if (!*text)
				break;
			continue;
		}
		if (column < 0 || report_has(&l, (enum report_column)column)) {
			*ret_bad = text;
			*ret_len = len;
			return -1;
		}
		l.v[l.n++] = (enum report_column)column;
		text += len;
		if (!*text)
			break;
	}
	*ret = l;
	return 0;
}

static void
add_column(struct report_list *l, enum report_column column)
{
	if (!report_has(l, column))
		l->v[l->n++] = column;
}

static void
add_list(struct report_list *l, const struct report_list *more)
{
	for (size_t i = 0; i < more->n; i++)
		add_column(l, more->v[i]);
	if (!*more->fields)
		return;
	if (*l->fields)
		(void)strlcat(l->fields, ",", sizeof(l->fields));
	(void)strlcat(l->fields, more->fields, sizeof(l->fields));
}

void
report_choose(struct report_options *o, const struct report_list *sort,
	      const struct report_list *fields, bool samples)
{
	static const struct report_list of_samples = { .v = { REPORT_comm, REPORT_dso, REPORT_sym },
						       .n = 3 };
	static const struct report_list of_branches = { .v = { REPORT_comm, REPORT_dso_from,
							       REPORT_symbol_from, REPORT_symbol_to,
							       REPORT_cycles },
							.n = 5 };
	static const struct report_list of_memory = {
		.v = { REPORT_local_weight, REPORT_mem, REPORT_sym, REPORT_dso, REPORT_symbol_daddr,
		       REPORT_dso_daddr, REPORT_snoop, REPORT_tlb, REPORT_locked, REPORT_blocked,
		       REPORT_local_ins_lat },
		.n = 11
	};
	const struct report_list *keys = o->branches ? &of_branches
		: o->mem_mode			     ? &of_memory
						     : &of_samples;
	const bool numbers = fields->n == 0 || fields->more;

	o->keys = o->columns = (struct report_list){ .n = 0 };
	if (numbers && o->children)
		add_column(&o->columns, REPORT_overhead_children);
	if (numbers)
		add_column(&o->columns, REPORT_overhead);
	if (numbers && samples)
		add_column(&o->columns, REPORT_sample);
	add_list(&o->columns, fields);
	if (sort->n == 0 ? numbers : sort->more)
		add_list(&o->columns, keys);
	add_list(&o->columns, sort);
	if (o->with_parent)
		add_column(&o->columns, REPORT_parent);
	for (size_t i = 0; i < o->columns.n; i++)
		if (o->columns.v[i] < REPORT_KEYS_MAX)
			add_column(&o->keys, o->columns.v[i]);
	o->children = report_has(&o->columns, REPORT_overhead_children);
}

bool
report_of_branches(const struct report_list *keys)
{
	for (size_t i = 0; i < keys->n; i++)
		if (keys->v[i] >= REPORT_dso_from && keys->v[i] <= REPORT_abort)
			return true;
	return false;
}

void
report_profile_options(const struct report_options *o, struct profile_options *ret)
{
#define X(type, name) ret->by_##name = report_has(&o->keys, REPORT_##name);
	PROFILE_KEYS(X)
#undef X
	ret->trace_fields = *o->columns.fields ? o->columns.fields : NULL;
#define X(name, ...)                                                                               \
	if (report_has(&o->keys, REPORT_##name))                                                   \
		ret->details |= UINT32_C(1) << SAMPLE_DETAIL_##name;
	SAMPLE_DETAILS(X)
#undef X
	ret->branches = o->branches;
	ret->by_weight = o->mem_mode;
	ret->bucket_ns = o->quantum_ns ? o->quantum_ns : REPORT_QUANTUM_NS;
	ret->by_address = report_has(&o->keys, REPORT_address);
	ret->by_line = report_has(&o->keys, REPORT_srcline);
	ret->by_file = report_has(&o->keys, REPORT_srcfile);
	ret->leaf_only = !o->children && !o->graphs && !report_has(&o->keys, REPORT_parent);
	ret->inlines = o->children || o->graphs;
	ret->by_inlined = o->graphs;
	ret->processes = true;
}
