/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live model: what it makes of records as they pass, and what it writes beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/block/buildids.h"
#include "format/block/jitsyms.h"
#include "format/block/ksyms.h"
#include "format/bytes/kallsyms.h"
#include "format/record/record_build.h"
#include "format/recording/recording_reader.h"
#include "recorder/host/host.h"
#include "recorder/live/live.h"
#include "tests/lab/attr_encode.h"
#include "tests/lab/child_lab.h"
#include "tests/lab/inode_lab.h"
#include "tests/lab/record_sample.h"
#include "tests/lab/recording_maker.h"

#define ID 77
#define WAIT_NS UINT64_C(10000000000) /* for a helper, on a busy machine */

struct fixture {
	struct recording_meta *meta;
	struct event_attr attr;
	struct live *live;
};

static void
setup_with(struct fixture *f, struct live_options o)
{
	uint8_t raw[ATTR_ENCODE_MAX];
	int len;

	f->meta = recording_meta_new();
	f->attr = (struct event_attr){
		.size = 112,
		.sample_type = 1 | 2 | 4 | 32 | 128 |
			1 << 16, /* IP TID TIME CALLCHAIN CPU IDENTIFIER */
		.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
	};
	len = attr_encode(&f->attr, raw);
	assert_int_equal(event_set_add(f->meta->events, span_of(raw, (size_t)len), "side", NULL),
			 0);
	assert_int_equal(event_set_add_id(f->meta->events, 0, ID), 0);
	o.events = f->meta->events;
	assert_int_equal(live_open(&o, &f->live), 0);
	assert_int_equal(host_describe(f->meta, live_kallsyms(f->live)), 0);
}

static void
setup(struct fixture *f, const pid_t *pids, size_t nr_pids)
{
	setup_with(f, (struct live_options){ .pids = pids, .nr_pids = nr_pids });
}

static void
teardown(struct fixture *f)
{
	live_close(f->live);
	recording_meta_free(f->meta);
}

/* Until nothing is to come any more. */
static int
take_all(struct live *l, struct buf *out)
{
	uint64_t until_ns = host_now_ns() + WAIT_NS;
	struct pollfd p = { .events = POLLIN };
	int rc = live_take(l, host_now_ns(), out);

	while (!rc && (live_scanning(l) || live_waiting(l)) && host_now_ns() < until_ns) {
		p.fd = live_fd(l);
		(void)poll(&p, 1, 20);
		rc = live_take(l, host_now_ns(), out);
	}
	return rc;
}

static void
show(struct fixture *f, const struct buf *b)
{
	struct span s = buf_span(b), raw;
	struct perf_record r;

	while (perf_record_next(&s, &raw) == 1) {
		assert_int_equal(event_set_parse(f->meta->events, raw, &r, NULL), 0);
		live_record(f->live, &r);
	}
}

static int
collect(void *arg, struct span records)
{
	buf_append(arg, records.p, records.len);
	return 0;
}

static void
show_comm(struct fixture *f, uint64_t time, uint32_t pid, const char *comm)
{
	struct perf_sample_id sid = { .pid = pid, .tid = pid, .time = time, .id = ID };
	struct buf b;

	buf_init(&b);
	record_build_comm(&b, &f->attr, &sid, pid, pid, comm, 0);
	show(f, &b);
	buf_done(&b);
}

static const char *
comm_of(const struct fixture *f, pid_t pid)
{
	const struct task *t = task_model_task(live_model(f->live), (uint32_t)pid, (uint32_t)pid);

	return t ? t->comm : "-";
}

static void
test_order(void **state)
{
	struct fixture f;

	setup(&f, NULL, 0);
	show_comm(&f, 300, 5, "third");
	show_comm(&f, 100, 5, "first");
	show_comm(&f, 200, 5, "second");
	assert_string_equal(comm_of(&f, 5), "-");
	assert_int_equal(live_pass(f.live, 100), 0);
	assert_string_equal(comm_of(&f, 5), "-");
	assert_int_equal(live_pass(f.live, 201), 0);
	assert_string_equal(comm_of(&f, 5), "second");
	show_comm(&f, 250, 5, "late");
	assert_int_equal(live_pass(f.live, 260), 0);
	assert_string_equal(comm_of(&f, 5), "late");
	assert_int_equal(live_pass(f.live, UINT64_MAX), 0);
	assert_string_equal(comm_of(&f, 5), "third");
	teardown(&f);
}

