/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/session_options.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include <bsd/stdlib.h>

int
session_call_graph_parse(const char *text, struct session_options *options)
{
	enum session_call_graph how = SESSION_CALL_GRAPH_DWARF;
	const char *problem = NULL;
	bool deferred = strcmp(text, "fp,defer") == 0;
	long long bytes = 0, frames = 0;

	if (strcmp(text, "fp") == 0 || deferred)
		how = SESSION_CALL_GRAPH_FP;
	else if (strncmp(text, "fp,", 3) == 0) {
		how = SESSION_CALL_GRAPH_FP;
		frames = strtonum(text + 3, 1, SESSION_MAX_STACK, &problem);
	} else if (strcmp(text, "lbr") == 0)
		how = SESSION_CALL_GRAPH_LBR;
	else if (strcmp(text, "none") == 0 || strcmp(text, "no") == 0)
		how = SESSION_CALL_GRAPH_NONE;
	else if (strncmp(text, "auto,", 5) == 0 || strcmp(text, "auto") == 0)
		how = SESSION_CALL_GRAPH_AUTO;
	if (strncmp(text, "dwarf,", 6) == 0 || strncmp(text, "auto,", 5) == 0)
		bytes = strtonum(strchr(text, ',') + 1, 8, SESSION_STACK_BYTES_MAX, &problem);
	else if (how == SESSION_CALL_GRAPH_DWARF && strcmp(text, "dwarf") != 0)
		return -EINVAL;
	if (problem || bytes % 8)
		return -EINVAL;
	options->call_graph = how;
	options->extra.deferred = deferred;
	options->stack_bytes = (uint32_t)bytes;
	if (frames)
		options->extra.max_stack = (uint16_t)frames;
	return 0;
}

/* -EINVAL: it is none of them. */
static int
name_index(const char *const *names, size_t nr, const char *text)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(text, names[i]) == 0)
			return (int)i;
	return -EINVAL;
}

int
session_build_ids_parse(const char *text, enum session_build_ids *ret)
{
	static const char *const names[] = { [SESSION_BUILD_IDS_AUTO] = "auto",
					     [SESSION_BUILD_IDS_KERNEL] = "kernel",
					     [SESSION_BUILD_IDS_FILE] = "file" };
	int i = name_index(names, sizeof(names) / sizeof(names[0]), text);

	if (i >= 0)
		*ret = (enum session_build_ids)i;
	return i < 0 ? i : 0;
}

int
session_objects_parse(const char *text, enum session_objects_mode *ret)
{
	static const char *const names[] = { [SESSION_OBJECTS_NONE] = "none",
					     [SESSION_OBJECTS_EPHEMERAL] = "ephemeral",
					     [SESSION_OBJECTS_ALL] = "all" };
	int i = name_index(names, sizeof(names) / sizeof(names[0]), text);

	if (i >= 0)
		*ret = (enum session_objects_mode)i;
	return i < 0 ? i : 0;
}

static const struct branch_word {
	const char *word;
	uint64_t bit;
} branch_words[] = {
	{ "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV },
	{ "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL },
	{ "cond", PERF_SAMPLE_BRANCH_COND },
	{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
	{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "stack", PERF_SAMPLE_BRANCH_CALL_STACK },
	{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS },
	{ "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
	{ "hw_index", PERF_SAMPLE_BRANCH_HW_INDEX },
	{ "priv", PERF_SAMPLE_BRANCH_PRIV_SAVE },
	{ "counter", PERF_SAMPLE_BRANCH_COUNTERS },
};

static uint64_t
branch_bit(const char *word, size_t bytes)
{
	for (size_t i = 0; i < sizeof(branch_words) / sizeof(branch_words[0]); i++)
		if (strlen(branch_words[i].word) == bytes &&
		    memcmp(branch_words[i].word, word, bytes) == 0)
			return branch_words[i].bit;
	return 0;
}

int
session_branches_parse(const char *text, uint64_t *ret, const char **ret_word, size_t *ret_bytes)
{
	uint64_t all = 0, bit;

	for (;; text++) {
		size_t bytes = strcspn(text, ",");

		*ret_word = text;
		*ret_bytes = bytes;
		bit = branch_bit(text, bytes);
		if (!bit)
			return -EINVAL;
		all |= bit;
		text += bytes;
		if (!*text)
			break;
	}
	if (!(all & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL))
		all |= PERF_SAMPLE_BRANCH_ANY;
	*ret = all;
	return 0;
}
