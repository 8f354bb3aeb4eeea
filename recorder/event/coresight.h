/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coresight: the trace units of Arm CPUs (ETM, PTM, ETE) and the sinks that they trace to, as the PMU cs_etm
 * tells of them in sysfs.
 *
 * A decoder needs registers of each unit, and the ID by which its trace is told from that of others in one sink.
 */
#ifndef RECORDER_EVENT_CORESIGHT_H
#define RECORDER_EVENT_CORESIGHT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "recorder/ground/cpu_list.h"
#include "recorder/ground/session_error.h"

#define CORESIGHT_PMU "cs_etm"

/*
 * Has an event trace to the sink of that name, unless its term sinkid chose one. -ENOENT: there is
 * no such sink, -EINVAL: sysfs tells it in no way that is known, -errno.
 */
int coresight_sink(const char *sysfs, const char *name, struct perf_event_attr *attr);

/*
 * Are the IDs of traces those of the CPUs' numbers? A kernel of that release gives them so; from
 * 6.4 on it gives them as it likes, and tells by PERF_RECORD_AUX_OUTPUT_HW_ID.
 */
bool coresight_ids_are_fixed(const char *release);

/*
 * Appends what perf's AUXTRACE_INFO of CoreSight has behind its type, of a trace on these CPUs;
 * those that have no trace unit are left out. 0, or -errno with *error filled: there is no unit,
 * one cannot do what the attr asks for, its registers cannot be read, there are too many.
 */
int coresight_words(const char *sysfs, const struct cpu_list *cpus,
		    const struct perf_event_attr *attr, bool fixed_ids, bool snapshot,
		    struct buf *out, struct session_error *error);

#endif
