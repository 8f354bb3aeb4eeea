/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/names/names_python.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bsd/string.h>
#include <bsd/unistd.h>

#include "recorder/ground/small_file.h"
#include "symbolizer/names/names_clock.h"
#include "symbolizer/names/names_rights.h"

#define SAID_BYTES 4096 /* of the interpreter's words; the last line tells */
#define LINE_MAX_SAID 200
#define STATUS_PENDING 3

/*
 * PID SECONDS. The script leaves no name in __main__, where it runs, and removes itself: as long as it is there, it has not run.
 */
static char program[] =
	"import os, sys, time\n"
	"path = '/tmp/.spoor-names-%s-%s.py' % (sys.argv[1], os.urandom(8).hex())\n"
	"fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)\n"
	"os.write(fd, b'__import__(\"os\").unlink(\"%s\")\\n'\n"
	"    b'__import__(\"sys\").is_stack_trampoline_active() or '\n"
	"    b'__import__(\"sys\").activate_stack_trampoline(\"perf\")\\n' % path.encode())\n"
	"os.close(fd)\n"
	"end = time.monotonic() + float(sys.argv[2])\n"
	"try:\n"
	"    sys.remote_exec(int(sys.argv[1]), path)\n"
	"except BaseException:\n"
	"    os.unlink(path)\n"
	"    raise\n"
	"while os.path.exists(path) and time.monotonic() < end:\n"
	"    time.sleep(0.01)\n"
	"time.sleep(0.02)\n"
	"sys.exit(3 if os.path.exists(path) else 0)\n";

/* --- where the interpreter runs ------------------------------------------------------------- */

#define NAMESPACES(X) X(user, CLONE_NEWUSER) X(pid, CLONE_NEWPID) X(mnt, CLONE_NEWNS)
enum {
#define X(name, flag) SPACE_##name,
	NAMESPACES(X) NR_SPACES
#undef X
};

/* Of those that it has no use for it gets new ones, which are empty, where the process is in others than the caller. */
#define NEW_SPACES(X)                                                                              \
	X(net, CLONE_NEWNET) X(ipc, CLONE_NEWIPC) X(uts, CLONE_NEWUTS) X(cgroup, CLONE_NEWCGROUP)

struct place {
	int spaces[NR_SPACES]; /* -1: the caller's own */
	int new_spaces;	       /* CLONE_NEW*: what it must not have of the caller's */
	int root, program;     /* program: its own file; -1: the path tells */
	bool roots;	       /* the process is uid 0 */
	uid_t uid;	       /* as they are called in there */
	gid_t gid;
	char path[PATH_MAX + 32]; /* of the interpreter */
};

/* -1: it is the caller's as well; -2: it cannot be told. */
static int
open_space(const struct names_process *p, const char *name)
{
	char path[32];
	int own, theirs;

	(void)snprintf(path, sizeof(path), "ns/%s", name);
	theirs = openat(p->dir, path, O_RDONLY | O_CLOEXEC);
	(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	own = open(path, O_RDONLY | O_CLOEXEC);
	if (names_process_same_file(own, theirs)) {
		(void)close(theirs);
		theirs = -1;
	} else if (theirs < 0) {
		theirs = -2;
	}
	if (own >= 0)
		(void)close(own);
	return theirs;
}

/* true where it cannot be told; a kernel may have none of a kind. */
static bool
is_elsewhere(const struct names_process *p, const char *name)
{
	char path[32];
	const int theirs = open_space(p, name);

	(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	if (theirs >= 0)
		(void)close(theirs);
	return theirs != -1 && access(path, F_OK) == 0;
}

/* "inside outside count" a line of the file. */
static bool
inner_id(const struct names_process *p, const char *file, uint32_t id, uint32_t *ret)
{
	char text[16384], *rest = text, *line;
	unsigned int inside, outside, count;

	if (small_file_read(p->dir, file, text, sizeof(text)) <= 0)
		return false;
	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "%u %u %u", &inside, &outside, &count) == 3 && id >= outside &&
		    id - outside < count) {
			*ret = inside + (id - outside);
			return true;
		}
	return false;
}

/* Its own program, if it is one; else the one that its library came with: PREFIX/lib/.../libpython3.14.so.1.0. */
static void
find_interpreter(const struct names_process *p, struct place *l)
{
	const char *name = strrchr(p->object, '/');
	char version[32];

	(void)snprintf(version, sizeof(version), "python%u.%u", p->runtime.version >> 16,
		       p->runtime.version & 0xffff);
	(void)strlcpy(l->path, p->object, PATH_MAX);
	if (name && strncmp(name + 1, "python", strlen("python")) == 0) {
		l->program = p->program;
		return;
	}
	l->path[strcspn(l->path, "\n")] = '\0';
	if (strstr(l->path, "/lib"))
		*strstr(l->path, "/lib") = '\0';
	(void)strlcat(l->path, "/bin/", sizeof(l->path));
	(void)strlcat(l->path, version, sizeof(l->path));
}

