/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_internal: what the parts of a session share, from the ground up: its options (session_dry_run.c), its attrs
 * (session_attrs.c), what it waits for (session_watch.c), its frequency (session_frequency.c), how much of stacks it
 * copies (session_stacks.c), what it is asked (session_requests.c), the drain (session_drain.c), opening, closing and
 * what is said of it (session.c). All of it is the drain's thread's, but for what is atomic and what locks itself.
 */
#ifndef RECORDER_SESSION_SESSION_INTERNAL_H
#define RECORDER_SESSION_SESSION_INTERNAL_H

#include <stdatomic.h>

#include "format/block/rate.h"
#include "format/block/recording_meta.h"
#include "format/bytes/buf.h"
#include "format/bytes/time_text.h"
#include "recorder/event/command.h"
#include "recorder/event/event.h"
#include "recorder/event/target.h"
#include "recorder/event/tracee.h"
#include "recorder/ground/message.h"
#include "recorder/ground/session_request.h"
#include "recorder/host/hotplug.h"
#include "recorder/live/live.h"
#include "recorder/ring/ring_set.h"
#include "recorder/session/session.h"
#include "recorder/unwind/stack_size.h"
#include "recorder/writer/writer.h"

#define SESSION_MAGIC 0x73657373u
#define MS_NS UINT64_C(1000000)

enum session_wake { WAKE_EVENT, WAKE_STOP, WAKE_FAILURE, WAKE_COMMAND, WAKE_REQUEST, WAKE_UEVENT };

struct session {
	uint32_t magic;
	struct session_options options;
	struct event_plan plan;
	struct target target;
	struct tracees *tracees; /* until the events are open */
	struct ring_set rings;
	struct hotplug hotplug;
	int uevents_fd;
	bool module_news;	     /* the writer has not been told yet */
	bool follow_cpus;	     /* that come and go */
	bool unsettled;		     /* the rings are not yet those of the CPUs that are online */
	bool cpu_news;		     /* there is a reason to look at them now */
	struct recording_meta *meta; /* until the writer has it */
	struct event_set *shapes;    /* the events without ids: how their records look */
	struct live *live;
	struct writer *writer;
	struct command *command;
	pid_t command_pid;
	struct buf notes;	 /* text */
	struct buf counts;	 /* READ records, as last read */
	size_t counts_sent;	 /* bytes of them */
	bool counts_closing;	 /* they are the last ones of a file */
	bool counts_over;	 /* there are no more */
	uint64_t counts_from_ns; /* a whole number of intervals before each time that they are due */
	uint64_t counts_due_ns;	 /* when they are next read; 0: there are none */
	bool gaps_due; /* a file was begun, and has not been told yet what goes on and what is off */
	struct session_requests *requests;
	struct session_request *taken; /* that has not been handed on yet */
	int epoll_fd, stop_fd, failure_fd;
	uint64_t triggered; /* hits of its trigger, as told */
	size_t running;	    /* sampling events whose tasks have not all ended */
	int timer_ms, timer_ms_max;
	bool stopped, finished;
	bool gone;				/* the command was let go */
	uint64_t loop_ns;			/* when the loop last looked at the clock */
	uint64_t status_ns;			/* when losses were last asked for */
	uint64_t cpu_ns, moved, moved_sideband; /* of this thread, when last looked at */
	uint64_t window_ns;	      /* of a flight recorder: what the writer was told last */
	uint64_t phase_due_ns;	      /* when ring_set_phase() is to be called; of tasks never */
	struct event_attr *opened;    /* by the plan's indexes; NULL: no stack is unwound */
	struct stack_size stack_size; /* bytes 0: it stays as it is */
	bool stacks_told;	      /* that they would need more than there is room for */
	bool stacks_due;	      /* some events do not have that size yet */
	uint64_t stacks_lost;	      /* samples that had no room, as of the last look */
	uint64_t stacks_seen_ns;      /* when that was */
	/* Bytes of a copy, at most, until then: samples had no room, or copies took more than the share (over). */
	uint32_t stacks_most;
	uint64_t stacks_most_until_ns;
	bool stacks_over;
	bool stacks_bound_told[2]; /* by stacks_over */
	uint64_t stacks_retry_ns;  /* when that is tried again, which has failed */
	uint64_t limit_ns;	   /* when the kernel's limit of the frequency was last asked for */
	/* Statistics: relaxed, each a fact of its own. */
	_Atomic uint64_t progress, frequency_hz, used_ns, sideband_ns, owed_ns;
	_Atomic uint32_t cpus, stack_bytes;
};

/* Options (session_dry_run.c): what excludes each other; then what was not said. */
int session_check_options(const struct session_options *o, struct session_error *error);
void session_set_defaults(struct session_options *o);
/* Pages of a ring by default, without room for copies of stacks that become smaller where there is none. */
uint32_t session_pages_enough(const struct session_options *o, const struct event_plan *plan,
			      const struct target *target);