/* The state of a file: a scan, or later a snapshot and what has not been applied yet. */
static void
test_states(void **state)
{
	uint64_t now = host_now_ns();
	struct fixture f, g;
	struct buf b;

	setup(&f, NULL, 0);
	buf_init(&b);
	assert_int_equal(live_scan(f.live, &b), 0);
	assert_int_equal(take_all(f.live, &b), 0);
	now = host_now_ns();
	assert_int_equal(live_pass(f.live, now + 1), 0);
	assert_string_not_equal(comm_of(&f, getpid()), "-");
	assert_non_null(
		task_model_map(live_model(f.live), (uint32_t)getpid(), (uintptr_t)test_states));
	show_comm(&f, now + 50, 0x7ffffff, "waiting");

	buf_clear(&b);
	assert_int_equal(live_snapshot(f.live, collect, &b), 0);
	setup(&g, NULL, 0);
	show(&g, &b);
	assert_int_equal(live_pass(g.live, now + 10), 0);
	assert_string_equal(comm_of(&g, getpid()), comm_of(&f, getpid()));
	assert_non_null(
		task_model_map(live_model(g.live), (uint32_t)getpid(), (uintptr_t)test_states));
	assert_string_equal(comm_of(&g, 0x7ffffff), "-");
	assert_int_equal(live_pass(g.live, now + 100), 0);
	assert_string_equal(comm_of(&g, 0x7ffffff), "waiting");
	buf_done(&b);
	teardown(&g);
	teardown(&f);
}

/* Side-band was lost: who came is known again, who went is gone. */
static void
test_resync(void **state)
{
	pid_t gone = child_lab_start(getuid(), NULL, NULL), come, self = getpid();

	for (int restricted = 0; restricted < 2; restricted++) {
		uint64_t now = host_now_ns();
		struct fixture f;
		struct buf b;

		setup(&f, &self, restricted);
		buf_init(&b);
		assert_int_equal(live_scan(f.live, &b), 0);
		assert_int_equal(take_all(f.live, &b), 0);
		now = host_now_ns();
		if (restricted)
			show_comm(&f, now, (uint32_t)gone, "from a record");
		assert_int_equal(live_pass(f.live, now + 1), 0);
		assert_false(
			task_model_task(live_model(f.live), (uint32_t)gone, (uint32_t)gone)->exited);
		come = child_lab_start(getuid(), NULL, NULL);
		child_lab_end(gone);
		now = host_now_ns();
		buf_clear(&b);
		assert_int_equal(live_resync(f.live, now), 0);
		assert_int_equal(take_all(f.live, &b), 0);
		now = host_now_ns();
		assert_true(b.len > 0);
		assert_int_equal(live_pass(f.live, now + 1), 0);
		assert_true(
			task_model_task(live_model(f.live), (uint32_t)gone, (uint32_t)gone)->exited);
		assert_false(
			task_model_task(live_model(f.live), (uint32_t)self, (uint32_t)self)->exited);
		if (!restricted)
			assert_string_not_equal(comm_of(&f, come), "-");
		buf_done(&b);
		teardown(&f);
		gone = come;
	}
	child_lab_end(gone);
}

static uint32_t
jit_map(const char *text, pid_t pid)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	if (!text) {
		unlink(path);
		return 0;
	}
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	return (uint32_t)pid;
}

/* What the names are that a file gets by now, as "PID/BEGAN NAME,"; in their order. */
static uint64_t jit_began_ns;

static const char *
jit_names(struct fixture *f)
{
	static char text[512];
	struct memory_file file = { 0 };
	struct recording_writer *w;
	struct recording_reader *r;
	struct jitsym s;
	struct block b;
	size_t n = 0;

	text[0] = 0;
	assert_int_equal(recording_writer_open(memory_sink(&file), f->meta, NULL, &w, NULL), 0);
	assert_int_equal(live_write_names(f->live, w, NULL), 0);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	assert_int_equal(recording_reader_open(io_source_memory(file.p, file.n), &r, NULL), 0);
	while (recording_reader_next(r, NULL, NULL, &b, NULL) == 1) {
		size_t cursor = 0;

		while (b.header.type == BLOCK_JIT && jitsyms_next(b.payload, &cursor, &s) == 1)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llu %.*s,",
					      s.pid == 0 ? "nobody" : "",
					      (unsigned long long)(s.began_ns - jit_began_ns),
					      (int)s.name_len, s.name);
	}
	recording_reader_close(r);
	memory_file_done(&file);
	return text;
}

static const char *
jit_names_soon(struct fixture *f)
{
	const uint64_t until_ns = host_now_ns() + WAIT_NS;
	struct buf state;

	buf_init(&state);
	live_hurry(f->live);
	do
		assert_int_equal(live_take(f->live, host_now_ns(), &state), 0);
	while (live_hurrying(f->live) && host_now_ns() < until_ns);
	buf_done(&state);
	return jit_names(f);
}

static void
jit_hit_at(struct fixture *f, uint32_t pid, uint64_t first, uint64_t second, uint64_t time_ns)
{
	const uint64_t words[] = { (uint64_t)-512, first, second };
	const struct sample_glance g = { .misc = 2,
					 .ip = first,
					 .time = time_ns,
					 .pid = pid,
					 .callchain = span_of(words, sizeof(words)) };

	live_sample(f->live, &g);
}

static void
jit_hit(struct fixture *f, uint32_t pid, uint64_t first, uint64_t second)
{
	jit_hit_at(f, pid, first, second, host_now_ns());
}

