/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scan of /proc against processes of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/model/task_model.h"
#include "recorder/host/buildid_cache.h"
#include "recorder/host/host.h"
#include "recorder/host/host_kallsyms.h"
#include "recorder/host/proc.h"
#include "recorder/host/proc_look.h"
#include "recorder/host/state.h"
#include "tests/lab/child_lab.h"

static const struct event_attr attr = {
	.size = 64,
	.sample_type = 2 | 4 | 128 | 1 << 16, /* TID, TIME, CPU, IDENTIFIER */
	.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
};

static void
test_map_lines(void **state)
{
	static const struct {
		const char *line;
		struct proc_map want;
	} good[] = {
		{ "55d278e81000-55d278e86000 r-xp 00002000 fe:01 247134      /usr/bin/cat",
		  { 0x55d278e81000, 0x55d278e86000, 0x2000, 5, MAP_PRIVATE, 0xfe, 1, 247134,
		    "/usr/bin/cat" } },
		{ "1000-2000 rw-s 00000000 00:00 0 ",
		  { 0x1000, 0x2000, 0, 3, MAP_SHARED, 0, 0, 0, "//anon" } },
		{ "1000-2000 ---p 00000000 00:00 0",
		  { 0x1000, 0x2000, 0, 0, MAP_PRIVATE, 0, 0, 0, "//anon" } },
		{ "1000-2000 --xp 00000000 103:0a 7   /a b (deleted)",
		  { 0x1000, 0x2000, 0, 4, MAP_PRIVATE, 0x103, 10, 7, "/a b (deleted)" } },
		{ "1000-2000 r-xp 00000000 00:00 0    [vdso]",
		  { 0x1000, 0x2000, 0, 5, MAP_PRIVATE, 0, 0, 0, "[vdso]" } },
		{ "1000-2000 r-xp 00000000 00:00 0    [anon:jit]",
		  { 0x1000, 0x2000, 0, 5, MAP_PRIVATE, 0, 0, 0, "//anon" } },
		{ "1000-2000 r-xp 00000000 08:01 9    /x\\012y\\134z",
		  { 0x1000, 0x2000, 0, 5, MAP_PRIVATE, 8, 1, 9, "/x\ny\\134z" } },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]",
		  { 0xffffffffff600000, 0xffffffffff601000, 0, 4, MAP_PRIVATE, 0, 0, 0,
		    "[vsyscall]" } },
	};
	static const char *const bad[] = { "",
					   "x",
					   "1000",
					   "1000-",
					   "1000-2000",
					   "1000-2000 r-xp",
					   "1000-2000 r-x 0 0:0 0",
					   "2000-1000 r-xp 0 0:0 0 /a",
					   "1000-2000 r-xp zz 0:0 0 /a",
					   "-1000-2000 r-xp 0 0:0 0" };
	char line[256];
	struct proc_map m;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct proc_map *w = &good[i].want;

		snprintf(line, sizeof(line), "%s", good[i].line);
		assert_int_equal(proc_map_parse(line, &m), 0);
		assert_int_equal(m.start, w->start);
		assert_int_equal(m.end, w->end);
		assert_int_equal(m.pgoff, w->pgoff);
		assert_int_equal(m.prot, w->prot);
		assert_int_equal(m.flags, w->flags);
		assert_int_equal(m.maj, w->maj);
		assert_int_equal(m.min, w->min);
		assert_int_equal(m.ino, w->ino);
		assert_string_equal(m.path, w->path);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(line, sizeof(line), "%s", bad[i]);
		assert_int_equal(proc_map_parse(line, &m), -EINVAL);
	}
}

/* A child with a name, a thread with another, and an executable map of a file we know. */
struct child {
	pid_t pid, tid;
	uint64_t anon;
};

static void *
thread_body(void *arg)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	prctl(PR_SET_NAME, "second thread of it");
	(void)!write(*(int *)arg, &tid, sizeof(tid));
	pause();
	return NULL;
}

static void
child_body(void *up)
{
	pthread_t t;
	uint64_t anon;

	prctl(PR_SET_NAME, "spoor child");
	anon = (uintptr_t)mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
	(void)!write(*(int *)up, &anon, sizeof(anon));
	pthread_create(&t, NULL, thread_body, up);
}

static struct child
child_start(void)
{
	struct child c = { 0 };
	int up[2];

	assert_int_equal(pipe(up), 0);
	c.pid = child_lab_start(getuid(), child_body, &up[1]);
	assert_int_equal(read(up[0], &c.anon, sizeof(c.anon)), sizeof(c.anon));
	assert_int_equal(read(up[0], &c.tid, sizeof(c.tid)), sizeof(c.tid));
	close(up[0]);
	close(up[1]);
	return c;
}

