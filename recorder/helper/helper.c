/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/helper/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/bytes/fd_range.h"
#include "format/bytes/time_text.h"
#include "recorder/ground/small_file.h"
#include "recorder/helper/helper_rights.h"

#define NAME "spoor-helper"
#define SOCKET_BYTES 1048576 /* asked for; net.core.wmem_max may allow less */

/* Each message of a worker begins with it. */
struct envelope {
	uint64_t cpu_ns; /* of the worker so far */
	int32_t pid;
	int32_t refused; /* errno: it has capabilities that it must not have, and does nothing */
};

/* What a process of ours is to do. */
struct order {
	int64_t serve; /* from this program's start on, which is elsewhere after execve(2); 0: keep workers */
	uint64_t rights;
};

struct helper {
	int fd;
	pid_t pid;	 /* 0: it has not been heard of */
	uint64_t cpu_ns; /* told so far */
};

static pthread_mutex_t keeper_lock = PTHREAD_MUTEX_INITIALIZER;
static int keeper_fd = -1;
static pid_t keeper_pid; /* of one that may have to be waited for; 0: none */
static _Atomic uint64_t told_cpu_ns;
static _Atomic bool rights_refused; /* to a worker, and so to the next one */

/* --- the keeper ------------------------------------------------------------------------------ */

/* fd becomes 3; what else is open is not ours to keep open. */
static void
keep_only(int fd)
{
	int null;

	/* Where somebody closed the standard ones, it may be one of them. */
	fd = fcntl(fd, F_DUPFD, 3);
	null = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3 && null >= 0; i++)
		(void)dup2(null, i);
	if (fd != 3)
		(void)dup2(fd, 3);
	fd_range_close(4, UINT_MAX);
}

