/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workers: what they have, that nobody waits for them, and what becomes of those that hang. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/helper/helper.h"
#include "recorder/helper/helper_pool.h"
#include "recorder/helper/helper_rights.h"
#include "recorder/helper/helper_serve.h"
#include "recorder/host/host.h"
#include "recorder/host/proc.h"
#include "recorder/live/live_scan.h"
#include "tests/lab/refused_call.h"

#define LONG_MS 20000

static uint64_t
capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

static void
serve_capabilities(int fd)
{
	char what[sizeof(struct helper_shun)];
	uint64_t have;

	while (helper_take(fd, what, sizeof(what)) > 0) {
		have = capabilities();
		(void)helper_give(fd, &have, sizeof(have), NULL, 0);
	}
}

/* Says how many descriptors it has, or sleeps, or ends, as it is told. */
static void
serve(int fd)
{
	char what[sizeof(struct helper_shun)];

	while (helper_take(fd, what, sizeof(what)) > 0) {
		int open_fds = -1; /* that of the directory */
		DIR *d;

		if (what[0] == 's')
			for (;;)
				(void)pause();
		if (what[0] == 'e')
			return;
		if (what[0] != 'c')
			continue; /* whom to shun */
		d = opendir("/proc/self/fd");
		while (d && readdir(d))
			open_fds++;
		(void)closedir(d);
		open_fds -= 2; /* . and .. */
		(void)helper_give(fd, &open_fds, sizeof(open_fds), "tail", 5);
	}
}

static const struct helper_work work = { serve, 0 };

static ssize_t
wait_for(struct helper *h, void *to, size_t cap)
{
	struct pollfd p = { .fd = helper_fd(h), .events = POLLIN };
	ssize_t n;

	do {
		assert_int_equal(poll(&p, 1, LONG_MS), 1);
		n = helper_receive(h, to, cap);
	} while (n == 0);
	return n;
}

static void
test_answers(void **state)
{
	struct {
		int fds;
		char tail[8];
	} answer;
	struct helper *h;
	int extra = open("/dev/null", O_RDONLY); /* not close-on-exec */

	assert_int_equal(helper_open(&work, &h), 0);
	assert_int_equal(helper_receive(h, &answer, sizeof(answer)), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(helper_send(h, "c", 1, "more", 4), 0);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(wait_for(h, &answer, sizeof(answer)), sizeof(int) + 5);
		/* Its socket and /dev/null; none of ours. */
		assert_int_equal(answer.fds, 4);
		assert_string_equal(answer.tail, "tail");
	}
	assert_true(helper_cpu_ns() > 0);
	helper_close(h);
	close(extra);
}

/* What a worker of this work has, which it says itself; -errno. */
static int64_t
rights_of_worker(uint64_t rights)
{
	const struct helper_work asked = { serve_capabilities, rights };
	uint64_t have = 0;
	struct helper *h;
	int64_t n;
	int r = helper_open(&asked, &h);

	if (r < 0)
		return r;
	n = helper_send(h, "k", 1, NULL, 0);
	if (n == 0)
		n = wait_for(h, &have, sizeof(have));
	helper_close(h);
	return n < 0 ? n : (int64_t)have;
}

/* Each worker has those of its work, and of these what is not needed beside others is gone. */
static void
test_capabilities(void **state)
{
	const uint64_t had = capabilities(),
		       spare = (had & HELPER_RIGHT(CAP_SYS_PTRACE) ? HELPER_RIGHT(CAP_PERFMON)
								   : 0) |
		(had & HELPER_RIGHT(CAP_CHECKPOINT_RESTORE) ? HELPER_RIGHT(CAP_SYS_ADMIN) : 0);

	assert_int_equal(rights_of_worker(0), 0);
	assert_int_equal(rights_of_worker(HELPER_RIGHTS_JIT), had & HELPER_RIGHTS_JIT);
	assert_int_equal(rights_of_worker(HELPER_RIGHTS_FILES), had & HELPER_RIGHTS_FILES & ~spare);
	assert_int_equal(rights_of_worker(HELPER_RIGHTS_STATE), had & HELPER_RIGHTS_STATE & ~spare);
	/* Whatever it is that is asked for, the keeper has no more. */
	assert_int_equal(rights_of_worker(UINT64_MAX), had & HELPER_RIGHTS_STATE & ~spare);
}

/* Another user with these capabilities, ambient ones, as a service of systemd has them. */
static void
become_service(uint64_t rights)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	assert_int_equal(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), 0);
	assert_int_equal(setresuid(65534, 65534, 65534), 0);
	for (int i = 0; i < 2; i++)
		data[i].permitted = data[i].effective = data[i].inheritable =
			(uint32_t)(rights >> 32 * i);
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
	for (unsigned int i = 0; i < 64; i++)
		if (rights >> i & 1)
			assert_int_equal(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0), 0);
}

