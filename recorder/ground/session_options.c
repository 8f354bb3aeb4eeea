/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/session_options.h"

#include <errno.h>
#include <string.h>

#include <bsd/stdlib.h>

int
session_call_graph_parse(const char *text, struct session_options *options)
{
	enum session_call_graph how = SESSION_CALL_GRAPH_DWARF;
	const char *problem = NULL;
	long long bytes = 0;

	if (strcmp(text, "fp") == 0)
		how = SESSION_CALL_GRAPH_FP;
	else if (strcmp(text, "none") == 0 || strcmp(text, "no") == 0)
		how = SESSION_CALL_GRAPH_NONE;
	else if (strncmp(text, "dwarf,", 6) == 0)
		bytes = strtonum(text + 6, 8, SESSION_STACK_BYTES_MAX, &problem);
	else if (strcmp(text, "dwarf") != 0)
		return -EINVAL;
	if (problem || bytes % 8)
		return -EINVAL;
	options->call_graph = how;
	options->stack_bytes = (uint32_t)bytes;
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
