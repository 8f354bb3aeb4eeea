/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu_use_json: what takes the daemon's CPU time, and what was given up for a budget, as the status has it. */
#ifndef DAEMON_CONTROL_CPU_USE_JSON_H
#define DAEMON_CONTROL_CPU_USE_JSON_H

#include <jansson.h>

struct streams_status;

/* A CpuUse of the interface. NULL: out of memory. */
json_t *cpu_use_json(const struct streams_status *s);

#endif
