/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/helper_serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/perf_record.h"
#include "recorder/helper.h"
#include "recorder/host.h"
#include "recorder/proc.h"

#define PART_BYTES (HELPER_MESSAGE_MAX / 2 - sizeof(struct helper_part))

/* One message as it came. */
struct request {
	size_t bytes;
	union {
		struct helper_shun shun;
		struct helper_find find;
		struct helper_scan scan;
		uint8_t room[HELPER_MESSAGE_MAX];
	};
};

/* The first message says whom not to touch. NULL: nobody asks. Freed by the caller. */
static struct request *
begin(int fd, struct shunned *shunned)
{
	struct request *rq = malloc(sizeof(*rq));

	if (!rq)
		return NULL;
	if (helper_take(fd, rq->room, sizeof(rq->room)) != sizeof(rq->shun)) {
		free(rq);
		return NULL;
	}
	*shunned = rq->shun.shunned;
	return rq;
}

/* --- files ----------------------------------------------------------------------------------- */

static bool
is_shunned(const struct shunned *s, const struct buildid_map *m, pid_t pid)
{
	uint64_t now_ns = host_now_ns();
	uid_t uid;

	if (shunned_has(s, SHUNNED_DEVICE, shunned_device(m->maj, m->min), now_ns) ||
	    shunned_has(s, SHUNNED_PROCESS, (uint64_t)pid, now_ns))
		return true;
	return shunned_any(s, SHUNNED_USER, now_ns) && proc_uid(pid, &uid) == 0 &&
		shunned_has(s, SHUNNED_USER, uid, now_ns);
}

static int
find(struct buildid_cache *cache, const struct shunned *s, struct helper_find *f,
     struct buildid *id)
{
	struct buildid_map *m = &f->map;
	int rc = -ESTALE;

	if (is_shunned(s, m, m->pid))
		return -EACCES;
	if (!f->nr_peers)
		return buildid_cache_get(cache, m, id);
	for (uint32_t i = 0; i < f->nr_peers && i < HELPER_PEERS_MAX && rc == -ESTALE; i++) {
		m->peer = f->peers[i];
		if (!is_shunned(s, m, m->peer))
			rc = buildid_cache_get(cache, m, id);
	}
	return rc;
}

void
helper_serve_files(int fd)
{
	struct buildid_cache *cache = buildid_cache_new();
	struct helper_found found;
	struct shunned shunned;
	struct request *rq = begin(fd, &shunned);
	ssize_t n;

	while (cache && rq && (n = helper_take(fd, rq->room, sizeof(rq->room))) > 0) {
		if ((size_t)n <= sizeof(rq->find) || rq->room[n - 1] != '\0')
			break;
		rq->find.map.path = (const char *)rq->room + sizeof(rq->find);
		found = (struct helper_found){ 0 };
		found.rc = find(cache, &shunned, &rq->find, &found.id);
		buildid_cache_fact(cache, &rq->find.map, &found.fact);
		if (helper_give(fd, &found, sizeof(found), NULL, 0) < 0)
			break;
	}
	free(rq);
	buildid_cache_free(cache);
}

/* --- state ----------------------------------------------------------------------------------- */

/* Sends what there is, whole records. */
static int
send_part(void *arg, const struct state_part *part, struct buf *out)
{
	struct helper_part head = { .pid = part->pid, .stats = *part->stats };
	struct span rest = buf_span(out), all = rest, record;
	int fd = *(const int *)arg, rc;

	do {
		const uint8_t *from = rest.p;
		size_t bytes = 0;

		while (bytes < PART_BYTES && perf_record_next(&rest, &record) == 1)
			bytes = (size_t)(record.p + record.len - from);
		rc = helper_give(fd, &head, sizeof(head), from, bytes);
	} while (rc == 0 && rest.len && rest.p != all.p);
	buf_clear(out);
	return rc;
}

static void
scan(int fd, const struct shunned *shunned, const struct request *rq, struct buildid_cache *cache)
{
	const struct helper_scan *s = &rq->scan;
	struct helper_part last = { .last = true };
	struct state_options o = { .attr = &s->attr,
				   .id = s->id,
				   .time_ns = s->time_ns,
				   .data_maps = s->data_maps,
				   .buildids = s->build_ids ? cache : NULL,
				   .shunned = shunned,
				   .after = s->after,
				   .take = send_part,
				   .arg = &fd };
	struct buf out;

	if (s->nr_pids > HELPER_PIDS_MAX || rq->bytes != sizeof(*s) + s->nr_pids * sizeof(pid_t))
		return;
	o.nr_pids = s->nr_pids;
	if (o.nr_pids)
		o.pids = (const pid_t *)(const void *)(rq->room + sizeof(*s));
	buf_init(&out);
	if (state_scan(&o, &out, &last.stats) == 0)
		(void)helper_give(fd, &last, sizeof(last), NULL, 0);
	buf_done(&out);
}

void
helper_serve_state(int fd)
{
	struct buildid_cache *cache = buildid_cache_new();
	struct shunned shunned;
	struct request *rq = begin(fd, &shunned);
	ssize_t n;

	while (cache && rq && (n = helper_take(fd, rq->room, sizeof(rq->room))) > 0) {
		rq->bytes = (size_t)n;
		if (rq->bytes < sizeof(rq->scan))
			break;
		scan(fd, &shunned, rq, cache);
	}
	free(rq);
	buildid_cache_free(cache);
}