/* sandbox: under the unit capset(2) is refused: what is ambient is lowered, and the program executed again. */
static void
as_service(void)
{
	const uint64_t unit = HELPER_RIGHTS_JIT | HELPER_RIGHT(CAP_PERFMON) |
		HELPER_RIGHT(CAP_SYSLOG) | HELPER_RIGHT(CAP_CHECKPOINT_RESTORE);

	become_service(unit);
	refused_call(SYS_capset);
	assert_int_equal(rights_of_worker(0), 0);
	assert_int_equal(rights_of_worker(HELPER_RIGHTS_JIT), HELPER_RIGHTS_JIT);
	assert_int_equal(rights_of_worker(HELPER_RIGHTS_STATE),
			 HELPER_RIGHTS_JIT | HELPER_RIGHT(CAP_CHECKPOINT_RESTORE));
	assert_int_equal(rights_of_worker(UINT64_MAX),
			 HELPER_RIGHTS_JIT | HELPER_RIGHT(CAP_CHECKPOINT_RESTORE));
	/* The recorder keeps its own. */
	assert_int_equal(capabilities(), unit);
}

/* sandbox: root has all of them after an exec, too: one that cannot give them up does nothing, and that is said once. */
static void
as_root(void)
{
	struct helper_pool *p = helper_pool_new();
	struct news_line news;
	struct helper *h;

	refused_call(SYS_capset);
	assert_int_equal(rights_of_worker(0), -EPERM);
	for (int i = 0; i < 3; i++)
		assert_int_equal(helper_pool_open(p, &work, &h), -EPERM);
	assert_true(helper_pool_news(p, &news));
	assert_non_null(strstr(news.text, "cannot give up the capabilities"));
	assert_int_equal(news.uid, NEWS_NO_USER);
	assert_false(helper_pool_news(p, &news));
	helper_pool_free(p);
}

static void
in_a_child(void (*what)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		what();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The first test: the children have a keeper of their own. */
static void
test_capset_refused(void **state)
{
	if (getuid() != 0)
		skip();
	in_a_child(as_service);
	in_a_child(as_root);
}

/* A worker that is not heard of, and one that is: only what has slept too long is overdue. */
static void
test_overdue(void **state)
{
	uint64_t now_ns;
	char answer[16];
	struct helper *h;

	assert_int_equal(helper_open(&work, &h), 0);
	assert_int_equal(helper_send(h, "c", 1, "", 0), 0);
	assert_true(wait_for(h, answer, sizeof(answer)) > 0);
	assert_int_equal(helper_send(h, "s", 1, "", 0), 0);
	now_ns = host_now_ns();
	while (!helper_sleeps(h))
		usleep(1000);
	assert_false(helper_pool_overdue(h, now_ns, now_ns + HELPER_ANSWER_NS - 1));
	assert_true(helper_pool_overdue(h, now_ns, now_ns + HELPER_ANSWER_NS));
	helper_kill(h);
	assert_int_equal(wait_for(h, answer, sizeof(answer)), -EPIPE);
	assert_false(helper_sleeps(h));
	helper_close(h);
}

/* That one has ended shows; the next one is there. So it is with the keeper of them all. */
static void
test_ends(void **state)
{
	char answer[16], path[64], text[256];
	struct helper *h;
	pid_t pid, keeper = 0;
	FILE *f;

	assert_int_equal(helper_open(&work, &h), 0);
	assert_int_equal(helper_send(h, "e", 1, "", 0), 0);
	assert_int_equal(wait_for(h, answer, sizeof(answer)), -EPIPE);
	helper_close(h);

	/* Our one child. */
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "r");
	assert_non_null(f);
	while (fscanf(f, "%d", &pid) == 1) {
		keeper = pid;
		snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	}
	fclose(f);
	f = fopen(path, "r");
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, "spoor-helper\n");
	kill(keeper, SIGKILL);
	assert_int_equal(waitpid(keeper, NULL, 0), keeper);
	assert_int_equal(helper_open(&work, &h), 0);
	assert_int_equal(helper_send(h, "c", 1, "", 0), 0);
	assert_true(wait_for(h, answer, sizeof(answer)) > 0);
	helper_close(h);
}

/* Never more than a socket holds, and never waiting. */
static void
test_full(void **state)
{
	char bytes[4096] = "s";
	struct helper *h;
	int r = 0, sent;

	assert_int_equal(helper_open(&work, &h), 0);
	for (sent = 0; sent < 100000 && r == 0; sent++)
		r = helper_send(h, bytes, 1, bytes, sizeof(bytes) - 1);
	assert_int_equal(r, -EAGAIN);
	assert_true(sent > 10);
	helper_close(h);
}