static void
jit_maps(struct fixture *f, uint32_t pid, uint64_t start, const char *path)
{
	const struct perf_sample_id sid = { .pid = pid, .tid = pid, .time = jit_began_ns, .id = ID };
	const struct perf_mmap m = { .pid = pid,
				     .tid = pid,
				     .addr = start,
				     .len = 0x10000,
				     .prot = 5,
				     .flags = 2,
				     .filename = path };
	struct buf b;

	buf_init(&b);
	assert_int_equal(record_build_mmap2(&b, &f->attr, &sid, &m, 2), 0);
	show(f, &b);
	buf_done(&b);
}

static void
jit_exits(struct fixture *f, uint32_t pid, uint64_t ended_ns)
{
	const struct perf_sample_id sid = { .pid = pid, .tid = pid, .time = ended_ns, .id = ID };
	struct buf b;

	buf_init(&b);
	assert_int_equal(record_build_exit(&b, &f->attr, &sid, pid, 1, pid, 1, sid.time), 0);
	show(f, &b);
	buf_done(&b);
}

static int
nothing(void *arg, struct span records)
{
	(void)arg;
	(void)records;
	return 0;
}

/* Names of what was hit, once in each file; also when the process has ended. */
static void
test_jit(void **state)
{
	struct fixture f;
	pid_t child = fork();
	uint64_t ended_ns;
	uint32_t pid;

	if (child == 0) {
		pause();
		_exit(0);
	}
	pid = jit_map("10000 100 hit\n10100 100 caller\n10200 100 unhit\n", child);
	jit_began_ns = host_now_ns();
	setup(&f, NULL, 0);
	/* Of another process, which had the number before. */
	jit_hit_at(&f, pid, 0x10010, 0x10211, jit_began_ns - 1);
	/* Its ring was read before the one with the maps. */
	jit_hit(&f, pid, 0x10000, 0x10101);
	jit_maps(&f, pid, 0x10000, "//anon");
	jit_maps(&f, pid, 0x90000, "/usr/bin/true");
	assert_string_equal(jit_names_soon(&f), "0 hit,0 caller,");
	jit_hit(&f, pid, 0x90000, 0x50);
	assert_string_equal(jit_names_soon(&f), "");
	jit_hit(&f, pid, 0x10000, 0x10001);
	assert_string_equal(jit_names_soon(&f), "");
	/* Another file. */
	assert_int_equal(live_snapshot(f.live, nothing, NULL), 0);
	jit_hit(&f, pid, 0x10000, 0x10001);
	assert_string_equal(jit_names_soon(&f), "0 hit,");
	/* By what was opened while it was there. */
	jit_hit(&f, pid, 0x10010, 0x10211);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	ended_ns = host_now_ns();
	usleep(50000); /* the clock of files has ticks */
	assert_string_equal(jit_names_soon(&f), "0 unhit,");
	/* What was written since is of the next one with its number. */
	jit_map("10000 100 hit\n10100 100 caller\n10200 100 unhit\n10300 100 next\n", child);
	jit_hit(&f, pid, 0x10010, 0x10311);
	jit_exits(&f, pid, ended_ns);
	assert_string_equal(jit_names_soon(&f), "");
	jit_map(NULL, child);
	teardown(&f);
}

static int
before_close(void *arg, struct recording_writer *w, struct fmt_where *where)
{
	return live_before_close(arg, w, where);
}

static void
on_sample(void *arg, const struct sample_glance *sample)
{
	live_sample(arg, sample);
}

static bool
on_record(void *arg, const struct perf_record *r, int event)
{
	(void)event;
	live_record(arg, r);
	return true;
}

/* What the file said before its records. */
struct told {
	bool inode, vdso;
	int symbol, ksyms, buildids, records; /* how many */
};

static struct told
read_back(int fd, const char *symbol, uint64_t ino, const struct buildid *id)
{
	struct recording_reader *r;
	struct told t = { 0 };
	struct block b;

	assert_int_equal(recording_reader_open(io_source_fd(dup(fd)), &r, NULL), 0);
	while (recording_reader_next(r, NULL, NULL, &b, NULL) == 1) {
		struct buildid_entry e;
		size_t cursor = 0;
		struct ksym k;

		t.records += b.header.type == BLOCK_RECORDS;
		if (b.header.type == BLOCK_KSYMS) {
			t.ksyms++;
			assert_true(t.records < t.ksyms);
			while (ksyms_next(b.payload, &cursor, &k) == 1)
				t.symbol += k.name_len == strlen(symbol) &&
					memcmp(k.name, symbol, k.name_len) == 0;
		}
		if (b.header.type == BLOCK_BUILDIDS) {
			t.buildids++;
			while (buildids_next(b.payload, &cursor, &e) == 1) {
				t.vdso |= e.path_len == 6 && memcmp(e.path, "[vdso]", 6) == 0;
				t.inode |= e.ino == ino && buildid_cmp(&e.id, id) == 0;
			}
		}
	}
	assert_true(recording_health_clean(recording_reader_health(r)));
	recording_reader_close(r);
	return t;
}

