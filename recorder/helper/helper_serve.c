/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/helper/helper_serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "format/record/perf_record.h"
#include "recorder/helper/helper.h"
#include "recorder/helper/helper_objects.h"
#include "recorder/helper/helper_rights.h"
#include "recorder/helper/helper_serve_internal.h"
#include "recorder/host/host.h"
#include "recorder/host/proc_look.h"
#include "recorder/host/task_users.h"

#define PART_BYTES (HELPER_MESSAGE_MAX / 2 - sizeof(struct helper_part))

static void
take_offers(struct request *rq, int socket)
{
	if (rq->offers > 0)
		(void)close(rq->offers);
	rq->offers = socket;
	rq->offer_all = rq->offer.all;
	memset(rq->offered_files, 0, sizeof(rq->offered_files));
	arc4random_buf(&rq->key, sizeof(rq->key));
}

bool
helper_serve_take(int fd, struct request *rq, enum helper_kind kind, size_t bytes)
{
	ssize_t n;
	int passed;

	while ((n = helper_take_fd(fd, rq->room, sizeof(rq->room), &passed)) > 0) {
		rq->bytes = (size_t)n;
		if (rq->bytes == sizeof(rq->offer) && rq->kind == HELPER_OFFER) {
			take_offers(rq, passed);
			continue;
		}
		if (passed >= 0)
			(void)close(passed);
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

/*
 * Passes on an open file: its process may be gone when anybody else looks for it. Of a build that was passed on nothing is
 * opened where its id is known, by the same path and for the same user: whoever gives his program the id of another one is
 * passed on with it, and not instead of it. A question that has a serial (for stacks) has its own all the same: what another
 * process of that user has at that path may be another file, in another mount namespace.
 */
static int
offer_file(struct buildid_cache *cache, struct request *rq, const struct buildid *id)
{
	const struct helper_find *f = &rq->find;
	struct unwind_offer o = { .serial = f->serial,
				  .id = *id,
				  .pid = f->map.pid,
				  .uid = f->uid,
				  .maj = f->map.maj,
				  .min = f->map.min };
	const uint64_t whose = helper_whose(&rq->key, f->map.path, f->uid);
	struct helper_offered_file *seen;
	struct buildid_file file;
	uint64_t hash;
	int r;

	memcpy(&hash, id->bytes, sizeof(hash));
	seen = &rq->offered_files[(hash ^ whose) % HELPER_OFFERED];
	if (rq->offers <= 0 || !id->size ||
	    (!f->serial && seen->whose == whose && buildid_cmp(&seen->id, id) == 0))
		return 0;
	r = buildid_cache_open(cache, &f->map, &file);
	if (r < 0)
		return r;
	if (buildid_cmp(&file.id, id) == 0) {
		/* What there is no room for is passed on when it is asked about again. */
		if (rq->offer_all || file.ephemeral)
			rq->outcome = helper_pass_fd(rq->offers, &o, sizeof(o), file.fd) == 0
				? OFFER_PASSED
				: OFFER_REFUSED;
		if (rq->outcome != OFFER_REFUSED)
			*seen = (struct helper_offered_file){ *id, whose };
	}
	(void)close(file.fd);
	return 0;
}

static int
find_file(struct buildid_cache *cache, struct request *rq, struct buildid *id)
{
	const struct buildid_map *m = &rq->find.map;
	int rc;

	if (m->known_id.size)
		return offer_file(cache, rq, &m->known_id);
	rc = buildid_cache_get(cache, m, id);
	if (rc == 0)
		(void)offer_file(cache, rq, id);
	return rc;
}

static int
helper_serve_find(struct buildid_cache *cache, struct request *rq, struct buildid *id)
{
	const struct shunned *s = &rq->shunned;
	struct helper_find *f = &rq->find;
	struct buildid_map *m = &f->map;
	int rc = -ESTALE;

	/* For one that is gone only our own root is looked at, where nothing of FUSE is opened. */
	if (is_shunned(s, m, m->pid, f->uid == TASK_USER_UNKNOWN && !f->nr_peers ? 0 : f->uid))
		return -EACCES;
	if (!f->nr_peers)
		return find_file(cache, rq, id);
	for (uint32_t i = 0; i < f->nr_peers && i < HELPER_PEERS_MAX && rc == -ESTALE; i++) {
		m->peer = f->peers[i];
		if (!is_shunned(s, m, m->peer, peer_user(s, m->peer)))
			rc = find_file(cache, rq, id);
	}
	return rc;
}

static void
serve_files(int fd)
{
	struct buildid_cache *cache = buildid_cache_new();
	struct request *rq = calloc(1, sizeof(*rq));
	struct stint stint = stint_open();
	struct helper_found found;

	while (cache && rq && helper_serve_take(fd, rq, HELPER_FIND, sizeof(rq->find) + 1) &&
	       rq->room[rq->bytes - 1] == '\0') {
		rq->find.map.path = (const char *)rq->room + sizeof(rq->find);
		found = (struct helper_found){ 0 };
		rq->outcome = OFFER_NONE;
		stint_begin(&stint);
		found.rc = helper_serve_find(cache, rq, &found.id);
		found.took_ns = stint_took_ns(&stint);
		found.offered = rq->outcome;
		buildid_cache_fact(cache, &rq->find.map, &found.fact);
		if (helper_give(fd, &found, sizeof(found), NULL, 0) < 0)
			break;
	}
	free(rq);
	buildid_cache_free(cache);
	stint_close(&stint);
}

const struct helper_work helper_files = { serve_files, HELPER_RIGHTS_FILES };

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
				   .no_maps = s->no_maps,
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

static void
serve_state(int fd)
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

const struct helper_work helper_state = { serve_state, HELPER_RIGHTS_STATE };
