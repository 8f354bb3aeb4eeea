/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "format/bytes/fd_range.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/dwarf/dwarf_answer.h"
#include "symbolizer/dwarf/dwarf_request.h"
#include "symbolizer/dwarf/dwarf_sandbox.h"

#define READ_BYTES (64u << 10)
/* Of an answer: far more than names and lines of real code are. It is in our memory. */
#define ANSWER_BYTES_FREE (UINT64_C(16) << 20)
#define ANSWER_BYTES_EACH (UINT64_C(4) << 10) /* of an address */
#define SLOW 4 /* seconds in which a process beside others has one of CPU time, at worst */
#define NS UINT64_C(1000000000)

struct worker {
	struct dwarf_job *job; /* NULL: it is idle */
	pid_t pid;
	int fd;	      /* where its answer comes from */
	int requests; /* and its requests for files; -1: it has none */
	uint64_t deadline_ns;
	uint64_t memory;    /* bytes that it may have */
	unsigned int cpu_s; /* seconds likewise */
	struct buf answer;
};

const char *
dwarf_outcome_text(enum dwarf_outcome outcome)
{
	static const char *const texts[] = {
		[DWARF_DONE] = "read",
		[DWARF_NONE] = "there is no debug information in it",
		[DWARF_DAMAGED] = "its debug information is damaged",
		[DWARF_CRASHED] = "the process that read its debug information crashed",
		[DWARF_LATE] = "its debug information took too long to read",
		[DWARF_FAILED] = "there was no memory to read its debug information",
		[DWARF_UNREAD] = "the time for debug information of other users' files is used up",
		[DWARF_REFUSED] =
			("seccomp(2) or another part of the sandbox is refused here, without which "
			 "debug information is not read"),
	};

	return texts[outcome];
}

/* --- the worker's side ------------------------------------------------------------------- */

static int
add_found(void *arg, size_t i, const struct dwarf_frame *frames, size_t nr, bool partial)
{
	return dwarf_answer_add(arg, i, frames, nr, partial);
}

static int
ask_for_split(void *arg, const char *dir, const char *name)
{
	return dwarf_request_ask(*(const int *)arg, dir, name);
}

/*
 * A worker may write: so it has nothing but what it reads (-1: nothing), the pipe, and the socket
 * for its requests.
 */
static void
close_others(int in, int alt, int out, int requests)
{
	const int kept[] = { in, alt, out, requests };
	unsigned int from = 0;

	for (;;) {
		unsigned int next = UINT_MAX;

		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			if (kept[i] >= 0 && (unsigned int)kept[i] >= from &&
			    (unsigned int)kept[i] < next)
				next = (unsigned int)kept[i];
		if (next > from)
			fd_range_close(from, next == UINT_MAX ? next : next - 1);
		if (next == UINT_MAX)
			return;
		from = next + 1;
	}
}

static unsigned int
seconds_of(const struct dwarf_job *job)
{
	return job->seconds ? job->seconds
			    : DWARF_WORKER_S + (unsigned int)(job->n / DWARF_WORKER_ADDRESSES);
}

static void __attribute__((noreturn))
work(const struct worker *w, const struct dwarf_job *job, int out, int requests, pid_t parent)
{
	const struct dwarf_source source = { .fd = job->fd,
					     .alt_fd = job->alt_fd,
					     .split = requests >= 0 ? ask_for_split : NULL,
					     .arg = &requests };
	struct dwarf_answer *answer = NULL;
	struct dwarf_file *file = NULL;
	const uint8_t sandboxed = 1;
	uint32_t lacking = 0;
	int error;

	/* Who no longer answers requests costs the files that were asked for, and no more. */
	(void)signal(SIGPIPE, SIG_IGN);
	close_others(job->fd, job->alt_fd, out, requests);
	dwarf_sandbox_enter(parent, w->memory, w->cpu_s);
	/* Before it has read anything: whatever the file makes of it, it was sandboxed. */
	if (write(out, &sandboxed, 1) != 1)
		_exit(1);
	if (job->before)
		job->before();
	answer = dwarf_answer_new(out);
	error = answer ? dwarf_file_open(&source, &file) : -FMT_E_NOMEM;
	if (error == 0)
		error = dwarf_file_find(file, job->addresses, job->n, add_found, answer, &lacking);
	if (answer)
		dwarf_answer_end(answer, error, lacking);
	_exit(0);
}