/* Signals of the terminal and of the service manager are for the recorder, whose end is ours. */
static void
ignore_signals(void)
{
	static const int ignored[] = { SIGHUP,	SIGINT,	 SIGQUIT, SIGPIPE, SIGTERM,
				       SIGUSR1, SIGUSR2, SIGXFSZ, SIGCHLD };
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		(void)signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A message, with the descriptor that came along (-1: none); bytes of it, 0 at the end, -errno. */
static ssize_t
receive_fd(int socket, void *to, size_t cap, int *ret_fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { to, cap };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	const struct cmsghdr *c;
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n < 0 ? NULL : CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
	return n < 0 ? -errno : n;
}

int
helper_pass_fd(int socket, const void *p, size_t bytes, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec part = { (void *)(uintptr_t)p, bytes };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* --- a process of ours ----------------------------------------------------------------------- */

/* Where it is in this process. */
static helper_serve_fn *
serve_of(const struct order *o)
{
	return (helper_serve_fn *)((uintptr_t)helper_open + (uintptr_t)o->serve);
}

static int
give(int fd, int refused, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes)
{
	struct envelope e = { .pid = (int32_t)getpid(), .refused = refused };
	struct iovec parts[3] = { { &e, sizeof(e) },
				  { (void *)(uintptr_t)head, head_bytes },
				  { (void *)(uintptr_t)tail, tail_bytes } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 3 };
	struct timespec cpu;
	ssize_t n;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
		e.cpu_ns = (uint64_t)time_text_ns(&cpu);
	do
		n = sendmsg(fd, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* What is to be served, with the worker's end of its socket; false: nobody will ask any more. */
static bool
take_order(struct order *ret, int *ret_fd)
{
	return receive_fd(3, ret, sizeof(*ret), ret_fd) == (ssize_t)sizeof(*ret) && *ret_fd >= 0;
}

static void obey(const struct order *o, bool again);

/* refused: -errno of giving up capabilities. It gives them to no worker. */
static void
keep_workers(int refused)
{
	struct order o;
	int worker;

	while (take_order(&o, &worker)) {
		if (refused)
			(void)give(worker, -refused, NULL, 0, NULL, 0);
		else if (fork() == 0) {
			keep_only(worker);
			obey(&o, false);
			_exit(0);
		}
		(void)close(worker);
	}
	/* Workers that do not look at their sockets, and itself. */
	if (getpgrp() == getpid())
		(void)kill(0, SIGKILL);
}

/* Only what is ambient is had afterwards. Returns if that is not possible. */
static void
exec_again(const struct order *o)
{
	char name[64];
	char *const argv[] = { name, NULL }, *const environment[] = { NULL };

	(void)snprintf(name, sizeof(name), NAME " %llx %llx", (unsigned long long)o->serve,
		       (unsigned long long)o->rights);
	helper_rights_for_exec(o->rights);
	(void)execve("/proc/self/exe", argv, environment);
}

/* Asked at 3, until nobody will ask any more. */
static void
obey(const struct order *o, bool again)
{
	int r = helper_rights_shed(o->rights);

	if (r < 0 && !again)
		exec_again(o);
	(void)prctl(PR_SET_NAME, NAME);
	if (o->serve == 0)
		keep_workers(r);
	else if (r < 0)
		(void)give(3, -r, NULL, 0, NULL, 0);
	/* So that its number is known, should it never speak again. */
	else if (give(3, 0, NULL, 0, NULL, 0) == 0)
		serve_of(o)(3);
}

/*
 * This program may have been executed by exec_again(), whatever its main() is. A program that has more rights than who
 * executes it obeys nobody.
 */
static void __attribute__((constructor)) helper_begin_again(void)
{
	unsigned long long serve, rights;

	if (getauxval(AT_SECURE) ||
	    sscanf(program_invocation_name, NAME " %llx %llx", &serve, &rights) != 2)
		return;
	obey(&(struct order){ (int64_t)serve, rights }, true);
	_exit(0);
}

static void __attribute__((noreturn)) keeper_main(int fd)
{
	static const char first_to_go[] = "1000";
	int oom;

	keep_only(fd);
	/* Of this and its workers. */
	(void)setpgid(0, 0);
	ignore_signals();
	/* Where memory is short it is a helper that can be spared. */
	oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (oom >= 0 && write(oom, first_to_go, sizeof(first_to_go) - 1) < 0)
		errno = 0;
	(void)close(oom);
	obey(&(struct order){ .rights = HELPER_RIGHTS_KEEPER }, false);
	_exit(0);
}

static int
keeper_start(void)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	/* The one before was killed. */
	if (keeper_pid)
		(void)waitpid(keeper_pid, NULL, 0);
	pid = fork();
	if (pid == 0)
		keeper_main(pair[1]);
	(void)close(pair[1]);
	if (pid < 0) {
		(void)close(pair[0]);
		return -EAGAIN;
	}
	keeper_fd = pair[0];
	keeper_pid = pid;
	return 0;
}

int
helper_start(void)
{
	int r;

	(void)pthread_mutex_lock(&keeper_lock);
	r = keeper_fd >= 0 ? 0 : keeper_start();
	(void)pthread_mutex_unlock(&keeper_lock);
	return r;
}

/* Somebody may have killed the keeper. */
static int
keeper_ask_again(const struct order *o, int worker)
{
	int r;

	(void)pthread_mutex_lock(&keeper_lock);
	r = keeper_fd >= 0 ? helper_pass_fd(keeper_fd, o, sizeof(*o), worker) : -EPIPE;
	if (r == -EPIPE || r == -ECONNRESET) {
		if (keeper_fd >= 0)
			(void)close(keeper_fd);
		keeper_fd = -1;
		r = keeper_start();
		if (r == 0)
			r = helper_pass_fd(keeper_fd, o, sizeof(*o), worker);
	}
	(void)pthread_mutex_unlock(&keeper_lock);
	return r;
}

/* --- a worker, from outside ------------------------------------------------------------------ */

int
helper_open(const struct helper_work *work, struct helper **ret)
{
	const struct order o = { (int64_t)((uintptr_t)work->serve - (uintptr_t)helper_open),
				 work->rights };
	const int bytes = SOCKET_BYTES;
	struct helper *h;
	int pair[2], r;

	if (atomic_load_explicit(&rights_refused, memory_order_relaxed))
		return -EPERM;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		r = -errno;
		free(h);
		return r;
	}
	for (int i = 0; i < 2; i++)
		(void)setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	r = keeper_ask_again(&o, pair[1]);
	(void)close(pair[1]);
	h->fd = pair[0];
	if (r < 0)
		helper_close(h);
	else
		*ret = h;
	return r;
}

/* While its socket is open the process is there, and the number is its. */
static bool
is_there(const struct helper *h)
{
	struct pollfd p = { .fd = h->fd };

	return h->pid > 0 && poll(&p, 1, 0) >= 0 && !(p.revents & (POLLHUP | POLLERR));
}

void
helper_kill(struct helper *h)
{
	char rest[16];

	/* It may have said its number, and nobody asked. */
	if (!h->pid)
		(void)helper_receive(h, rest, sizeof(rest));
	if (is_there(h))
		(void)kill(h->pid, SIGKILL);
}

void
helper_close(struct helper *h)
{
	if (!h)
		return;
	helper_kill(h);
	(void)close(h->fd);
	free(h);
}

/* 0; -EPERM: it does nothing. */
static int
hear(struct helper *h, const struct envelope *e)
{
	/* As it was before it touched anything of others. */
	if (!h->pid)
		h->pid = e->pid;
	if (e->cpu_ns > h->cpu_ns)
		atomic_fetch_add_explicit(&told_cpu_ns, e->cpu_ns - h->cpu_ns,
					  memory_order_relaxed);
	h->cpu_ns = e->cpu_ns;
	if (!e->refused)
		return 0;
	atomic_store_explicit(&rights_refused, true, memory_order_relaxed);
	return -EPERM;
}

/* A message of two parts. Whoever ended without having read all that was sent has an error before its last words. */
static ssize_t
receive(struct helper *h, struct iovec parts[2], int flags)
{
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };
	bool reset = false;
	ssize_t n;

	for (;;) {
		n = recvmsg(h->fd, &m, MSG_DONTWAIT | flags);
		if (n >= 0 || (errno != EINTR && (errno != ECONNRESET || reset)))
			return n < 0 ? -errno : n;
		reset |= errno == ECONNRESET;
	}
}

/* Why it is gone, if it is: its first word may be that it does nothing. */
static int
gone(struct helper *h, int r)
{
	struct envelope e;
	struct iovec parts[2] = { { &e, sizeof(e) }, { NULL, 0 } };

	if (h->pid || (r != -EPIPE && r != -ECONNRESET) ||
	    receive(h, parts, MSG_PEEK) < (ssize_t)sizeof(e) || hear(h, &e) == 0)
		return r;
	return -EPERM;
}

int
helper_send(struct helper *h, const void *head, size_t head_bytes, const void *tail,
	    size_t tail_bytes)
{
	struct iovec parts[2] = { { (void *)(uintptr_t)head, head_bytes },
				  { (void *)(uintptr_t)tail, tail_bytes } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };

	return sendmsg(h->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? gone(h, -errno) : 0;
}

int
helper_send_fd(struct helper *h, const void *p, size_t bytes, int fd)
{
	const int r = helper_pass_fd(h->fd, p, bytes, fd);

	return r < 0 ? gone(h, r) : 0;
}

int
helper_join(const struct helper_end *taker, const struct helper_end *giver, int bytes)
{
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	/* Files are mapped faster than they are taken, and are asked about once. */
	(void)setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	r = helper_send_fd(taker->worker, taker->p, taker->bytes, pair[0]);
	if (r == 0)
		r = helper_send_fd(giver->worker, giver->p, giver->bytes, pair[1]);
	(void)close(pair[0]);
	(void)close(pair[1]);
	return r;
}

ssize_t
helper_receive(struct helper *h, void *to, size_t cap)
{
	struct envelope e;
	struct iovec parts[2] = { { &e, sizeof(e) }, { to, cap } };
	ssize_t n;

	do {
		n = receive(h, parts, 0);
		if (n < 0)
			return n == -EAGAIN ? 0 : n;
		if (n < (ssize_t)sizeof(e))
			return -EPIPE;
		if (hear(h, &e) < 0)
			return -EPERM;
	} while (n == (ssize_t)sizeof(e));
	return n - (ssize_t)sizeof(e);
}

int
helper_fd(const struct helper *h)
{
	return h->fd;
}

bool
helper_sleeps(const struct helper *h)
{
	char path[64], text[128], state = 'R';
	const char *at;

	if (!is_there(h))
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)h->pid);
	(void)small_file_read(AT_FDCWD, path, text, sizeof(text));
	at = strrchr(text, ')'); /* "1234 (name) D ..." */
	if (at && at[1])
		state = at[2];
	return state == 'S' || state == 'D';
}

uint64_t
helper_used_ns(const struct helper *h)
{
	return h->cpu_ns;
}

uint64_t
helper_cpu_ns(void)
{
	return atomic_load_explicit(&told_cpu_ns, memory_order_relaxed);
}

/* --- in the worker --------------------------------------------------------------------------- */

ssize_t
helper_take(int fd, void *to, size_t cap)
{
	ssize_t n;

	do
		n = recv(fd, to, cap, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? 0 : n;
}

ssize_t
helper_take_fd(int fd, void *to, size_t cap, int *ret_fd)
{
	ssize_t n = receive_fd(fd, to, cap, ret_fd);

	return n < 0 ? 0 : n;
}

int
helper_give(int fd, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes)
{
	return give(fd, 0, head, head_bytes, tail, tail_bytes);
}
