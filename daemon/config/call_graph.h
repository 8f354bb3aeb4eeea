/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_graph: "fp", "none" or "dwarf[,BYTES]", of the configuration and of captures.
 */
#ifndef DAEMON_CONFIG_CALL_GRAPH_H
#define DAEMON_CONFIG_CALL_GRAPH_H

#include "recorder/ground/session_options.h"

/* Sets call_graph and stack_bytes of options. 0, or -EINVAL. */
int call_graph_parse(const char *text, struct session_options *options);

#endif