/* A record of a map of libc, as the kernel makes it when it has no build-id. */
static void
build_map(struct fixture *f, struct buf *b, uint64_t time, struct perf_mmap *ret)
{
	struct perf_sample_id sid = {
		.pid = (uint32_t)getpid(), .tid = (uint32_t)getpid(), .time = time, .id = ID
	};
	unsigned long long start, end, off, ino;
	unsigned int maj, min;
	char line[4352], path[4096];
	FILE *p = fopen("/proc/self/maps", "r");

	assert_non_null(p);
	while (fgets(line, sizeof(line), p))
		if (sscanf(line, "%llx-%llx r-xp %llx %x:%x %llu %4095s", &start, &end, &off, &maj,
			   &min, &ino, path) == 7 &&
		    strstr(path, "/libc"))
			break;
	fclose(p);
	*ret = (struct perf_mmap){ .pid = sid.pid,
				   .tid = sid.pid,
				   .addr = start,
				   .len = end - start,
				   .pgoff = off,
				   .maj = maj,
				   .min = min,
				   .ino = ino,
				   .ino_generation = lab_generation(path),
				   .prot = 5,
				   .flags = 2,
				   .filename = path };
	assert_int_equal(record_build_mmap2(b, &f->attr, &sid, ret, 2), 0);
	ret->filename = NULL;
}

static void
build_sample(struct fixture *f, struct buf *b, uint64_t time, uint64_t ip)
{
	uint64_t chain[2] = { (uint64_t)-128, ip };
	struct perf_sample_id sid = { .time = time, .id = ID };
	struct perf_sample s = { .have = f->attr.sample_type,
				 .ip = ip,
				 .callchain = span_of(chain, 16) };

	assert_int_equal(record_sample_build(b, &sid, &s, 1), 0);
}

/* The model follows late, or when enough has come. */
static void
test_due(void **state)
{
	const uint64_t second = 1000000000, start = host_now_ns();
	struct perf_mmap map;
	struct fixture f;
	size_t bytes = 0;
	struct buf b;

	setup(&f, NULL, 0);
	buf_init(&b);
	assert_int_equal(live_pass(f.live, start), 0);
	assert_false(live_due(f.live, start));
	show_comm(&f, start, 5, "slow");
	assert_false(live_due(f.live, start + 4 * second));
	assert_true(live_due(f.live, start + 5 * second));
	assert_int_equal(live_pass(f.live, start + 5 * second), 0);
	assert_false(live_due(f.live, start + 6 * second));
	assert_string_equal(comm_of(&f, 5), "slow");

	/* Not sooner for a build-id, which needs no model. */
	build_map(&f, &b, start + 6 * second, &map);
	show(&f, &b);
	assert_false(live_due(f.live, start + 6 * second));

	for (uint32_t pid = 10; !live_due(f.live, start + 7 * second); pid++) {
		show_comm(&f, start + 7 * second, pid, "flood");
		bytes += 40;
		assert_true(bytes < 1 << 20);
	}
	assert_true(bytes > 64 << 10);
	assert_int_equal(live_pass(f.live, start + 7 * second + 1), 0);
	assert_false(live_due(f.live, start + 8 * second));
	buf_done(&b);
	teardown(&f);
}

/* A file is read when its map is seen, and not when the model gets there. */
static void
test_file_that_goes(void **state)
{
	struct perf_sample_id sid = { .pid = 77, .tid = 77, .id = ID };
	char path[] = "/tmp/test_live.file.XXXXXX";
	struct buildid want = { 0 };
	struct io_source *exe;
	struct perf_mmap map;
	struct fixture f;
	struct stat st;
	char bytes[65536];
	struct buf b;
	int fd = mkstemp(path);

	exe = io_source_fd(open("/proc/self/exe", O_RDONLY));
	assert_int_equal(buildid_read(exe, &want), 0);
	assert_int_equal(exe->read(exe, 0, bytes, sizeof(bytes)), sizeof(bytes));
	exe->close(exe);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	usleep(20000);
	setup(&f, NULL, 0);
	buf_init(&b);
	sid.time = host_now_ns();
	map = (struct perf_mmap){ .pid = 77,
				  .tid = 77,
				  .addr = 4096,
				  .len = 4096,
				  .maj = major(st.st_dev),
				  .min = minor(st.st_dev),
				  .ino = st.st_ino,
				  .prot = PROT_EXEC,
				  .filename = path };
	assert_int_equal(record_build_mmap2(&b, &f.attr, &sid, &map, 2), 0);
	show(&f, &b);
	assert_int_equal(take_all(f.live, &b), 0);
	unlink(path);
	assert_int_equal(live_pass(f.live, sid.time + 1), 0);
	assert_int_equal(
		buildid_cmp(&task_model_map(live_model(f.live), 77, 4096)->object->build_id, &want),
		0);
	buf_done(&b);
	teardown(&f);
}

