/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * other_namespace: of a recording that was taken inside of a PID namespace, whose the samples of pid 0 are.
 *
 * There the kernel says pid 0 of every task outside of the namespace, as it does of the idle task. The idle task
 * has no user mode and is in the root control group. An event that does not count when a CPU is idle has no sample
 * of it. What the kernel does for the idle task it does below the idle loop, whose functions have known names.
 */
#ifndef SYMBOLIZER_PROFILE_OTHER_NAMESPACE_H
#define SYMBOLIZER_PROFILE_OTHER_NAMESPACE_H

#include <stdbool.h>

#include "format/record/perf_record.h"
#include "symbolizer/resolve/kernel_symbols.h"

/*
 * Is a sample of pid 0 of a task outside of the recorder's PID namespace? What nothing tells is taken for one: an
 * interrupt of an idle CPU without a call chain, and the idle loop where kernel is NULL, or has no name for it.
 */
bool other_namespace_has(const struct perf_record *sample, const struct kernel_symbols *kernel);

#endif