/* Memory for stacks that wait to be unwound. */
uint64_t session_stacks_bytes(const struct session_options *o, const struct event_plan *plan);
/* Sets the sizes of rings, AUX areas and the queue that the caller left open: copied stacks need larger ones. */
void session_size_rings(struct session_options *o, const struct event_plan *plan,
			const struct target *target);
/* May those who are recorded have to be looked into, which ptrace(2) has a say in? */
bool session_has_tracees(const struct session_options *o);
/* Threads are a matter of whoever is recorded, descriptors one of all who use this process. */
int session_check_descriptors(const struct session_options *o, const struct event_plan *plan,
			      const struct target *target, struct session_error *error);

/* Has the epoll look at a descriptor. 0, -errno. */
int session_watch(struct session *s, int fd, enum session_wake kind);

/* The same for all events of one CPU that are not yet watched. */
int session_watch_cpu(struct session *s, const struct cpu_rings *c);
/* For all CPUs, after events were opened anew. Where that fails the drain tries again. */
void session_watch_renewed(struct session *s);

/* And looks at them no more, before they are closed: a file that is mapped outlives its descriptor there. */
void session_unwatch_cpu(struct session *s, const struct cpu_rings *c);

/* Whoever watches the thread sees that it lives. */
void session_come_round(struct session *s);
/* Sends, and waits for room as long as the writer's file likes; session_wait_longer(): *wait is zeroes at first. */
void session_send(struct session *s, enum message kind, uint64_t a, uint64_t b, struct span bytes);
void session_wait_longer(struct session *s, struct timespec *wait);

/* Of a flight recorder: the writer learns how far back the rings reach; and what they have. */
void session_window(struct session *s, uint64_t now_ns);
void session_dump_rings(struct session *s);
/* What is in AUX areas that are written over. */
void session_snapshot_traces(struct session *s);
/*
 * What events counted (session_counters.c): those that count alone at intervals, all where files meet. What a READ
 * record tells is the count so far: one that the queue has no room for costs no count, but makes an interval longer.
 * A file begins with READ records, so that what it has is known without those before it.
 */
/* Before anything is on, or when somebody asks for it. */
void session_counters_begin(struct session *s);
/* After a pass: sends what is left of a reading, and reads them when it is time. False: a part is left. */
bool session_counters_look(struct session *s, uint64_t now_ns);
/* CPUs came or went: they are read now, so that an interval has all of its CPUs or not. */
void session_counters_now(struct session *s);
/* Before a file ends, all events. False: no room, or no memory; to be asked again. */
bool session_counters_close(struct session *s);
/* After another one was asked for: it begins with what the one before ended with. */
void session_counters_reopen(struct session *s);
/* Those that count alone are read, and never again. False: as above. */
bool session_counters_end(struct session *s);
/* All events, at the end: waits for room. */
void session_counters_last(struct session *s, uint64_t now_ns);

/*
 * To what is asked, as far as the limit (0: none) and the kernel allow (session_frequency.c). 0, -errno; -EAGAIN:
 * the queue is full.
 */
int session_change_frequency(struct session *s, uint64_t asked_hz, uint64_t limit_hz,
			     enum rate_reason reason);
/* The attrs of events whose stacks are unwound, as they are opened, into s->opened (session_stacks.c). 0, -ENOMEM. */
int session_set_opened(struct session *s);

/*
 * How much of the stack is copied by those events that leave it open (session_stacks.c).
 * session_stack_room(): bytes for each sample of an event, where a ring is to hold half a second of them.
 * session_size_stacks(): before they are opened, sets as much as such rings have room for; none, with a note, where that is
 * less than a few of the smallest copies. Returns the size where it is to follow what walks need; 0: it stays.
 * session_follow_stacks(): opens them anew when they need another size. second: about a second has passed since the last
 * call with it; losses are counted then, and only walks that were cut do not wait for it.
 */
uint64_t session_stack_room(const struct event_def *def);
uint32_t session_size_stacks(const struct session_options *o, uint32_t ring_pages,
			     const struct target *target, struct event_plan *plan,
			     struct buf *notes);
void session_follow_stacks(struct session *s, bool second, uint64_t now_ns);

/* The kernel lowers its limit when it finds that sampling takes too long; people raise it. */
void session_follow_limit(struct session *s, uint64_t now_ns);

/*
 * Requests (session_requests.c). The next one is taken: what was in the rings when it came has to be in the queue
 * before it is done.
 */
void session_take_request(struct session *s);
/*
 * Those that can be done now. Only a sync waits for the rings, and then only for what was in them: where more comes
 * than can be written no pass is ever whole.
 */
void session_do_requests(struct session *s);
/* Those that nobody will do any more are told so. */
void session_refuse_requests(struct session *s);
/* Of a file that was begun, if it is still due: what goes on. False: not all, for want of room. */
bool session_tell_gaps(struct session *s);

/* As session_attrs() has it. */
void session_see_attrs(const struct event_plan *plan, session_see_attr_fn *see, void *arg);

/* How long the drain may sleep, from the size of the rings and the frequency. */
void session_set_timer(struct session *s);
/* After a pass that the timer began: whether it is to come sooner or later next time. */
void session_adapt_timer(struct session *s);

#endif
