/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/live_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"

#define DELETED " (deleted)"
#define READ_BYTES (64u << 10)

struct live_files {
	bool scanned;
	struct live_file *v; /* by path, then by file, each once */
	size_t nr, cap;
	size_t bytes;
};

struct live_files *
live_files_new(void)
{
	return calloc(1, sizeof(struct live_files));
}

void
live_files_free(struct live_files *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->nr; i++)
		free((char *)(uintptr_t)l->v[i].path);
	free(l->v);
	free(l);
}

/* Length without what the kernel adds. */
static size_t
live_path_length(const char *path)
{
	size_t len = strlen(path), tail = strlen(DELETED);

	return len > tail && strcmp(path + len - tail, DELETED) == 0 ? len - tail : len;
}

/* A line of /proc/PID/maps; a path with a newline in it is escaped there, and not found. */
static int
add_line(struct live_files *l, pid_t pid, char *line)
{
	struct live_file f = { .pid = pid };
	char permissions[5];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
		   &f.start, &f.end, permissions, &f.maj, &f.min, &f.ino, &at) != 6 ||
	    at == 0 || line[at] != '/' || permissions[2] != 'x')
		return 0;
	line[(size_t)at + live_path_length(line + at)] = '\0';
	l->bytes += sizeof(f) + strlen(line + at) + 1;
	if (l->bytes > LIVE_FILES_BYTES_MAX)
		return 0;
	if (array_reserve(l->v, l->nr, l->cap, 1) < 0)
		return -FMT_E_NOMEM;
	f.path = strdup(line + at);
	if (f.path == NULL)
		return -FMT_E_NOMEM;
	l->v[l->nr++] = f;
	return 0;
}

static int
compare_files(const struct live_file *a, const struct live_file *b)
{
	int c = strcmp(a->path, b->path);

	if (c == 0)
		c = (a->maj > b->maj) - (a->maj < b->maj);
	if (c == 0)
		c = (a->min > b->min) - (a->min < b->min);
	return c != 0 ? c : (a->ino > b->ino) - (a->ino < b->ino);
}

static int
compare_ways(const void *va, const void *vb)
{
	const struct live_file *a = va, *b = vb;
	int c = compare_files(a, b);

	return c != 0 ? c : (a->pid > b->pid) - (a->pid < b->pid);
}

/* Sorts them, and leaves one way to each file. */
static void
settle_files(struct live_files *l)
{
	size_t kept = 0;

	if (l->nr != 0)
		qsort(l->v, l->nr, sizeof(*l->v), compare_ways);
	for (size_t i = 0; i < l->nr; i++) {
		if (kept != 0 && compare_files(&l->v[kept - 1], &l->v[i]) == 0)
			free((char *)(uintptr_t)l->v[i].path);
		else
			l->v[kept++] = l->v[i];
	}
	l->nr = kept;
}

/* --- the process that reads /proc -------------------------------------------------------- */

/* "PID\n", before anything that may wait, and the lines of its maps. */
static void
tell_process(FILE *to, pid_t pid)
{
	char path[64], *line = NULL;
	size_t cap = 0, lines = 0;
	FILE *f;

	fprintf(to, "%d\n", (int)pid);
	(void)fflush(to);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return;
	while (lines++ < LIVE_FILES_LINES_MAX && getline(&line, &cap, f) > 0)
		if (strchr(line, '/') != NULL)
			fputs(line, to);
	free(line);
	fclose(f);
}

/* Those behind a pid: /proc has them in their order. */
static void __attribute__((noreturn)) tell_processes(int fd, pid_t behind, pid_t parent)
{
	FILE *to = fdopen(fd, "w");
	DIR *dir = opendir("/proc");
	struct dirent *e;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (to != NULL && dir != NULL && getppid() == parent && (e = readdir(dir)) != NULL) {
		int pid = 0, len = 0;

		/* This one has all that its parent has mapped, and ends before anybody looks there. */
		if (sscanf(e->d_name, "%9d%n", &pid, &len) == 1 && pid > behind &&
		    pid != getpid() && e->d_name[len] == '\0')
			tell_process(to, pid);
	}
	if (to != NULL)
		(void)fflush(to);
	_exit(0);
}