/* One who maps new files without end keeps no others from being heard. */
static void
test_crowd(void **state)
{
	struct perf_sample_id sid = { .id = ID };
	pid_t child = child_lab_start(geteuid() == 0 ? 4711 : getuid(), NULL, NULL);
	struct perf_mmap map;
	struct fixture f;
	struct buf b;
	char path[32];

	setup(&f, NULL, 0);
	buf_init(&b);
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "/nowhere/%u", i);
		map = (struct perf_mmap){ .pid = (uint32_t)child,
					  .tid = (uint32_t)child,
					  .addr = UINT64_C(4096) * i,
					  .len = 4096,
					  .maj = 250,
					  .ino = 1000 + i,
					  .prot = PROT_EXEC,
					  .filename = path };
		sid.time = host_now_ns();
		assert_int_equal(record_build_mmap2(&b, &f.attr, &sid, &map, 2), 0);
	}
	build_map(&f, &b, host_now_ns(), &map);
	show(&f, &b);
	buf_clear(&b);
	assert_int_equal(take_all(f.live, &b), 0);
	assert_int_equal(live_pass(f.live, host_now_ns()), 0);
	if (geteuid() == 0)
		assert_int_not_equal(
			task_model_map(live_model(f.live), map.pid, map.addr)->object->build_id.size,
			0);
	child_lab_end(child);
	buf_done(&b);
	teardown(&f);
}

/* A surrogate is given to each file, also to one that has the map from a snapshot alone. */
static void
test_surrogate_in_each_file(void **state)
{
	struct recording_writer_options o = { .on_sample = on_sample,
					      .on_record = on_record,
					      .before_close = before_close };
	struct perf_sample_id sid = { .pid = 77, .tid = 77, .id = ID };
	char path[] = "/tmp/test_live.file.XXXXXX", bytes[1024] = "";
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			 .e_phoff = 64,
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1 };
	Elf64_Phdr p = { .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 512 };
	struct buildid want = { 0 };
	struct recording_writer *w;
	struct buf b, snapshot;
	struct io_source *file;
	struct fixture f;
	struct stat st;
	int fd = mkstemp(path);

	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + 64, &p, sizeof(p));
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(fstat(fd, &st), 0);
	file = io_source_fd(fd);
	assert_int_equal(buildid_read(file, &want), 0);
	assert_int_equal(want.kind, BUILDID_SURROGATE);
	file->close(file);
	usleep(20000);
	setup(&f, NULL, 0);
	o.arg = f.live;
	buf_init(&b);
	buf_init(&snapshot);
	sid.time = host_now_ns();
	assert_int_equal(record_build_mmap2(&b, &f.attr, &sid,
					    &(struct perf_mmap){ .pid = 77,
								 .tid = 77,
								 .addr = 4096,
								 .len = 4096,
								 .maj = major(st.st_dev),
								 .min = minor(st.st_dev),
								 .ino = st.st_ino,
								 .prot = PROT_EXEC,
								 .filename = path },
					    2),
			 0);
	for (int n = 0; n < 2; n++) {
		fd = memfd_create("recording", MFD_CLOEXEC);
		assert_int_equal(recording_writer_open(io_sink_fd(dup(fd)), f.meta, &o, &w, NULL),
				 0);
		if (n)
			assert_int_equal(live_snapshot(f.live, collect, &snapshot), 0);
		assert_int_equal(recording_writer_records(w, n ? buf_span(&snapshot) : buf_span(&b),
							  NULL, NULL),
				 0);
		assert_int_equal(take_all(f.live, &b), 0);
		assert_int_equal(recording_writer_flush(w, NULL), 0);
		assert_int_equal(recording_writer_close(w, 0, NULL), 0);
		assert_true(read_back(fd, "", st.st_ino, &want).inode);
		close(fd);
		unlink(path);
		assert_int_equal(live_pass(f.live, sid.time + 1), 0);
	}
	buf_done(&snapshot);
	buf_done(&b);
	teardown(&f);
}

static void
test_blocks(void **state)
{
	struct recording_writer_options o = { .on_sample = on_sample,
					      .on_record = on_record,
					      .before_close = before_close };
	const uint64_t now = host_now_ns(); /* a file that changed later would be another one */
	const char *symbol = "", *dso;
	struct recording_writer *w;
	struct buildid want = { 0 };
	struct perf_mmap map;
	struct fixture f;
	struct told t;
	struct buf b;
	struct io_source *lib;
	int fd;

	setup(&f, NULL, 0);
	buf_init(&b);
	if (live_kallsyms(f.live)) {
		struct kallsyms_symbol s = kallsyms_at(live_kallsyms(f.live), 1000);

		symbol = s.name;
		build_sample(&f, &b, now + 10, s.start);
	} else {
		assert_non_null(strstr(live_note(f.live), "hidden"));
	}
	build_map(&f, &b, now + 11, &map);
	o.arg = f.live;
	for (int file = 0; file < 2; file++) {
		struct buf snapshot;

		fd = memfd_create("recording", MFD_CLOEXEC);
		assert_int_equal(recording_writer_open(io_sink_fd(dup(fd)), f.meta, &o, &w, NULL),
				 0);
		buf_init(&snapshot);
		if (file)
			assert_int_equal(live_snapshot(f.live, collect, &snapshot), 0);
		for (int pass = 0; pass < 3; pass++) {
			assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
			assert_int_equal(take_all(f.live, &b), 0);
			recording_writer_pass(w, now + 100);
			assert_int_equal(live_pass(f.live, now + 100), 0);
			assert_int_equal(recording_writer_flush(w, NULL), 0);
		}
		assert_int_equal(recording_writer_close(w, 0, NULL), 0);
		dso = task_model_map(live_model(f.live), map.pid, map.addr)->object->path;
		lib = io_source_fd(open(dso, O_RDONLY));
		assert_int_equal(buildid_read(lib, &want), 0);
		lib->close(lib);
		t = read_back(fd, symbol, map.ino, &want);
		/* Once in each file, and in each file again. */
		assert_int_equal(t.ksyms, *symbol ? 1 : 0);
		assert_int_equal(t.symbol, *symbol != 0);
		assert_int_equal(t.buildids, 1);
		assert_int_equal(t.inode, 1);
		assert_int_equal(t.vdso, 1);
		/* Samples are in blocks of their own. */
		assert_int_equal(t.records, *symbol ? 6 : 3);
		close(fd);
		buf_done(&snapshot);
	}
	assert_int_equal(
		task_model_map(live_model(f.live), map.pid, map.addr)->object->build_id.size,
		want.size);
	buf_done(&b);
	teardown(&f);
}