/* Those that are left behind are told of once; a few, and there are no more of them. */
static void
test_left_behind(void **state)
{
	struct helper_pool *p = helper_pool_new();
	char user[32], answer[16];
	struct news_line news;
	struct helper *h;

	snprintf(user, sizeof(user), "user %u", (unsigned)getuid());
	/* Nobody held it up: it may not even be there yet. */
	assert_int_equal(helper_pool_open(p, &work, &h), 0);
	helper_pool_abandon(p, h, getpid(), getuid(), shunned_device(8, 1), "a file");
	assert_int_equal(helper_pool_unanswered(p), 1);
	assert_false(helper_pool_news(p, &news));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(helper_pool_open(p, &work, &h), 0);
		assert_int_equal(helper_send(h, "c", 1, "", 0), 0);
		assert_true(wait_for(h, answer, sizeof(answer)) > 0);
		assert_int_equal(helper_send(h, "s", 1, "", 0), 0);
		while (!helper_sleeps(h))
			usleep(1000);
		helper_pool_abandon(p, h, getpid(), getuid(), shunned_device(8, 1), "a file");
	}
	assert_int_equal(helper_pool_unanswered(p), 2);
	assert_int_equal(helper_pool_unanswered(p), 0);
	assert_true(helper_pool_news(p, &news));
	assert_non_null(strstr(news.text, user));
	assert_non_null(strstr(news.text, "a file"));
	assert_false(helper_pool_news(p, &news));
	helper_pool_free(p);
}

/* Each answer in time, but together too much: of one user, not of several, and not of root. */
static void
test_late(void **state)
{
	const uint64_t most_ns = HELPER_PATIENCE_NS / 2 - 1;
	struct helper_pool *p = helper_pool_new();
	struct news_line news;

	for (uint32_t uid = 5001; uid < 5009; uid++) {
		assert_false(helper_pool_late(p, 1, uid, most_ns, "a file"));
		assert_false(helper_pool_late(p, 2, uid, most_ns, "a file"));
		assert_false(helper_pool_late(p, 3, 0, 100 * most_ns, "a file"));
	}
	/* Any number of short ones. */
	for (int i = 0; i < 1000; i++)
		assert_false(helper_pool_late(p, 4, 5003, HELPER_LATE_NS - 1, "a file"));
	assert_int_equal(helper_pool_unanswered(p), 0);
	assert_false(helper_pool_news(p, &news));
	assert_true(helper_pool_late(p, 4, 5003, HELPER_LATE_NS, "a file"));
	assert_int_equal(helper_pool_unanswered(p), 1);
	assert_true(helper_pool_news(p, &news));
	assert_non_null(strstr(news.text, "process 4 of user 5003"));
	assert_int_equal(news.uid, 5003);
	/* It begins anew, for the others it goes on. */
	assert_false(helper_pool_late(p, 5, 5003, most_ns, "a file"));
	assert_true(helper_pool_late(p, 6, 5004, HELPER_LATE_NS, "a file"));
	helper_pool_free(p);
}

static void
test_shunned(void **state)
{
	struct shunned s = { 0 };

	assert_false(shunned_any(&s, SHUNNED_USER, 5));
	assert_int_equal(shunned_add(&s, SHUNNED_USER, 1000, 6), SHUNNED_NS);
	assert_int_equal(shunned_add(&s, SHUNNED_USER, 1000, 7), 0);
	assert_true(shunned_has(&s, SHUNNED_USER, 1000, 7));
	assert_false(shunned_has(&s, SHUNNED_PROCESS, 1000, 7));
	assert_false(shunned_has(&s, SHUNNED_USER, 1001, 7));
	assert_true(shunned_any(&s, SHUNNED_USER, 7));
	assert_false(shunned_has(&s, SHUNNED_USER, 1000, 6 + SHUNNED_NS));
	assert_int_equal(shunned_add(&s, SHUNNED_USER, 1000, 6 + SHUNNED_NS), SHUNNED_AGAIN_NS);
	for (uint64_t i = 0; i < SHUNNED_MAX; i++)
		assert_int_equal(shunned_add(&s, SHUNNED_PROCESS, i, 1000 + i), SHUNNED_NS);
	/* All but one had room: the one that would have ended first made it. */
	assert_true(shunned_has(&s, SHUNNED_USER, 1000, 7));
	assert_false(shunned_has(&s, SHUNNED_PROCESS, 0, 2000));
	assert_true(shunned_has(&s, SHUNNED_PROCESS, 1, 2000));
	/* As long as it goes on. Who was not shunned is not. */
	shunned_renew(&s, SHUNNED_PROCESS, 1, 5 * SHUNNED_NS);
	shunned_renew(&s, SHUNNED_PROCESS, 123456, 5 * SHUNNED_NS);
	assert_true(shunned_has(&s, SHUNNED_PROCESS, 1, 6 * SHUNNED_NS - 1));
	assert_false(shunned_has(&s, SHUNNED_PROCESS, 1, 6 * SHUNNED_NS));
	assert_false(shunned_has(&s, SHUNNED_PROCESS, 123456, 5 * SHUNNED_NS));
	shunned_renew(&s, SHUNNED_USER, 1000, 7);
	assert_true(shunned_has(&s, SHUNNED_USER, 1000, 2 * SHUNNED_NS));
}

