/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_offers: what can be asked for on this machine, as event strings.
 */
#ifndef RECORDER_EVENT_EVENT_OFFERS_H
#define RECORDER_EVENT_EVENT_OFFERS_H

#include <stdbool.h>

struct event_spec_roots;

/* kind, its word for a person, is an offer an event as it stands (and not a form, or a part of one)? */
#define EVENT_OFFER_KINDS(X)                                                                       \
	X(HARDWARE, "hardware", true)                                                              \
	X(SOFTWARE, "software", true)                                                              \
	X(CACHE, "cache", true)                                                                    \
	X(PMU_EVENT, "pmu", true)                                                                  \
	X(PMU_TERM, "term", false)                                                                 \
	X(RAW, "raw", false)                                                                       \
	X(BREAKPOINT, "breakpoint", false)                                                         \
	X(PROBE, "probe", false)                                                                   \
	X(TRACEPOINT, "tracepoint", true)

enum event_offer_kind {
#define X(kind, word, whole) EVENT_OFFER_##kind,
	EVENT_OFFER_KINDS(X)
#undef X
};

struct event_offer {
	enum event_offer_kind kind;
	const char *name;
	const char *alias; /* another name; "": none */
	const char *says;  /* what sysfs says of it; "": nothing */
	bool refused;	   /* the kernel opens no such event here: it was tried */
};

/*
 * Calls with each, kind by kind and sorted, until see() returns false. Tracepoints are not tried: there are
 * thousands. 0; -EACCES, -ENODEV: all but the tracepoints, which need root, or tracefs to be mounted; -ENOMEM.
 */
int event_offers_each(const struct event_spec_roots *roots,
		      bool (*see)(void *arg, const struct event_offer *offer), void *arg);

#endif
