/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_refusal: what an error of perf_event_open(2) means for that event, on this machine and for
 * this user, and what would help.
 */
#ifndef RECORDER_EVENT_EVENT_REFUSAL_H
#define RECORDER_EVENT_EVENT_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "recorder/event/event_def.h"
#include "recorder/ground/session_error.h"

#define EVENT_NEED_BYTES 256

/* What a user may do with events while kernel.perf_event_paranoid is less. */
enum event_paranoid_limit {
	EVENT_PARANOID_FIELDS = 0, /* read fields of tracepoints */
	EVENT_PARANOID_CPUS = 1,   /* have events on whole CPUs */
	EVENT_PARANOID_KERNEL = 2, /* sample the kernel */
	EVENT_PARANOID_ANY = 3,	   /* have any: kernels of Debian and Android; of Ubuntu, 4 */
};

/* What the kernel looks at before it says EPERM or EACCES. */
struct event_rights {
	bool admin;	     /* CAP_SYS_ADMIN is effective */
	bool capable;	     /* CAP_PERFMON or CAP_SYS_ADMIN is effective */
	bool user_namespace; /* of which the kernel takes no capability (perfmon_capable()) */
	bool paranoid_known; /* the sysctl could be read */
	long long paranoid;  /* kernel.perf_event_paranoid */
};

/* Of this process, now. */
struct event_rights event_rights_now(void);

/*
 * What would give what was refused, for "needs ...": "CAP_PERFMON or kernel.perf_event_paranoid < 2
 * (it is 2)". False: neither capabilities nor the sysctl withhold it; the text is a clause that says
 * what else may.
 */
bool event_rights_need(const struct event_rights *rights, enum event_paranoid_limit limit,
		       char ret[EVENT_NEED_BYTES]);

/*
 * Says in *error what it means that an event was not opened for this task (0: of ourselves; -1:
 * all) and CPU (-1: any). err is negative and is returned.
 */
int event_refusal_tell(const struct event_def *def, pid_t pid, int cpu, int err,
		       const struct event_rights *rights, struct session_error *error);

/* The same with event_rights_now(). */
int event_open_error(const struct event_def *def, pid_t pid, int cpu, int err,
		     struct session_error *error);

#endif