static void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void
sample_pass(struct fixture *f, struct recording_writer *w, uint64_t ip, uint64_t complete_s)
{
	struct buf b;

	buf_init(&b);
	build_sample(f, &b, 10, ip);
	assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
	b.len = 0;
	live_modules_changed(f->live);
	assert_int_equal(live_take(f->live, complete_s * 1000000000, &b), 0);
	assert_int_equal(live_pass(f->live, complete_s * 1000000000), 0);
	buf_done(&b);
}

#define KERNEL                                                                                     \
	"ffffffff81000000 T _stext\n"                                                              \
	"ffffffff81001000 T function_of_old\n"                                                     \
	"ffffffff81002000 T _etext\n"

/* A module that is loaded meanwhile has names, also when others wait for their block just then. */
static void
test_module_that_came_later(void **state)
{
	char kallsyms[] = "/tmp/test_live.kallsyms.XXXXXX", modules[] = "/tmp/test_live.mod.XXXXXX";
	struct recording_writer_options o = { .on_sample = on_sample,
					      .on_record = on_record,
					      .before_close = before_close };
	const uint64_t in_kernel = 0xffffffff81001010, in_module = 0xffffffffc0000010;
	struct buildid none = { 0 };
	struct recording_writer *w;
	struct fixture f;
	int fd;

	close(mkstemp(kallsyms));
	close(mkstemp(modules));
	write_file(kallsyms, KERNEL);
	setup_with(&f, (struct live_options){ .kallsyms = kallsyms, .modules = modules });
	o.arg = f.live;
	fd = memfd_create("recording", MFD_CLOEXEC);
	assert_int_equal(recording_writer_open(io_sink_fd(dup(fd)), f.meta, &o, &w, NULL), 0);
	write_file(kallsyms, KERNEL "ffffffffc0000000 t function_of_new\t[new]\n");
	write_file(modules, "new 16384 0 - Live 0xffffffffc0000000\n");
	sample_pass(&f, w, in_module, 1);
	sample_pass(&f, w, in_kernel, 31);
	assert_int_equal(recording_writer_flush(w, NULL), 0);
	sample_pass(&f, w, in_module, 62);
	sample_pass(&f, w, in_module, 63);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	assert_true(read_back(fd, "function_of_old", 0, &none).symbol);
	assert_true(read_back(fd, "function_of_new", 0, &none).symbol);
	close(fd);
	teardown(&f);
	unlink(kallsyms);
	unlink(modules);
}

/* What a look says of modules: "+[name]start-end" and "-[name]start-end", one after another. */
static void
modules_told(struct fixture *f, char *out, size_t cap, uint64_t *ret_ns)
{
	struct span s, raw;
	struct perf_record r;
	size_t len = 0;
	struct buf b;

	out[0] = '\0';
	buf_init(&b);
	live_modules_changed(f->live);
	assert_int_equal(live_take(f->live, host_now_ns(), &b), 0);
	s = buf_span(&b);
	while (perf_record_next(&s, &raw) == 1) {
		assert_int_equal(event_set_parse(f->meta->events, raw, &r, NULL), 0);
		*ret_ns = r.sid.time;
		if (perf_record_ends_module(&r)) {
			len += (size_t)snprintf(out + len, cap - len, "-%s%llx-%llx ",
						r.ksymbol.name, (unsigned long long)r.ksymbol.addr,
						(unsigned long long)r.ksymbol.addr + r.ksymbol.len);
			continue;
		}
		assert_int_equal(r.type, REC_MMAP);
		assert_int_equal(r.mmap.pid, TASK_PID_KERNEL);
		len += (size_t)snprintf(out + len, cap - len, "+%s%llx-%llx ", r.mmap.filename,
					(unsigned long long)r.mmap.addr,
					(unsigned long long)r.mmap.addr + r.mmap.len);
	}
	buf_done(&b);
}

