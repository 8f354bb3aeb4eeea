/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/helper/helper_serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/record/perf_record.h"
#include "recorder/helper/helper.h"
#include "recorder/helper/helper_serve_internal.h"
#include "recorder/host/host.h"
#include "recorder/host/proc_look.h"
#include "recorder/host/task_users.h"

#define PART_BYTES (HELPER_MESSAGE_MAX / 2 - sizeof(struct helper_part))

bool
helper_serve_take(int fd, struct request *rq, enum helper_kind kind, size_t bytes)
{
	ssize_t n;

	while ((n = helper_take(fd, rq->room, sizeof(rq->room))) > 0) {
		rq->bytes = (size_t)n;
		if (rq->bytes >= bytes && rq->kind == kind)
			return true;
		if (rq->bytes != sizeof(rq->shun) || rq->kind != HELPER_SHUN)
			return false;
		rq->shunned = rq->shun.shunned;
	}
	return false;
}

struct stint
stint_open(void)
{
	return (struct stint){ .fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC) };
}

void
stint_close(struct stint *s)
{
	if (s->fd >= 0)
		close(s->fd);
}

/* For how long this process has waited for a CPU: the second number. UINT64_MAX: not known. */
static uint64_t
delayed_ns(const struct stint *s)
{
	unsigned long long ns;
	char text[128];
	ssize_t n = s->fd < 0 ? -1 : pread(s->fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return UINT64_MAX;
	text[n] = '\0';
	return sscanf(text, "%*u %llu", &ns) == 1 ? ns : UINT64_MAX;
}

void
stint_begin(struct stint *s)
{
	s->delayed_ns = delayed_ns(s);
	s->began_ns = host_now_ns();
}

uint64_t
stint_took_ns(const struct stint *s)
{
	uint64_t passed_ns = host_now_ns() - s->began_ns, after_ns = delayed_ns(s), others_ns;

	if (s->delayed_ns == UINT64_MAX || after_ns == UINT64_MAX)
		return 0;
	others_ns = after_ns - s->delayed_ns;
	return passed_ns > others_ns ? passed_ns - others_ns : 0;
}

/* --- files ----------------------------------------------------------------------------------- */

static bool
is_shunned(const struct shunned *s, const struct buildid_map *m, pid_t pid, uint32_t uid)
{
	uint64_t now_ns = host_now_ns();

	return shunned_has(s, SHUNNED_DEVICE, shunned_device(m->maj, m->min), now_ns) ||
		shunned_has(s, SHUNNED_PROCESS, (uint64_t)pid, now_ns) ||
		shunned_has(s, SHUNNED_USER, uid, now_ns);
}

/* To ask costs a read. */
static uint32_t
peer_user(const struct shunned *s, pid_t peer)
{
	uid_t uid;

	if (!shunned_any(s, SHUNNED_USER, host_now_ns()) || proc_look_owner(peer, &uid) < 0)
		return 0;
	return uid;
}

static int
helper_serve_find(struct buildid_cache *cache, const struct shunned *s, struct helper_find *f,
		  struct buildid *id)
{
	struct buildid_map *m = &f->map;
	int rc = -ESTALE;

	/* For one that is gone only our own root is looked at, where nothing of FUSE is opened. */
	if (is_shunned(s, m, m->pid, f->uid == TASK_USER_UNKNOWN && !f->nr_peers ? 0 : f->uid))
		return -EACCES;
	if (!f->nr_peers)
		return buildid_cache_get(cache, m, id);
	for (uint32_t i = 0; i < f->nr_peers && i < HELPER_PEERS_MAX && rc == -ESTALE; i++) {
		m->peer = f->peers[i];
		if (!is_shunned(s, m, m->peer, peer_user(s, m->peer)))
			rc = buildid_cache_get(cache, m, id);
	}
	return rc;
}

void
helper_serve_files(int fd)
{
	struct buildid_cache *cache = buildid_cache_new();
	struct request *rq = calloc(1, sizeof(*rq));
	struct stint stint = stint_open();
	struct helper_found found;

	while (cache && rq && helper_serve_take(fd, rq, HELPER_FIND, sizeof(rq->find) + 1) &&
	       rq->room[rq->bytes - 1] == '\0') {
		rq->find.map.path = (const char *)rq->room + sizeof(rq->find);
		found = (struct helper_found){ 0 };
		stint_begin(&stint);
		found.rc = helper_serve_find(cache, &rq->shunned, &rq->find, &found.id);
		found.took_ns = stint_took_ns(&stint);
		buildid_cache_fact(cache, &rq->find.map, &found.fact);
		if (helper_give(fd, &found, sizeof(found), NULL, 0) < 0)
			break;
	}
	free(rq);
	buildid_cache_free(cache);
	stint_close(&stint);
}

/* --- state ----------------------------------------------------------------------------------- */

struct part_sink {
	int fd;
	struct stint *stint; /* since the last part was sent */
};

/* Sends what there is, whole records. */
static int
send_part(void *arg, const struct state_part *part, struct buf *out)
{
	struct part_sink *sink = arg;
	struct helper_part head = { .pid = part->pid,
				    .uid = part->uid,
				    .took_ns = stint_took_ns(sink->stint),
				    .stats = *part->stats };
	struct span rest = buf_span(out), all = rest, record;
	int rc;

	do {
		const uint8_t *from = rest.p;
		size_t bytes = 0;

		while (bytes < PART_BYTES && perf_record_next(&rest, &record) == 1)
			bytes = (size_t)(record.p + record.len - from);
		rc = helper_give(sink->fd, &head, sizeof(head), from, bytes);
		head.took_ns = 0;
	} while (rc == 0 && rest.len && rest.p != all.p);
	buf_clear(out);
	stint_begin(sink->stint);
	/* Whatever it was: a part that is missing must end the scan. */
	return rc < 0 ? -EPIPE : 0;
}

/* 0, -errno. */
static int
scan(int fd, const struct request *rq, struct buildid_cache *cache, struct stint *stint)
{
	const struct helper_scan *s = &rq->scan;
	struct helper_part last = { .last = true };
	struct part_sink sink = { .fd = fd, .stint = stint };
	struct state_options o = { .attr = &s->attr,
				   .id = s->id,
				   .time_ns = s->time_ns,
				   .data_maps = s->data_maps,
				   .buildids = s->build_ids ? cache : NULL,
				   .shunned = &rq->shunned,
				   .after = s->after,
				   .take = send_part,
				   .arg = &sink };
	struct buf out;
	int rc;

	if (s->nr_pids > HELPER_PIDS_MAX || rq->bytes != sizeof(*s) + s->nr_pids * sizeof(pid_t))
		return -EINVAL;
	o.nr_pids = s->nr_pids;
	if (o.nr_pids)
		o.pids = (const pid_t *)(const void *)(rq->room + sizeof(*s));
	stint_begin(stint);
	buf_init(&out);
	rc = state_scan(&o, &out, &last.stats);
	if (rc == 0)
		rc = helper_give(fd, &last, sizeof(last), NULL, 0);
	buf_done(&out);
	return rc;
}

void
helper_serve_state(int fd)
{
	struct buildid_cache *cache = buildid_cache_new();
	struct request *rq = calloc(1, sizeof(*rq));
	struct stint stint = stint_open();

	/* One that failed ends: that shows, and silence would be held against who is scanned. */
	while (cache && rq && helper_serve_take(fd, rq, HELPER_SCAN, sizeof(rq->scan)) &&
	       scan(fd, rq, cache, &stint) == 0)
		;
	free(rq);
	buildid_cache_free(cache);
	stint_close(&stint);
}