static void
place_done(struct place *l)
{
	for (int i = 0; i < NR_SPACES; i++)
		if (l->spaces[i] >= 0)
			(void)close(l->spaces[i]);
}

/* false: it must not be looked into, or has no user of its own there. */
static bool
place_open(struct place *l, const struct names_process *p)
{
	bool known = p->root >= 0;

	*l = (struct place){
		.root = p->root, .program = -1, .roots = p->uid == 0, .uid = p->uid, .gid = p->gid
	};
#define X(name, flag) l->spaces[SPACE_##name] = open_space(p, #name);
	NAMESPACES(X)
#undef X
#define X(name, flag) l->new_spaces |= is_elsewhere(p, #name) ? (flag) : 0;
	NEW_SPACES(X)
#undef X
	for (int i = 0; i < NR_SPACES; i++)
		known &= l->spaces[i] != -2;
	if (l->spaces[SPACE_user] >= 0)
		known &= inner_id(p, "uid_map", p->uid, &l->uid) &&
			inner_id(p, "gid_map", p->gid, &l->gid);
	find_interpreter(p, l);
	return known;
}

/* --- the interpreter ------------------------------------------------------------------------ */

/* "WHAT: why", to the pipe that its own words go to. */
static void __attribute__((noreturn)) refuse(const char *what, const char *why)
{
	(void)dprintf(STDERR_FILENO, "%s: %s\n", what, why);
	_exit(1);
}

static void __attribute__((noreturn)) give_up(const char *what, int error)
{
	refuse(what, strerror(error));
}

/* Root may have new ones at once; another caller in the process's user namespace, where that is his. */
static void
enter_spaces(const struct place *l)
{
	const bool apart = unshare(l->new_spaces) == 0;

	if (l->spaces[SPACE_user] >= 0 && setns(l->spaces[SPACE_user], CLONE_NEWUSER) < 0)
		give_up("its user namespace", errno);
	if (!apart && unshare(l->new_spaces) < 0)
		give_up("namespaces in the place of its own", errno);
	if (l->spaces[SPACE_mnt] >= 0 && setns(l->spaces[SPACE_mnt], CLONE_NEWNS) < 0)
		give_up("its mount namespace", errno);
}

/* The root of a process is not always that of its mounts. A caller that is not root may have the same one alone. */
static void
enter_root(int root)
{
	const int own = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fchdir(root) < 0 ||
	    (chroot(".") < 0 && !(errno == EPERM && names_process_same_file(own, root))))
		give_up("its root", errno);
	if (own >= 0)
		(void)close(own);
}

/*
 * The file that is executed. For a process of root's it is one that root alone can have written, since it is to be root: a path
 * is what the process says, and a group that may write may have anybody in it.
 */
static int
open_program(const struct place *l)
{
	struct stat st;
	int fd = l->program;

	if (fd < 0)
		fd = open(l->path, O_PATH | O_CLOEXEC | (l->roots ? O_NOFOLLOW : 0));
	if (fd < 0 || fstat(fd, &st) < 0)
		give_up(l->path, errno);
	if (l->roots &&
	    (!S_ISREG(st.st_mode) || st.st_uid != l->uid || st.st_mode & (S_IWGRP | S_IWOTH)))
		refuse(l->path, "not executed as root: others may have written it");
	return fd;
}

/* What executes is closed by that; nothing else is open. */
static void __attribute__((noreturn))
execute(const struct place *l, char *const argv[], char *const environment[])
{
	const int image = dup2(open_program(l), 3);

	if (image < 0 || fcntl(image, F_SETFD, FD_CLOEXEC) < 0)
		give_up("its program", errno);
	closefrom(image + 1);
	names_rights_limit_program();
	(void)fexecve(image, argv, environment);
	give_up(l->path, errno);
}