/* One module goes, another comes to its place, and the first one elsewhere: each since when. */
static void
test_modules_move(void **state)
{
	static const char *const lists[] = {
		"one 16384 0 - Live 0xffffffffc0000000\n",
		"one 16384 0 - Live 0xffffffffc0000000\n",
		"",
		"two 16384 0 - Live 0xffffffffc0002000\none 16384 0 - Live 0xffffffffc0100000\n",
		"three 4096 0 - Live 0xffffffffc0003000\none 16384 0 - Live 0xffffffffc0100000\n",
	};
	static const char *const told[] = {
		"",
		"",
		"-[one]ffffffffc0000000-ffffffffc0004000 ",
		"+[two]ffffffffc0002000-ffffffffc0006000 +[one]ffffffffc0100000-ffffffffc0104000 ",
		"-[two]ffffffffc0002000-ffffffffc0006000 +[three]ffffffffc0003000-ffffffffc0004000 ",
	};
	char modules[] = "/tmp/test_live.mod.XXXXXX", kallsyms[] = "/tmp/test_live.ksyms.XXXXXX";
	uint64_t before_ns = 0, now_ns, time_ns;
	const struct task_map *map;
	struct fixture f;
	char text[512];

	close(mkstemp(modules));
	close(mkstemp(kallsyms));
	write_file(kallsyms, KERNEL);
	write_file(modules, lists[0]);
	setup_with(&f, (struct live_options){ .kallsyms = kallsyms, .modules = modules });
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		write_file(modules, lists[i]);
		now_ns = host_now_ns();
		modules_told(&f, text, sizeof(text), &time_ns);
		assert_string_equal(text, told[i]);
		/* Gone: seen just now. Came: not there at the look before, unless it has another one's place. */
		if (i == 2 || i == 4)
			assert_true(time_ns >= now_ns);
		if (i == 3)
			assert_true(time_ns >= before_ns && time_ns <= now_ns);
		before_ns = now_ns;
	}
	/* The model, and so the next file, has what there is. */
	assert_int_equal(live_pass(f.live, UINT64_MAX), 0);
	map = task_model_map(live_model(f.live), TASK_PID_KERNEL, 0xffffffffc0100000);
	assert_string_equal(map->object->path, "[one]");
	map = task_model_map(live_model(f.live), TASK_PID_KERNEL, 0xffffffffc0003fff);
	assert_string_equal(map->object->path, "[three]");
	assert_null(task_model_map(live_model(f.live), TASK_PID_KERNEL, 0xffffffffc0002000));
	assert_null(task_model_map(live_model(f.live), TASK_PID_KERNEL, 0xffffffffc0000000));
	teardown(&f);
	unlink(kallsyms);
	unlink(modules);
}

/* Samples of a module that went before they passed by, and of one that came: both are named. */
static void
test_module_that_went(void **state)
{
	char kallsyms[] = "/tmp/test_live.kallsyms.XXXXXX", modules[] = "/tmp/test_live.mod.XXXXXX";
	struct recording_writer_options o = { .on_sample = on_sample,
					      .on_record = on_record,
					      .before_close = before_close };
	struct buildid none = { 0 };
	struct recording_writer *w;
	struct fixture f;
	struct buf b;
	int fd;

	close(mkstemp(kallsyms));
	close(mkstemp(modules));
	write_file(kallsyms, KERNEL "ffffffffc0000000 t function_of_gone\t[gone]\n");
	write_file(modules, "gone 16384 0 - Live 0xffffffffc0000000\n");
	setup_with(&f, (struct live_options){ .kallsyms = kallsyms, .modules = modules });
	o.arg = f.live;
	fd = memfd_create("recording", MFD_CLOEXEC);
	assert_int_equal(recording_writer_open(io_sink_fd(dup(fd)), f.meta, &o, &w, NULL), 0);
	write_file(kallsyms, KERNEL "ffffffffc0000000 t function_of_new\t[new]\n");
	write_file(modules, "new 16384 0 - Live 0xffffffffc0000000\n");
	buf_init(&b);
	live_modules_changed(f.live);
	assert_int_equal(live_take(f.live, 1, &b), 0);
	b.len = 0;
	build_sample(&f, &b, 10, 0xffffffffc0000010);
	assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	assert_true(read_back(fd, "function_of_gone", 0, &none).symbol);
	assert_true(read_back(fd, "function_of_new", 0, &none).symbol);
	buf_done(&b);
	close(fd);
	teardown(&f);
	unlink(kallsyms);
	unlink(modules);
}

/* Until the table has what is at addr. */
static void
await_symbol(struct fixture *f, uint64_t addr)
{
	const uint64_t until_ns = host_now_ns() + WAIT_NS;
	struct buf b;

	buf_init(&b);
	while (kallsyms_find(live_kallsyms(f->live), addr) < 0 && host_now_ns() < until_ns) {
		live_modules_changed(f->live);
		assert_int_equal(live_take(f->live, 1, &b), 0);
	}
	buf_done(&b);
	assert_true(kallsyms_find(live_kallsyms(f->live), addr) >= 0);
}