/* --- ours -------------------------------------------------------------------------------- */

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

static void
close_pair(const int ends[2])
{
	for (size_t i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

static bool
start(struct worker *w, struct dwarf_job *job)
{
	const pid_t parent = getpid();
	int ends[2] = { -1, -1 }, requests[2] = { -1, -1 };

	if (pipe2(ends, O_CLOEXEC) != 0 || (job->split && dwarf_request_pair(requests) != 0)) {
		close_pair(ends);
		return false;
	}
	/*
	 * Threads of ours may hold locks now, which stay locked in the child. It takes none but malloc()'s, which
	 * fork() leaves open (glibc 2.24, musl 1.2.2): it uses neither stdio nor dlopen(), and symbols are bound
	 * at start (-z now).
	 */
	w->pid = fork();
	if (w->pid == 0)
		work(w, job, ends[1], requests[1], parent);
	if (w->pid < 0) {
		close_pair(ends);
		close_pair(requests);
		return false;
	}
	close(ends[1]);
	if (requests[1] >= 0)
		close(requests[1]);
	w->fd = ends[0];
	w->requests = requests[0];
	w->job = job;
	w->deadline_ns = now_ns() + w->cpu_s * (job->others ? SLOW : 1) * NS;
	buf_init(&w->answer);
	return true;
}

static uint64_t
milliseconds_of(const struct rusage *used)
{
	return (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000 +
		(uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000;
}

/* What became of it, once its answer has ended or it is too late. */
static enum dwarf_outcome
finish(struct worker *w, struct dwarf_budget *budget, bool killed)
{
	struct rusage used = { 0 };
	int status = 0;

	/* Its pipe has ended: it is dying, or pretends to. */
	kill(w->pid, SIGKILL);
	close(w->fd);
	if (w->requests >= 0)
		close(w->requests);
	while (wait4(w->pid, &status, 0, &used) < 0 && errno == EINTR)
		;
	/* One that was waited for in vain, for a slow disk say, has had its time. */
	if (w->job->others && !killed)
		dwarf_budget_return(budget, w->cpu_s, milliseconds_of(&used));
	/* libdw ends the process where there is no memory. */
	if (buf_failed(&w->answer) || (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE))
		return DWARF_FAILED;
	if (killed || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
		return DWARF_LATE;
	if (WIFEXITED(status) && WEXITSTATUS(status) == DWARF_SANDBOX_REFUSED && w->answer.len == 0)
		return DWARF_REFUSED;
	return status != 0 || w->answer.len == 0 ? DWARF_CRASHED : DWARF_DONE;
}

/* Reads what is there. False: there is no more, or there must not be. */
static bool
read_some(struct worker *w)
{
	const uint64_t max = ANSWER_BYTES_FREE + w->job->n * ANSWER_BYTES_EACH;
	uint8_t *to = buf_reserve(&w->answer, READ_BYTES);
	ssize_t n = to && w->answer.len < max ? read(w->fd, to, READ_BYTES) : 0;

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	w->answer.len += (size_t)n;
	return true;
}

struct run {
	struct dwarf_job *jobs;
	size_t nr;
	size_t next[2]; /* to be started: of ours and root's files, of those of others */
	struct dwarf_budget *budget;
	bool again; /* those that a share of the memory was too little for */
	struct worker *workers;
	struct pollfd *polled; /* two of each: its answer, its requests */
	size_t nr_workers;
	dwarf_job_fn *found;
	void *arg;
};

static int
take_answer(struct run *run, struct worker *w, bool killed)
{
	struct dwarf_job *job = w->job;
	int error = 0;

	job->outcome = finish(w, run->budget, killed);
	if (job->outcome == DWARF_DONE)
		error = dwarf_answer_read(span_of(w->answer.p + 1, w->answer.len - 1), job,
					  (size_t)(job - run->jobs), run->found, run->arg);
	buf_done(&w->answer);
	w->job = NULL;
	return error;
}

/* The next job to be started, those of others last; NULL: there is none. */
static struct dwarf_job *
next_job(struct run *run)
{
	for (size_t others = 0; others < 2; others++)
		while (run->next[others] < run->nr) {
			struct dwarf_job *job = &run->jobs[run->next[others]++];

			if (job->others == (others != 0) &&
			    (!run->again || job->outcome == DWARF_FAILED))
				return job;
		}
	return NULL;
}

/* Gives a job its part of the budget, and begins it. */
static void
begin(struct run *run, struct worker *w, struct dwarf_job *job)
{
	w->memory = dwarf_budget_memory(run->budget, job->others, run->nr_workers);
	w->cpu_s = seconds_of(job);
	if (job->others)
		w->cpu_s = dwarf_budget_take(run->budget);
	job->outcome = w->cpu_s ? DWARF_FAILED : DWARF_UNREAD;
	if (w->cpu_s && !start(w, job) && job->others)
		dwarf_budget_return(run->budget, w->cpu_s, 0);
}

/* 1: somebody works, 0: all is done. */
static int
fill(struct run *run)
{
	int busy = 0;

	for (size_t i = 0; i < run->nr_workers; i++) {
		struct worker *w = &run->workers[i];
		struct dwarf_job *job;

		while (!w->job && (job = next_job(run)))
			begin(run, w, job);
		run->polled[2 * i] = (struct pollfd){ .fd = w->job ? w->fd : -1, .events = POLLIN };
		run->polled[2 * i + 1] =
			(struct pollfd){ .fd = w->job ? w->requests : -1, .events = POLLIN };
		busy |= w->job != NULL;
	}
	return busy;
}

/* One that asks for what cannot be gets no more answers, and so has no such files. */
static void
serve(struct worker *w)
{
	if (dwarf_request_serve(w->requests, w->job->split, w->job->split_arg))
		return;
	close(w->requests);
	w->requests = -1;
}

static int
wait_for_some(struct run *run)
{
	uint64_t now = now_ns(), first = UINT64_MAX;
	int error = 0;

	for (size_t i = 0; i < run->nr_workers; i++)
		if (run->workers[i].job && run->workers[i].deadline_ns < first)
			first = run->workers[i].deadline_ns;
	(void)poll(run->polled, 2 * run->nr_workers,
		   first > now ? (int)((first - now) / 1000000) + 1 : 0);
	now = now_ns();
	for (size_t i = 0; !error && i < run->nr_workers; i++) {
		struct worker *w = &run->workers[i];

		if (!w->job)
			continue;
		if (run->polled[2 * i + 1].revents)
			serve(w);
		if (run->polled[2 * i].revents && !read_some(w))
			error = take_answer(run, w, false);
		else if (now >= w->deadline_ns)
			error = take_answer(run, w, true);
	}
	return error;
}

static void
give_up(struct run *run)
{
	for (size_t i = 0; i < run->nr_workers; i++)
		if (run->workers[i].job) {
			(void)finish(&run->workers[i], run->budget, true);
			buf_done(&run->workers[i].answer);
		}
}

/* Those that failed, one at a time, where a share is less than all. */
static int
run_again(struct run *run)
{
	int error = 0;

	run->again = run->nr_workers > 1;
	run->nr_workers = 1;
	run->next[0] = run->next[1] = 0;
	while (run->again && !error && fill(run))
		error = wait_for_some(run);
	return error;
}

int
dwarf_workers_run(struct dwarf_job *jobs, size_t nr, size_t at_once, struct dwarf_budget *budget,
		  dwarf_job_fn *found, void *arg)
{
	struct run run = { .jobs = jobs,
			   .nr = nr,
			   .budget = budget,
			   .nr_workers = at_once < nr ? at_once : nr,
			   .found = found,
			   .arg = arg };
	int error = 0;

	if (nr == 0)
		return 0;
	run.workers = calloc(run.nr_workers, sizeof(*run.workers));
	run.polled = calloc(2 * run.nr_workers, sizeof(*run.polled));
	if (!run.workers || !run.polled)
		error = -FMT_E_NOMEM;
	while (!error && fill(&run))
		error = wait_for_some(&run);
	if (!error)
		error = run_again(&run);
	if (run.workers)
		give_up(&run);
	free(run.workers);
	free(run.polled);
	return error;
}