static void __attribute__((noreturn))
run_interpreter(const struct place *l, const struct names_process *p, const char *pid,
		const char *seconds, int out)
{
	static char path[] = "PATH=/usr/bin:/bin", locale[] = "LC_ALL=C.UTF-8";
	static char isolated[] = "-I", command[] = "-c";
	char *const environment[] = { path, locale, NULL };
	char *const argv[] = {
		(char *)(uintptr_t)l->path, isolated, command, program, (char *)(uintptr_t)pid,
		(char *)(uintptr_t)seconds, NULL
	};
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int rc;

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(out, 2) < 0)
		_exit(1);
	if (setsid() < 0)
		give_up("setsid", errno);
	/* In there it might be forbidden. */
	rc = names_rights_groups(p);
	if (rc < 0)
		give_up("its groups", -rc);
	enter_spaces(l);
	enter_root(l->root);
	rc = names_rights_take(l->uid, l->gid);
	if (rc < 0)
		give_up("its user", -rc);
	execute(l, argv, environment);
}

static int
start(struct names_python *y, const struct place *l, const struct names_process *p,
      int64_t deadline_ns, struct names_answer *a)
{
	char pid[16], seconds[32];
	int ends[2];

	(void)snprintf(pid, sizeof(pid), "%d", (int)p->inner_pid);
	(void)snprintf(seconds, sizeof(seconds), "%.3f",
		       (double)names_clock_ms(deadline_ns, 1 << 30) * 0.8 / 1e3);
	/* Children begin in there. */
	if (l->spaces[SPACE_pid] >= 0 && setns(l->spaces[SPACE_pid], CLONE_NEWPID) < 0) {
		names_answer_say(a, NAMES_FAILED, "its PID namespace: %s", strerror(errno));
		return -1;
	}
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		names_answer_say(a, NAMES_FAILED, "pipe: %s", strerror(errno));
		return -1;
	}
	y->fd = ends[0];
	y->since_s = time(NULL) - 1;
	y->child = fork();
	if (y->child == 0)
		run_interpreter(l, p, pid, seconds, ends[1]);
	(void)close(ends[1]);
	if (y->child > 0)
		return 0;
	names_answer_say(a, NAMES_FAILED, "fork: %s", strerror(errno));
	(void)close(y->fd);
	return -1;
}

int
names_python_start(struct names_python *y, const struct names_process *p, int64_t deadline_ns,
		   struct names_answer *a)
{
	struct place l;
	int rc = -1;

	*y = (struct names_python){ .child = -1, .fd = -1 };
	if (!place_open(&l, p))
		names_answer_say(a, NAMES_FAILED, "its namespaces cannot be looked into");
	else if (names_process_unchanged(p, a) == 0)
		rc = start(y, &l, p, deadline_ns, a);
	place_done(&l);
	return rc;
}

/* --- its end ------------------------------------------------------------------------------- */

/* Until it ends or the deadline; what is more than there is room for is dropped. */
static void
hear(int fd, int64_t deadline_ns, char said[SAID_BYTES])
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t had = 0;

	for (;;) {
		char dropped[512];
		const bool room = had < SAID_BYTES - 1;
		ssize_t n = poll(&p, 1, names_clock_ms(deadline_ns, 1 << 30));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		n = room ? read(fd, said + had, SAID_BYTES - 1 - had)
			 : read(fd, dropped, sizeof(dropped));
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
		had += room && n > 0 ? (size_t)n : 0;
	}
	said[had] = '\0';
}

/* A traceback ends in what it is about. */
static const char *
last_line(char *said)
{
	size_t n = strlen(said);
	char *at;

	while (n && said[n - 1] == '\n')
		said[--n] = '\0';
	at = strrchr(said, '\n');
	return at ? at + 1 : said;
}

void
names_python_end(struct names_python *y, const struct names_process *p, int64_t deadline_ns,
		 struct names_answer *a)
{
	char said[SAID_BYTES];
	int status = 0;
	pid_t rc;

	hear(y->fd, deadline_ns, said);
	(void)close(y->fd);
	/* It may have closed its words and go on. */
	while ((rc = waitpid(y->child, &status, WNOHANG)) == 0 && names_clock_now() < deadline_ns)
		(void)poll(NULL, 0, 5);
	if (rc == 0) {
		/* One that stops or ends this process instead is left to whoever has forked it. */
		(void)kill(y->child, SIGKILL);
		names_answer_say(a, NAMES_FAILED, "its interpreter does not end within the time");
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		names_process_map(p, y->since_s, a);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_PENDING) {
		names_answer_say(
			a, NAMES_FAILED,
			"asked; it begins when it next runs Python code, which it has not within "
			"the time");
	} else {
		names_answer_say(a, NAMES_FAILED, "its interpreter: %.*s", LINE_MAX_SAID,
				 *said ? last_line(said) : "ended by a signal, or without a word");
	}
}
