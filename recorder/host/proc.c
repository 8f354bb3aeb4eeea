/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "format/model/task_model.h"
#include "format/record/record_build.h"
#include "recorder/host/buildid_cache.h"
#include "recorder/host/host.h"
#include "recorder/host/proc_look.h"
#include "recorder/host/shunned.h"
#include "recorder/host/task_users.h"

#define MAPS_BYTES (1u << 16) /* of maps read at once; a line has at most 4 * PATH_MAX */
#define IDS_LIMIT_NS UINT64_C(1000000000) /* of a scan: what is left comes with the live model */
#define CLOCK_LINES 64			  /* lines of maps between looks at the clock */

/* One scan: where records go, and what they look like. */
struct scan {
	const struct state_options *o;
	struct perf_sample_id sid;
	struct buf *out;
	struct state_stats *stats;
	char *buffer;	    /* MAPS_BYTES */
	uint64_t ids_until; /* files are read for their build-ids no longer than that */
	uint64_t map_bytes; /* of all maps so far */
	uint64_t process_map_bytes;
	uint32_t uid; /* of this process */
	bool aloof;   /* it is not to be touched */
};

/* --- what was found -------------------------------------------------------------------------- */

struct perf_sample_id
proc_sample_id(const struct state_options *o)
{
	return (struct perf_sample_id){ .time = o->time_ns ? o->time_ns : host_now_ns(),
					.id = o->id,
					.stream_id = o->id,
					.cpu = UINT32_MAX };
}

int
proc_hand_over(const struct state_options *o, const struct state_part *part, struct buf *out)
{
	return o->take ? o->take(o->arg, part, out) : 0;
}

static int
hand_over(const struct scan *s, pid_t next)
{
	const struct state_part part = { .pid = next,
					 .uid = next ? s->uid : TASK_USER_UNKNOWN,
					 .stats = s->stats };

	return proc_hand_over(s->o, &part, s->out);
}

/* Only a part of a process's maps is taken. */
static bool
too_much(const struct scan *s)
{
	return s->process_map_bytes >
		(s->map_bytes > PROC_SCAN_BYTES ? PROC_MAPS_BYTES_CROWDED : PROC_MAPS_BYTES);
}

/* --- maps ------------------------------------------------------------------------------------ */