struct scout {
	pid_t pid;
	int fd;
	struct buf text; /* that is not taken yet */
	pid_t at;	 /* whose maps it reads; 0: nobody's yet */
};

/* Takes the lines that are whole. */
static int
take_lines(struct live_files *l, struct scout *s)
{
	size_t taken = 0;
	int error = 0;
	uint8_t *end;

	while (!error && (end = memchr(s->text.p + taken, '\n', s->text.len - taken)) != NULL) {
		char *line = (char *)s->text.p + taken;

		*end = '\0';
		taken = (size_t)(end - s->text.p) + 1;
		if (strchr(line, ' ') != NULL)
			error = add_line(l, s->at, line);
		else
			(void)sscanf(line, "%9d", &s->at);
	}
	memmove(s->text.p, s->text.p + taken, s->text.len - taken);
	s->text.len -= taken;
	return error;
}

/* 1: it has come to its end, 0: it waits for a process, -FMT_E_NOMEM. */
static int
listen_to(struct live_files *l, struct scout *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	int error = 0;

	for (;;) {
		uint8_t *room = buf_reserve(&s->text, READ_BYTES);
		ssize_t n;

		if (room == NULL)
			return -FMT_E_NOMEM;
		n = poll(&p, 1, LIVE_FILES_WAIT_MS);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			return 0;
		n = n > 0 ? read(s->fd, room, READ_BYTES) : n;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 1;
		s->text.len += (size_t)n;
		error = take_lines(l, s);
		if (error)
			return error;
	}
}

/* Processes behind the scout's last. As listen_to(). */
static int
send_scout(struct live_files *l, struct scout *s)
{
	const pid_t parent = getpid();
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return 1;
	s->fd = ends[0];
	s->text.len = 0;
	s->pid = fork();
	if (s->pid == 0)
		tell_processes(ends[1], s->at, parent);
	close(ends[1]);
	r = s->pid > 0 ? listen_to(l, s) : 1;
	close(s->fd);
	if (s->pid > 0) {
		/* What it waits for, a signal ends; that it is no more comes a moment later. */
		kill(s->pid, SIGKILL);
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return r;
}

static int
scan_processes(struct live_files *l)
{
	struct scout s = { .at = 0 };
	int r = 0;

	buf_init(&s.text);
	for (int stuck = 0; r == 0 && stuck <= LIVE_FILES_STUCK_MAX; stuck++)
		r = send_scout(l, &s);
	buf_done(&s.text);
	settle_files(l);
	return r < 0 ? r : 0;
}

/* Index of the first file that is not before. */
static size_t
lower_bound(const struct live_files *l, const struct live_file *key, bool by_path)
{
	size_t low = 0, high = l->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = by_path ? strcmp(l->v[middle].path, key->path)
				: compare_files(&l->v[middle], key);

		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int
live_files_find(struct live_files *l, const struct map_object *wanted, const struct live_file **ret,
		size_t *ret_nr)
{
	const bool by_path = wanted->ino == 0;
	struct live_file key = { .ino = wanted->ino, .maj = wanted->maj, .min = wanted->min };
	char *path;
	size_t first, nr = 0;

	if (!l->scanned) {
		int error = scan_processes(l);

		if (error)
			return error;
		l->scanned = true;
	}
	key.path = path = strndup(wanted->path, live_path_length(wanted->path));
	if (path == NULL)
		return -FMT_E_NOMEM;
	first = lower_bound(l, &key, by_path);
	while (nr < LIVE_FILES_TRIED_MAX && first + nr < l->nr &&
	       (by_path ? strcmp(l->v[first + nr].path, path)
			: compare_files(&l->v[first + nr], &key)) == 0)
		nr++;
	free(path);
	*ret = nr ? &l->v[first] : NULL;
	*ret_nr = nr;
	return 0;
}