/* The model that the records make; checks what holds for each of them. */
static struct task_model *
model_of(const struct buf *b, uint64_t time_ns, uint64_t id)
{
	struct task_model *m = task_model_new();
	struct span s = buf_span(b), raw;
	struct perf_record r;

	while (perf_record_next(&s, &raw) == 1) {
		assert_int_equal(perf_record_parse(raw, &attr, &r), 0);
		assert_int_equal(r.sid.time, time_ns);
		assert_int_equal(r.sid.id, id);
		if (r.type == REC_MMAP2)
			assert_true(r.mmap.prot & PROT_EXEC);
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	assert_int_equal(s.len, 0);
	return m;
}

/* Every executable line of /proc/PID/maps is in the model, and nothing else. */
static void
check_maps(const struct task_model *m, pid_t pid)
{
	struct task_model_stats st;
	size_t lines = 0, cap = 0;
	char path[64], *line = NULL;
	struct proc_map p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (getline(&line, &cap, f) > 0) {
		const struct task_map *map;

		line[strcspn(line, "\n")] = '\0';
		assert_int_equal(proc_map_parse(line, &p), 0);
		map = task_model_map(m, (uint32_t)pid, p.start);
		if (!(p.prot & PROT_EXEC)) {
			assert_null(map);
			continue;
		}
		lines++;
		assert_non_null(map);
		assert_int_equal(map->start, p.start);
		assert_int_equal(map->end, p.end);
		assert_int_equal(map->pgoff, p.pgoff);
		assert_int_equal(map->prot, p.prot);
		assert_string_equal(map->object->path, p.path);
		if (p.path[0] == '/' && p.path[1] != '/') {
			struct io_source *file = io_source_fd(open(p.path, O_RDONLY));
			struct buildid id;

			assert_non_null(file);
			if (buildid_read(file, &id) == 0 && id.kind == BUILDID_GNU)
				assert_int_equal(buildid_cmp(&map->object->build_id, &id), 0);
			else
				assert_int_equal(map->object->ino, p.ino);
			file->close(file);
		}
	}
	task_model_stats(m, &st);
	assert_int_equal(st.maps, lines);
	assert_true(lines >= 2);
	free(line);
	fclose(f);
}

/* FORK, NAMESPACES, COMM, MMAP2s; then the other thread's FORK and COMM. */
static void
check_order(const struct buf *b, const struct child *c)
{
	static const char *const ns[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	static const uint32_t order[] = { REC_FORK, REC_NAMESPACES, REC_COMM };
	struct span s = buf_span(b), raw;
	struct perf_record r;
	struct stat st;
	char path[64];

	for (int i = 0; i < 3; i++) {
		assert_int_equal(perf_record_next(&s, &raw), 1);
		assert_int_equal(perf_record_parse(raw, &attr, &r), 0);
		assert_int_equal(r.type, order[i]);
		assert_int_equal(r.sid.pid, c->pid);
		if (r.type == REC_FORK) {
			assert_int_equal(r.task.ppid, getpid());
			assert_true(r.misc & TASK_MISC_FORK_FRESH);
		}
		for (size_t n = 0; r.type == REC_NAMESPACES && n < 7; n++) {
			snprintf(path, sizeof(path), "/proc/%d/ns/%s", c->pid, ns[n]);
			if (stat(path, &st) == 0)
				assert_int_equal(span_word(r.namespaces.links, n * 2 + 1),
						 st.st_ino);
		}
	}
	while (perf_record_next(&s, &raw) == 1) {
		assert_int_equal(perf_record_parse(raw, &attr, &r), 0);
		if (r.type != REC_MMAP2)
			break;
	}
	assert_int_equal(r.type, REC_FORK);
	assert_int_equal(r.task.tid, c->tid);
	assert_int_equal(r.task.ppid, c->pid);
}

static int
scan_process(const struct state_options *options, pid_t pid, struct buf *out,
	     struct state_stats *stats)
{
	struct state_options o = *options;

	o.pids = &pid;
	o.nr_pids = 1;
	return proc_scan(&o, out, stats);
}

static void
test_process(void **state)
{
	/* A file that changed later than that would be another one than was mapped. */
	const uint64_t now = host_now_ns();
	struct state_options o = { .attr = &attr, .id = 42, .time_ns = now };
	struct state_stats stats = { 0 };
	struct child c = child_start();
	struct task_model *m;
	struct buf b;

	o.buildids = buildid_cache_new();
	buf_init(&b);
	assert_int_equal(scan_process(&o, c.pid, &b, &stats), 0);
	assert_int_equal(stats.tasks, 2);
	assert_true(stats.build_ids > 0);
	check_order(&b, &c);
	m = model_of(&b, now, 42);
	assert_string_equal(task_model_task(m, (uint32_t)c.pid, (uint32_t)c.pid)->comm,
			    "spoor child");
	assert_string_equal(task_model_task(m, (uint32_t)c.pid, (uint32_t)c.tid)->comm,
			    "second thread o");
	assert_string_equal(task_model_map(m, (uint32_t)c.pid, c.anon)->object->path, "//anon");
	check_maps(m, c.pid);
	assert_int_equal(proc_look_tgid(c.tid), c.pid);
	task_model_free(m);
	buf_done(&b);

	/* Asked for by thread and by process: told once. */
	pid_t pids[] = { c.tid, c.pid, 0x7ffffff0 };

	o.pids = pids;
	o.nr_pids = 3;
	buf_init(&b);
	stats = (struct state_stats){ 0 };
	assert_int_equal(proc_scan(&o, &b, &stats), 0);
	assert_int_equal(stats.tasks, 2);
	m = model_of(&b, now, 42);
	check_maps(m, c.pid);
	task_model_free(m);
	child_lab_end(c.pid);
	b.len = 0;
	assert_int_equal(scan_process(&o, c.pid, &b, &stats), 0);
	assert_int_equal(b.len, 0);
	assert_int_equal(proc_look_tgid(c.pid), -ESRCH);
	buf_done(&b);
	buildid_cache_free(o.buildids);
}

static void
test_whole_state(void **state)
{
	struct state_options o = { .attr = &attr, .id = 7, .time_ns = 5 };
	struct child c = child_start();
	struct state_stats stats = { 0 };
	const struct kallsyms *k = NULL;
	struct host_modules modules;
	struct task_model *m;
	struct buf b;

	assert_int_equal(host_modules_read(NULL, &modules), 0);
	if (host_kallsyms_load(NULL, &modules, &k) == 0)
		o.kernel = k;
	buf_init(&b);
	assert_int_equal(state_scan_kernel(&o, &modules, &b), 0);
	assert_int_equal(state_scan(&o, &b, &stats), 0);
	assert_true(stats.tasks >= 3);
	assert_int_equal(stats.build_ids, 0);
	m = model_of(&b, 5, 7);
	assert_string_equal(task_model_task(m, (uint32_t)c.pid, (uint32_t)c.pid)->comm,
			    "spoor child");
	assert_non_null(task_model_task(m, (uint32_t)getpid(), (uint32_t)getpid()));
	assert_non_null(task_model_map(m, (uint32_t)getpid(), (uintptr_t)test_whole_state));
	if (k && kallsyms_address(k, "_text"))
		assert_string_equal(task_model_map(m, TASK_PID_KERNEL, kallsyms_address(k, "_text"))
					    ->object->path,
				    "[kernel.kallsyms]_text");
	for (size_t i = 0; i < modules.nr; i++)
		assert_memory_equal(
			task_model_map(m, TASK_PID_KERNEL, modules.ranges[i].start)->object->path +
				1,
			modules.ranges[i].name, strlen(modules.ranges[i].name));
	host_modules_done(&modules);
	child_lab_end(c.pid);
	task_model_free(m);
	buf_done(&b);
	host_kallsyms_release(k);
}

/* Processes that come and go under the scan's feet. */
static void
test_races(void **state)
{
	struct state_options o = { .attr = &attr, .id = 7, .time_ns = 5 };
	pid_t storm = fork();

	if (storm == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			pid_t p = fork();

			if (p == 0)
				_exit(0);
			waitpid(p, NULL, 0);
		}
	}
	for (int i = 0; i < 20; i++) {
		struct state_stats stats = { 0 };
		struct buf b;

		buf_init(&b);
		assert_int_equal(state_scan(&o, &b, &stats), 0);
		task_model_free(model_of(&b, 5, 7));
		buf_done(&b);
	}
	child_lab_end(storm);
}

/* Its EXIT was told; another one does not come. */
static void
test_zombie(void **state)
{
	const struct state_options o = { .attr = &attr };
	struct state_stats stats = { 0 };
	struct buf out;
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	buf_init(&out);
	assert_int_equal(scan_process(&o, pid, &out, &stats), 0);
	assert_int_equal(out.len, 0);
	buf_done(&out);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_lines),   cmocka_unit_test(test_process),
		cmocka_unit_test(test_whole_state), cmocka_unit_test(test_races),
		cmocka_unit_test(test_zombie),
	};

	return cmocka_run_group_tests_name("proc", tests, NULL, NULL);
}
