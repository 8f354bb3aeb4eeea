/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_cpu_use: that cpu_budget is exceeded, by what, and what was given up for budgets, as people read it. */
#ifndef DAEMON_CTL_CTL_CPU_USE_H
#define DAEMON_CTL_CTL_CPU_USE_H

#include <jansson.h>

/* A CpuUse of the interface. Prints nothing while the budget is kept to and nothing was given up. */
void ctl_cpu_use_print(const json_t *use);

#endif