/* Whom one shuns is told of by name; the scan of all others is as it would be without. */
static void
test_scan_without(void **state)
{
	struct event_attr attr = { .size = 112,
				   .sample_type = 1 << 16,
				   .flags = UINT64_C(1) << EVENT_ATTR_sample_id_all };
	struct shunned s = { 0 };
	struct state_stats stats = { 0 };
	struct state_options o = { .attr = &attr, .shunned = &s };
	pid_t self = getpid();
	struct span rest, raw;
	struct perf_record r;
	struct buf b;
	uint64_t nr;

	o.pids = &self;
	o.nr_pids = 1;
	buf_init(&b);
	assert_int_equal(proc_scan(&o, &b, &stats), 0);
	assert_true(stats.maps > 0 && stats.shunned == 0);
	buf_clear(&b);
	shunned_add(&s, SHUNNED_USER, getuid(), host_now_ns());
	stats = (struct state_stats){ 0 };
	assert_int_equal(proc_scan(&o, &b, &stats), 0);
	assert_int_equal(stats.maps, 0);
	assert_int_equal(stats.shunned, 1);
	assert_true(stats.tasks > 0);
	/* The maps that are known of it stay: it is not told of as one that begins. */
	rest = buf_span(&b);
	for (nr = 0; perf_record_next(&rest, &raw) == 1; nr++) {
		assert_int_equal(perf_record_parse(raw, &attr, &r), 0);
		assert_int_equal(r.type, REC_COMM);
	}
	assert_int_equal(nr, stats.tasks);
	buf_done(&b);
}

/* A scan by a helper finds what one would find here. */
static void
test_scan(void **state)
{
	struct event_attr attr = { .size = 112,
				   .sample_type = 1 << 16 | 4, /* IDENTIFIER TIME */
				   .flags = UINT64_C(1) << EVENT_ATTR_sample_id_all };
	struct helper_pool *p = helper_pool_new();
	struct live_scan *s = live_scan_new(p);
	struct state_options o = { .attr = &attr, .id = 5 };
	struct state_stats here = { 0 };
	pid_t self = getpid();
	uint64_t began_ns = host_now_ns(), time_ns;
	struct perf_record r;
	struct span rest, raw;
	struct buf b, local;

	o.pids = &self;
	o.nr_pids = 1;
	buf_init(&b);
	buf_init(&local);
	assert_int_equal(proc_scan(&o, &local, &here), 0);
	assert_int_equal(live_scan_begin(s, &o), 0);
	assert_true(live_scan_on(s));
	time_ns = live_scan_safe_ns(s);
	assert_in_range(time_ns, began_ns, host_now_ns());
	while (live_scan_on(s)) {
		struct pollfd wait = { .fd = live_scan_fd(s), .events = POLLIN };

		(void)poll(&wait, 1, 1000);
		assert_int_equal(live_scan_take(s, &b), 0);
	}
	assert_int_equal(live_scan_stats(s)->maps, here.maps);
	assert_int_equal(live_scan_stats(s)->tasks, here.tasks);
	assert_true(b.len > 0);
	assert_int_equal(live_scan_safe_ns(s), UINT64_MAX);
	/* As if all had been asked at once, when it began: samples that come meanwhile are later. */
	rest = buf_span(&b);
	while (perf_record_next(&rest, &raw) == 1) {
		assert_int_equal(perf_record_parse(raw, &attr, &r), 0);
		assert_int_equal(r.sid.time, time_ns);
	}
	buf_done(&b);
	buf_done(&local);
	live_scan_free(s);
	helper_pool_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capset_refused), cmocka_unit_test(test_answers),
		cmocka_unit_test(test_overdue),	       cmocka_unit_test(test_ends),
		cmocka_unit_test(test_full),	       cmocka_unit_test(test_shunned),
		cmocka_unit_test(test_scan_without),   cmocka_unit_test(test_scan),
		cmocka_unit_test(test_left_behind),    cmocka_unit_test(test_late),
		cmocka_unit_test(test_capabilities),
	};

	return cmocka_run_group_tests_name("helper", tests, NULL, NULL);
}
