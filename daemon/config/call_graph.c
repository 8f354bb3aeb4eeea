/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config/call_graph.h"

#include <bsd/stdlib.h>
#include <errno.h>
#include <string.h>

#define STACK_BYTES_MAX 65528 /* the kernel's: a multiple of 8 in 16 bits */

int
call_graph_parse(const char *text, struct session_options *options)
{
	const char *complaint = NULL;
	long long bytes = 0;

	if (strcmp(text, "fp") == 0) {
		options->call_graph = SESSION_CALL_GRAPH_FP;
	} else if (strcmp(text, "none") == 0) {
		options->call_graph = SESSION_CALL_GRAPH_NONE;
	} else if (strcmp(text, "dwarf") == 0) {
		options->call_graph = SESSION_CALL_GRAPH_DWARF;
	} else if (strncmp(text, "dwarf,", 6) == 0) {
		bytes = strtonum(text + 6, 8, STACK_BYTES_MAX, &complaint);
		if (complaint || bytes % 8)
			return -EINVAL;
		options->call_graph = SESSION_CALL_GRAPH_DWARF;
	} else {
		return -EINVAL;
	}
	options->stack_bytes = (uint32_t)bytes;
	return 0;
}