/* Modules come and go faster than blocks are closed: what was sampled meanwhile has its name, the kernel's, too. */
static void
test_modules_within_a_block(void **state)
{
	enum { ERAS = 10, LINE = 64 };
	char kallsyms[] = "/tmp/test_live.kallsyms.XXXXXX", modules[] = "/tmp/test_live.mod.XXXXXX";
	struct recording_writer_options o = { .on_sample = on_sample,
					      .on_record = on_record,
					      .before_close = before_close };
	char own[ERAS * LINE] = "", text[ERAS * LINE + LINE], line[LINE];
	struct buildid none = { 0 };
	struct recording_writer *w;
	struct fixture f;
	size_t len = 0;
	int fd;

	for (unsigned int i = 0; i < ERAS; i++)
		len += (size_t)snprintf(own + len, sizeof(own) - len,
					"ffffffff8100%x000 T own_function%u\n", i, i);
	close(mkstemp(kallsyms));
	close(mkstemp(modules));
	write_file(kallsyms, own);
	setup_with(&f, (struct live_options){ .kallsyms = kallsyms, .modules = modules });
	o.arg = f.live;
	fd = memfd_create("recording", MFD_CLOEXEC);
	assert_int_equal(recording_writer_open(io_sink_fd(dup(fd)), f.meta, &o, &w, NULL), 0);
	for (unsigned int i = 0; i < ERAS; i++) {
		const uint64_t place = 0xffffffffc0000000 + 0x10000 * i;
		struct buf b;

		snprintf(text, sizeof(text), "%s%llx t module_function%u\t[module%u]\n", own,
			 (unsigned long long)place, i, i);
		write_file(kallsyms, text);
		snprintf(line, sizeof(line), "module%u 16384 0 - Live 0x%llx\n", i,
			 (unsigned long long)place);
		write_file(modules, line);
		await_symbol(&f, place);
		buf_init(&b);
		build_sample(&f, &b, 10, place + 0x10);
		build_sample(&f, &b, 11, 0xffffffff81000010 + 0x1000 * i);
		assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
		buf_done(&b);
	}
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	for (unsigned int i = 0; i < ERAS; i++) {
		snprintf(line, sizeof(line), "own_function%u", i);
		assert_int_equal(read_back(fd, line, 0, &none).symbol, 1);
		snprintf(line, sizeof(line), "module_function%u", i);
		assert_int_equal(read_back(fd, line, 0, &none).symbol, 1);
	}
	close(fd);
	teardown(&f);
	unlink(kallsyms);
	unlink(modules);
}

/* Many short processes: the model stays as small as it was. */
static void
test_bounded(void **state)
{
	struct task_model_stats before, after;
	struct fixture f;
	struct buf b;

	setup(&f, NULL, 0);
	buf_init(&b);
	task_model_stats(live_model(f.live), &before);
	for (uint64_t i = 1; i <= 20000; i++) {
		uint64_t t = i * 10000000; /* 100 a second: 1000 are young enough to be ghosts */
		struct perf_sample_id sid = { .time = t, .id = ID };
		uint32_t pid = (uint32_t)i + 1000;

		buf_clear(&b);
		record_build_fork(&b, &f.attr, &sid, pid, 1, pid, 1, t, 0);
		record_build_comm(&b, &f.attr, &sid, pid, pid, "short", TASK_MISC_COMM_EXEC);
		record_build_exit(&b, &f.attr, &sid, pid, 1, pid, 1, t);
		show(&f, &b);
		if (i % 10 == 0)
			assert_int_equal(live_pass(f.live, t + 1), 0);
	}
	task_model_stats(live_model(f.live), &after);
	assert_true(after.ghosts <= 1001 && after.tasks <= 1001);
	assert_true(after.bytes < before.bytes + (1 << 20));
	buf_done(&b);
	teardown(&f);
}

/* While a scan goes on nothing is complete, and yet no more waits for it than there is room for. */
static void
test_waiting_is_bounded(void **state)
{
	struct fixture f;
	uint32_t pid = 0x10000000;

	setup_with(&f, (struct live_options){ .model_bytes = 1 << 20 });
	show_comm(&f, 200, pid, "second");
	show_comm(&f, 100, pid, "first");
	/* A record is of some 60 bytes, and takes as much again in order: so many are to be kept. */
	for (uint32_t i = 1; i < 1900; i++)
		show_comm(&f, 300, pid + i, "another");
	assert_string_equal(comm_of(&f, (pid_t)pid), "-");
	for (uint32_t i = 0; i < 2000; i++)
		show_comm(&f, 300, pid + i % 100 + 1, "another");
	assert_string_equal(comm_of(&f, (pid_t)pid), "second");
	teardown(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_resync),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_waiting_is_bounded),
		cmocka_unit_test(test_module_that_came_later),
		cmocka_unit_test(test_modules_move),
		cmocka_unit_test(test_module_that_went),
		cmocka_unit_test(test_modules_within_a_block),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_file_that_goes),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_jit),
		cmocka_unit_test(test_surrogate_in_each_file),
	};

	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