/* /proc writes a newline in a path as \012, and nothing else that way. */
static void
path_unescape(char *path)
{
	char *from = path, *to = path;

	if (!strstr(path, "\\012"))
		return;
	while (*from) {
		if (strncmp(from, "\\012", 4) == 0) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

/* Takes a number that ends in this character. */
static bool
take_number(char **p, int base, char end, uint64_t *ret)
{
	char *stop;

	if (!isxdigit((unsigned char)**p))
		return false;
	*ret = strtoull(*p, &stop, base);
	if (*stop != end && !(end == ' ' && *stop == '\0'))
		return false;
	*p = *stop ? stop + 1 : stop;
	return true;
}

int
proc_map_parse(char *line, struct proc_map *ret)
{
	struct proc_map m = { 0 };
	uint64_t maj, min;
	char *p = line, *perms;

	if (!take_number(&p, 16, '-', &m.start) || !take_number(&p, 16, ' ', &m.end))
		return -EINVAL;
	perms = p;
	if (strlen(perms) < 5 || perms[4] != ' ')
		return -EINVAL;
	p += 5;
	if (!take_number(&p, 16, ' ', &m.pgoff) || !take_number(&p, 16, ':', &maj) ||
	    !take_number(&p, 16, ' ', &min) || !take_number(&p, 10, ' ', &m.ino))
		return -EINVAL;
	m.maj = (uint32_t)maj;
	m.min = (uint32_t)min;
	m.prot = (perms[0] == 'r' ? PROT_READ : 0u) | (perms[1] == 'w' ? PROT_WRITE : 0u) |
		(perms[2] == 'x' ? PROT_EXEC : 0u);
	m.flags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	p += strspn(p, " ");
	path_unescape(p);
	/* The kernel's records know nothing of names that a process gave to anonymous memory. */
	m.path = *p == '\0' || strncmp(p, "[anon", 5) == 0 ? "//anon" : p;
	if (m.end <= m.start)
		return -EINVAL;
	*ret = m;
	return 0;
}

static int
map_record(struct scan *s, pid_t pid, pid_t tid, const struct proc_map *p, uint16_t misc)
{
	struct perf_mmap k = { .pid = (uint32_t)pid,
			       .tid = (uint32_t)tid,
			       .addr = p->start,
			       .len = p->end - p->start,
			       .pgoff = p->pgoff,
			       .maj = p->maj,
			       .min = p->min,
			       .ino = p->ino,
			       .prot = p->prot,
			       .flags = p->flags,
			       .filename = p->path };
	const struct buildid_map file = buildid_map_of(&k, s->sid.time);
	size_t at = s->out->len;
	struct buildid id;
	int rc;

	/* A record can hold a GNU id alone; others come by way of live_ids. */
	if (s->o->buildids && p->ino && p->prot & PROT_EXEC && host_now_ns() < s->ids_until &&
	    buildid_cache_get(s->o->buildids, &file, &id) == 0 && id.kind == BUILDID_GNU) {
		k.build_id = id;
		s->stats->build_ids++;
	}
	s->stats->maps++;
	if (!(p->prot & PROT_EXEC))
		misc |= TASK_MISC_MAP_DATA;
	rc = record_build_mmap2(s->out, s->o->attr, &s->sid, &k, PERF_RECORD_MISC_USER | misc);
	s->process_map_bytes += s->out->len - at;
	s->map_bytes += s->out->len - at;
	return rc ? -ENOMEM : 0;
}

static bool
wanted(const struct scan *s, const struct proc_map *m)
{
	return m->prot & PROT_EXEC || (s->o->data_maps && m->prot & PROT_READ);
}

/* Takes whole lines off the front of text; 0, or what stopped it. *ret_used: how far it came. */
static int
maps_lines(struct scan *s, pid_t pid, pid_t tid, size_t have, uint64_t deadline, size_t *ret_used)
{
	char *p = s->buffer, *nl;
	struct proc_map m;
	unsigned lines = 0;
	int rc = 0;

	while (!rc && (nl = memchr(p, '\n', have - (size_t)(p - s->buffer)))) {
		*nl = '\0';
		/* "start-end rwxp": most lines are seen not to be executable right there. */
		if (proc_map_parse(p, &m) == 0 && wanted(s, &m)) {
			bool late = too_much(s) ||
				(++lines % CLOCK_LINES == 0 && host_now_ns() > deadline);

			rc = map_record(s, pid, tid, &m, late ? TASK_MISC_MAPS_TIMEOUT : 0);
			if (!rc && late)
				rc = -ETIME;
		}
		p = nl + 1;
	}
	*ret_used = (size_t)(p - s->buffer);
	return rc;
}

static int
maps_scan(struct scan *s, int taskdir, pid_t pid, pid_t tid)
{
	uint64_t deadline = host_now_ns() + PROC_MAPS_LIMIT_NS;
	size_t have = 0, used;
	int fd, rc = 0;
	ssize_t n;

	fd = openat(taskdir, "maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	s->process_map_bytes = 0;
	while (!rc) {
		n = read(fd, s->buffer + have, MAPS_BYTES - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? -errno : 0;
			break;
		}
		have += (size_t)n;
		rc = maps_lines(s, pid, tid, have, deadline, &used);
		if (!rc && s->out->len > PROC_PART_BYTES)
			rc = hand_over(s, pid);
		if (!used && have == MAPS_BYTES)
			used = have;
		have -= used;
		memmove(s->buffer, s->buffer + used, have);
	}
	(void)close(fd);
	if (rc == -ETIME) {
		s->stats->truncated++;
		rc = 0;
	}
	return rc;
}

/* --- tasks ----------------------------------------------------------------------------------- */

static int
task_records(struct scan *s, int taskdir, pid_t pid, pid_t tid, long long ppid)
{
	static const char *const ns[] = { "ns/net",  "ns/uts", "ns/ipc",   "ns/pid",
					  "ns/user", "ns/mnt", "ns/cgroup" };
	uint64_t links[sizeof(ns) / sizeof(ns[0]) * 2] = { 0 };
	bool leader = pid == tid;
	size_t known = 0;
	struct stat st;
	char comm[PROC_LOOK_COMM_BYTES];
	int rc = 0;

	if (proc_look_comm(taskdir, comm) < 0)
		return -ESRCH;
	s->sid.pid = (uint32_t)pid;
	s->sid.tid = (uint32_t)tid;
	/* A fresh task has no maps: of one that is not asked for its own, the known ones stay. */
	if (!s->aloof)
		rc = record_build_fork(s->out, s->o->attr, &s->sid, (uint32_t)pid, (uint32_t)ppid,
				       (uint32_t)tid, (uint32_t)ppid, 0, TASK_MISC_FORK_FRESH);
	if (rc)
		return -ENOMEM;
	/* Threads have nearly always the namespaces of their process: asked once for all. */
	for (size_t i = 0; leader && !s->aloof && i < sizeof(ns) / sizeof(ns[0]); i++) {
		if (fstatat(taskdir, ns[i], &st, 0) < 0)
			continue;
		links[i * 2] = st.st_dev;
		links[i * 2 + 1] = st.st_ino;
		known++;
	}
	if (known)
		rc = record_build_namespaces(s->out, s->o->attr, &s->sid, (uint32_t)pid,
					     (uint32_t)tid, links, sizeof(ns) / sizeof(ns[0]));
	if (!rc)
		rc = record_build_comm(s->out, s->o->attr, &s->sid, (uint32_t)pid, (uint32_t)tid,
				       comm, 0);
	s->stats->tasks++;
	return rc ? -ENOMEM : 0;
}

/* A process that is gone, say, is not. */
static bool
is_fatal(int rc)
{
	return rc == -ENOMEM || rc == -EPIPE;
}

/* The maps, once for the process: of the leader, or when that has exited of another thread. */
static int
process_maps(struct scan *s, int taskdir, pid_t pid, pid_t tid, bool *done)
{
	uint64_t before = s->stats->maps;
	int rc;

	if (*done || s->aloof)
		return 0;
	rc = maps_scan(s, taskdir, pid, tid);
	*done = s->stats->maps > before;
	return is_fatal(rc) ? rc : 0;
}

static int
thread_scan(struct scan *s, int tasks, pid_t pid, pid_t tid, long long ppid, bool *maps_done)
{
	size_t at = s->out->len;
	char name[16];
	int fd, rc;

	(void)snprintf(name, sizeof(name), "%d", (int)tid);
	fd = openat(tasks, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -ESRCH;
	rc = task_records(s, fd, pid, tid, ppid);
	if (!rc)
		rc = process_maps(s, fd, pid, tid, maps_done);
	if (rc && s->out->len > at)
		s->out->len = at;
	(void)close(fd);
	return rc;
}

static pid_t
pid_of_name(const char *name)
{
	const char *error;
	long long n;

	if (!isdigit((unsigned char)*name))
		return 0;
	n = strtonum(name, 1, INT32_MAX, &error);
	return error ? 0 : (pid_t)n;
}

static bool
is_shunned(const struct scan *s, pid_t pid)
{
	const struct shunned *who = s->o->shunned;
	uint64_t now_ns = host_now_ns();

	return who &&
		(shunned_has(who, SHUNNED_PROCESS, (uint64_t)pid, now_ns) ||
		 shunned_has(who, SHUNNED_USER, s->uid, now_ns));
}

/* It is gone, or could not be asked. */
static int
not_found(const struct scan *s, int error)
{
	s->stats->missed += error != -ENOENT && error != -ESRCH;
	return -ESRCH;
}

static int
process_scan(struct scan *s, pid_t pid)
{
	struct proc_look look;
	struct dirent *e;
	char path[64];
	bool maps_done;
	pid_t tid;
	DIR *d;
	int rc;

	rc = proc_look_at(pid, &look);
	if (rc < 0)
		return not_found(s, rc);
	/* One that has ended is no task any more, although its parent has not heard of it. */
	if (look.zombie)
		return -ESRCH;
	s->uid = look.uid;
	rc = hand_over(s, pid);
	if (rc)
		return rc;
	s->aloof = is_shunned(s, pid);
	s->stats->shunned += s->aloof;
	maps_done = !look.maps || s->o->no_maps;
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return not_found(s, -errno);
	rc = thread_scan(s, dirfd(d), pid, pid, look.ppid < 0 ? 0 : look.ppid, &maps_done);
	while (!rc && (e = readdir(d))) {
		tid = pid_of_name(e->d_name);
		if (!tid || tid == pid)
			continue;
		rc = thread_scan(s, dirfd(d), pid, tid, pid, &maps_done);
		if (rc == -ESRCH)
			rc = 0;
	}
	(void)closedir(d);
	return rc;
}

/* Those that were asked for, each process once. */
static int
scan_listed(struct scan *s)
{
	const struct state_options *o = s->o;
	pid_t *pids = calloc(o->nr_pids ? o->nr_pids : 1, sizeof(*pids));
	size_t n = 0;
	int rc = 0;

	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < o->nr_pids && !rc; i++) {
		pid_t pid = proc_look_tgid(o->pids[i]);
		bool seen = false;

		for (size_t j = 0; j < n; j++)
			seen = seen || pids[j] == pid;
		if (pid <= 0 || seen)
			continue;
		pids[n++] = pid;
		rc = process_scan(s, pid);
		if (!is_fatal(rc))
			rc = 0;
	}
	free(pids);
	return rc;
}

/* The kernel lists processes by number. */
static int
scan_all(struct scan *s)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int rc = 0;
	pid_t pid;

	if (!d)
		return -errno;
	while (!rc && (e = readdir(d))) {
		pid = pid_of_name(e->d_name);
		rc = pid > s->o->after ? process_scan(s, pid) : 0;
		if (!is_fatal(rc))
			rc = 0;
	}
	(void)closedir(d);
	return rc;
}

int
proc_scan(const struct state_options *options, struct buf *out, struct state_stats *stats)
{
	struct scan s = { .o = options,
			  .sid = proc_sample_id(options),
			  .out = out,
			  .stats = stats,
			  .buffer = malloc(MAPS_BYTES),
			  .ids_until = host_now_ns() + IDS_LIMIT_NS };
	int rc;

	if (!s.buffer)
		return -ENOMEM;
	if (options->pids)
		rc = scan_listed(&s);
	else
		rc = scan_all(&s);
	if (!rc)
		rc = hand_over(&s, 0);
	free(s.buffer);
	return buf_failed(out) ? -ENOMEM : rc;
}
