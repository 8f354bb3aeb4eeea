/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The task model against streams of records with known answers, and against a naive model.
 * Every record is built, parsed again and applied, as it would come from a ring.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/model/address_space.h"
#include "format/model/kernel_names.h"
#include "format/model/map_objects.h"
#include "format/model/task_model.h"
#include "format/record/record_build.h"

#define SAMPLE_TID 2u
#define SAMPLE_TIME 4u
#define SAMPLE_CPU 128u
#define SAMPLE_IDENTIFIER (1u << 16)

static const struct event_attr attr = {
	.size = 64,
	.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_IDENTIFIER,
	.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
};

/* One step of a stream. */
struct step {
	char op; /* F fork, f synthesized fork, C comm, X exec comm, E exit, M map, A anon map */
	uint64_t time;
	uint32_t pid, tid, ppid, ptid;
	uint64_t start, len, pgoff;
	const char *name;
};

static void
apply_raw(struct task_model *m, struct span all)
{
	struct perf_record r;
	struct span raw;

	while (perf_record_next(&all, &raw) == 1) {
		assert_int_equal(perf_record_parse(raw, &attr, &r), 0);
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	assert_int_equal(all.len, 0);
}

static void
apply_step(struct task_model *m, const struct step *s)
{
	struct perf_sample_id sid = { .pid = s->pid, .tid = s->tid, .time = s->time };
	struct perf_mmap map = { .pid = s->pid,
				 .tid = s->tid,
				 .addr = s->start,
				 .len = s->len,
				 .pgoff = s->pgoff,
				 .prot = 5,
				 .flags = 2,
				 .filename = s->name };
	struct buf b;
	int rc = -1;

	buf_init(&b);
	switch (s->op) {
	case 'F':
	case 'f':
		rc = record_build_fork(&b, &attr, &sid, s->pid, s->ppid, s->tid, s->ptid, s->time,
				       s->op == 'f' ? TASK_MISC_FORK_FRESH : 0);
		break;
	case 'C':
	case 'X':
		rc = record_build_comm(&b, &attr, &sid, s->pid, s->tid, s->name,
				       s->op == 'X' ? TASK_MISC_COMM_EXEC : 0);
		break;
	case 'E':
		rc = record_build_exit(&b, &attr, &sid, s->pid, s->ppid, s->tid, s->ptid, s->time);
		break;
	case 'M':
		map.maj = 8;
		map.min = 1;
		for (const char *c = s->name; *c; c++)
			map.ino = map.ino * 31 + (uint8_t)*c;
		/* fall through */
	case 'A':
		rc = record_build_mmap2(&b, &attr, &sid, &map, 2);
		break;
	}
	assert_int_equal(rc, 0);
	apply_raw(m, buf_span(&b));
	buf_done(&b);
}

static struct task_model *
replay(const struct step *steps, size_t n)
{
	struct task_model *m = task_model_new();

	assert_non_null(m);
	for (size_t i = 0; i < n; i++)
		apply_step(m, &steps[i]);
	return m;
}
#define REPLAY(steps) replay(steps, sizeof(steps) / sizeof((steps)[0]))

static const char *
path_at(const struct task_model *m, uint32_t pid, uint64_t addr)
{
	const struct task_map *map = task_model_map(m, pid, addr);

	if (!map)
		return "-";
	assert_true(map->start <= addr && addr < map->end);
	return map->object->path;
}

static uint64_t
offset_at(const struct task_model *m, uint32_t pid, uint64_t addr)
{
	const struct task_map *map = task_model_map(m, pid, addr);

	assert_non_null(map);
	return addr - map->start + map->pgoff;
}

static const char *
comm_of(const struct task_model *m, uint32_t pid, uint32_t tid)
{
	const struct task *t = task_model_task(m, pid, tid);

	return t ? t->comm : "-";
}

static void
test_threads_share(void **state)
{
	static const struct step steps[] = {
		{ 'C', 1, 10, 10, .name = "main" },
		{ 'M', 2, 10, 10, .start = 0x1000, .len = 0x1000, .name = "/a" },
		{ 'F', 3, 10, 11, 10, .ptid = 10 },
		{ 'M', 4, 10, 11, .start = 0x5000, .len = 0x1000, .name = "/b" },
		{ 'C', 5, 10, 11, .name = "worker" },
	};
	struct task_model *m = REPLAY(steps);

	assert_string_equal(path_at(m, 10, 0x1fff), "/a");
	assert_string_equal(path_at(m, 10, 0x5000), "/b");
	assert_string_equal(path_at(m, 10, 0x2000), "-");
	assert_string_equal(path_at(m, 10, 0xfff), "-");
	assert_string_equal(path_at(m, 11, 0x1000), "-");
	assert_string_equal(comm_of(m, 10, 10), "main");
	assert_string_equal(comm_of(m, 10, 11), "worker");
	assert_int_equal(task_model_task(m, 10, 11)->start_ns, 3);
	assert_null(task_model_task(m, 11, 11));
	assert_string_equal(comm_of(m, 0, 0), "swapper");
	task_model_free(m);
}

/* Records of tasks outside of the recorder's PID namespace: a child inside has nothing of theirs. */
static void
test_pid_zero(void **state)
{
	static const struct step steps[] = {
		{ 'C', 1, 0, 0, .name = "outside" },
		{ 'M', 2, 0, 0, .start = 0x1000, .len = 0x1000, .name = "/outside" },
		{ 'F', 3, 20, 20, 0, .ptid = 0 },
		{ 'F', 4, 0, 0, 0, .ptid = 0 },
		{ 'X', 5, 0, 0, .name = "outside" },
		{ 'E', 6, 0, 0, .ptid = 0 },
	};
	struct task_model *m = REPLAY(steps);

	assert_string_equal(comm_of(m, 0, 0), "swapper");
	assert_string_equal(comm_of(m, 20, 20), ":20");
	assert_string_equal(path_at(m, 0, 0x1000), "-");
	assert_string_equal(path_at(m, 20, 0x1000), "-");
	task_model_free(m);
}

static void
test_fork_copies(void **state)
{
	static const struct step steps[] = {
		{ 'C', 1, 10, 10, .name = "shell" },
		{ 'M', 2, 10, 10, .start = 0x1000, .len = 0x1000, .name = "/sh" },
		{ 'F', 3, 20, 20, 10, .ptid = 10 },
		{ 'F', 3, 30, 30, 10, .ptid = 10 },
		{ 'M', 4, 20, 20, .start = 0x1000, .len = 0x1000, .name = "/child" },
		{ 'M', 5, 10, 10, .start = 0x8000, .len = 0x1000, .name = "/late" },
	};
	struct task_model *m = REPLAY(steps);
	struct task_model_stats st;

	assert_string_equal(comm_of(m, 20, 20), "shell");
	assert_string_equal(path_at(m, 20, 0x1000), "/child");
	assert_string_equal(path_at(m, 10, 0x1000), "/sh");
	assert_string_equal(path_at(m, 30, 0x1000), "/sh");
	assert_string_equal(path_at(m, 10, 0x8000), "/late");
	assert_string_equal(path_at(m, 20, 0x8000), "-");
	assert_string_equal(path_at(m, 30, 0x8000), "-");
	task_model_stats(m, &st);
	assert_int_equal(st.tasks, 3);
	assert_int_equal(st.maps, 4);
	task_model_free(m);
}

/* The same number: the same maps. */
static void
test_versions(void **state)
{
	static const struct step steps[] = {
		{ 'C', 1, 10, 10, .name = "shell" },
		{ 'M', 2, 10, 10, .start = 0x1000, .len = 0x3000, .name = "/sh" },
		{ 'F', 3, 20, 20, 10, .ptid = 10 },
	};
	static const struct step again = { 'M',		 4, 20, 20, .start = 0x1000, .len = 0x3000,
					   .name = "/sh" };
	static const struct step cut = { 'M',	       5, 20, 20, .start = 0x2000, .len = 0x1000,
					 .name = "/so" };
	static const struct step exec = { 'X', 6, 10, 10, .name = "other" };
	struct task_model *m = REPLAY(steps);
	const uint64_t first = task_model_maps_version(m, 10);
	uint64_t child;

	assert_true(first != 0);
	assert_true(task_model_maps_version(m, 20) == first);
	assert_true(task_model_maps_version(m, 99) == 0);
	apply_step(m, &again);
	assert_true(task_model_maps_version(m, 20) == first);
	apply_step(m, &cut);
	child = task_model_maps_version(m, 20);
	assert_true(child != first && child != 0);
	assert_true(task_model_maps_version(m, 10) == first);
	apply_step(m, &exec);
	assert_true(task_model_maps_version(m, 10) == 0);
	assert_true(task_model_maps_version(m, 20) == child);
	task_model_free(m);
}

static void
test_exec_clears(void **state)
{
	static const struct step steps[] = {
		{ 'C', 1, 10, 10, .name = "shell" },
		{ 'M', 2, 10, 10, .start = 0x1000, .len = 0x1000, .name = "/sh" },
		{ 'F', 3, 20, 20, 10, .ptid = 10 },
		{ 'C', 4, 20, 20, .name = "renamed" },
		{ 'F', 5, 20, 21, 20, .ptid = 20 },
	};
	static const struct step exec[] = {
		{ 'E', 6, 20, 20, 20, .ptid = 20 },
		{ 'X', 7, 20, 20, .name = "ls" },
		{ 'M', 8, 20, 20, .start = 0x4000, .len = 0x1000, .name = "/ls" },
	};
	struct task_model *m = REPLAY(steps);

	assert_string_equal(path_at(m, 20, 0x1000), "/sh"); /* a name alone changes no map */
	assert_string_equal(comm_of(m, 20, 20), "renamed");
	for (size_t i = 0; i < 3; i++)
		apply_step(m, &exec[i]);
	assert_string_equal(path_at(m, 20, 0x1000), "-");
	assert_string_equal(path_at(m, 20, 0x4000), "/ls");
	assert_string_equal(path_at(m, 10, 0x1000), "/sh");
	assert_false(task_model_task(m, 20, 20)->exited);
	assert_true(task_model_task(m, 20, 21)->exited);
	task_model_free(m);
}

/* Old map, new map over it, and what is left of the old one. */
static void
test_overlaps(void **state)
{
	static const struct {
		uint64_t start, len;
	} cuts[] = { { 0x1000, 0x1000 }, { 0x2000, 0x1000 }, { 0x4000, 0x1000 }, { 0x1000, 0x4000 },
		     { 0x0, 0x8000 },	 { 0x0, 0x2000 },    { 0x3000, 0x8000 }, { 0x0, 0x1000 },
		     { 0x5000, 0x1000 }, { 0x4fff, 1 },	     { 0x1000, 1 } };

	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		const struct step steps[] = {
			{ 'M', 1, 10, 10, .start = 0x1000, .len = 0x4000, .pgoff = 0x10000,
			  .name = "/old" },
			{ 'M', 2, 10, 10, .start = cuts[i].start, .len = cuts[i].len,
			  .name = "/new" },
		};
		struct task_model *m = REPLAY(steps);

		for (uint64_t a = 0; a < 0xc000; a += a % 0x1000 == 0xfff ? 1 : 0xfff) {
			bool in_new = a >= cuts[i].start && a < cuts[i].start + cuts[i].len;
			bool in_old = a >= 0x1000 && a < 0x5000;

			assert_string_equal(path_at(m, 10, a),
					    in_new	     ? "/new"
						    : in_old ? "/old"
							     : "-");
			if (in_old && !in_new)
				assert_int_equal(offset_at(m, 10, a), a - 0x1000 + 0x10000);
		}
		task_model_free(m);
	}
}

static void
test_pid_reuse(void **state)
{
	static const struct step steps[] = {
		{ 'C', 1, 10, 10, .name = "old" },
		{ 'M', 2, 10, 10, .start = 0x1000, .len = 0x1000, .name = "/old" },
		{ 'F', 3, 10, 77, 10, .ptid = 10 },
		{ 'E', 4, 10, 77, 10, .ptid = 10 },
		{ 'E', 5, 10, 10, 1, .ptid = 1 },
	};
	static const struct step reuse[] = {
		{ 'F', 6, 10, 10, 1, .ptid = 1 },    { 'C', 7, 10, 10, .name = "new" },
		{ 'F', 8, 10, 78, 10, .ptid = 10 },  { 'F', 9, 20, 20, 10, .ptid = 10 },
		{ 'F', 10, 20, 78, 20, .ptid = 20 }, /* the tid goes to another process, its EXIT was lost */
	};
	struct task_model *m = REPLAY(steps);

	/* Ghosts: late samples still name them. */
	assert_string_equal(comm_of(m, 10, 10), "old");
	assert_string_equal(path_at(m, 10, 0x1000), "/old");
	assert_true(task_model_task(m, 10, 77)->exited);
	assert_int_equal(task_model_task(m, 10, 77)->exit_ns, 4);
	for (size_t i = 0; i < 5; i++)
		apply_step(m, &reuse[i]);
	assert_string_equal(comm_of(m, 10, 10), "new");
	assert_string_equal(path_at(m, 10, 0x1000), "-");
	assert_null(task_model_task(m, 10, 77));
	assert_null(task_model_task(m, 10, 78));
	assert_string_equal(comm_of(m, 20, 78), "new");
	task_model_free(m);
}

/* Nothing tells of its beginning, but it maps: it has nothing of the one before. */
static void
test_pid_reuse_unheard(void **state)
{
	static const struct step steps[] = {
		{ 'F', 1, 10, 10, 1, .ptid = 1 },
		{ 'C', 2, 10, 10, .name = "old" },
		{ 'M', 3, 10, 10, .start = 0x1000, .len = 0x1000, .name = "/old" },
		{ 'E', 4, 10, 10, 1, .ptid = 1 },
		{ 'M', 5, 10, 11, .start = 0x8000, .len = 0x1000, .name = "/new" },
	};
	struct task_model *m = REPLAY(steps);

	assert_null(task_model_task(m, 10, 10));
	assert_string_equal(comm_of(m, 10, 11), ":11");
	assert_string_equal(path_at(m, 10, 0x1000), "-");
	assert_string_equal(path_at(m, 10, 0x8000), "/new");
	assert_int_equal(task_model_parent(m, 10), 0);
	task_model_free(m);
}

static void
test_prune(void **state)
{
	struct task_model *m = task_model_new();
	struct task_model_stats st, empty;

	task_model_stats(m, &empty);
	for (uint32_t i = 1; i <= 1000; i++) {
		char path[32];
		const struct step steps[] = {
			{ 'F', i * 10, i, i, 1000000, .ptid = 1000000 },
			{ 'X', i * 10 + 1, i, i, .name = "x" },
			{ 'M', i * 10 + 2, i, i, .start = 0x1000, .len = 0x1000, .name = path },
			{ 'E', i * 10 + 3, i, i, 1000000, .ptid = 1000000 },
		};

		snprintf(path, sizeof(path), "/tmp/prog%u", i);
		for (size_t n = 0; n < 4; n++)
			apply_step(m, &steps[n]);
	}
	task_model_stats(m, &st);
	assert_int_equal(st.ghosts, 1000);
	assert_int_equal(st.objects, 1000);
	task_model_prune(m, 5003);
	task_model_stats(m, &st);
	assert_int_equal(st.tasks, 501); /* number 500 exited at 5003, which is not before it */
	assert_null(task_model_task(m, 499, 499));
	assert_non_null(task_model_task(m, 500, 500));
	assert_string_equal(path_at(m, 500, 0x1000), "/tmp/prog500");
	assert_int_equal(st.objects, 501);
	task_model_prune(m, UINT64_MAX);
	task_model_stats(m, &st);
	assert_int_equal(st.tasks, 0);
	assert_int_equal(st.maps, 0);
	assert_int_equal(st.objects, 0);
	assert_true(st.bytes < empty.bytes + 16384);
	task_model_free(m);
}

static void
test_ghosts_are_bounded(void **state)
{
	struct task_model *m = task_model_new();
	struct task_model_stats st;

	for (uint32_t i = 1; i <= TASK_MODEL_GHOSTS_MAX + 100; i++) {
		const struct step f = { 'F', i, i, i, 1, .ptid = 1 },
				  e = { 'E', i, i, i, 1, .ptid = 1 };

		apply_step(m, &f);
		apply_step(m, &e);
	}
	task_model_stats(m, &st);
	assert_int_equal(st.ghosts, TASK_MODEL_GHOSTS_MAX);
	assert_null(task_model_task(m, 100, 100));
	assert_non_null(task_model_task(m, 101, 101));
	task_model_free(m);
}

/* What a scan told of a task is newer than its FORK, which a ring gave later. */
static void
test_late_fork_wipes_nothing(void **state)
{
	static const struct step steps[] = {
		{ 'C', 1, 10, 10, .name = "parent" },
		{ 'M', 2, 10, 10, .start = 0x9000, .len = 0x1000, .name = "/p" },
		{ 'f', 50, 20, 20, 10, .ptid = 10 },
		{ 'C', 50, 20, 20, .name = "child" },
		{ 'M', 50, 20, 20, .start = 0x1000, .len = 0x1000, .name = "/c" },
		{ 'F', 40, 20, 20, 10, .ptid = 10 },
		{ 'C', 60, 30, 30, .name = "tie" },
		{ 'F', 60, 30, 30, 10, .ptid = 10 },
		{ 'F', 61, 31, 31, 10, .ptid = 10 },
		{ 'F', 61, 31, 31, 10, .ptid = 10 },
	};
	struct task_model *m = REPLAY(steps);

	assert_string_equal(comm_of(m, 20, 20), "child");
	assert_string_equal(path_at(m, 20, 0x1000), "/c");
	assert_string_equal(path_at(m, 20, 0x9000), "-");
	assert_int_equal(task_model_task(m, 20, 20)->start_ns, 40);
	assert_string_equal(comm_of(m, 30, 30), "tie");
	assert_string_equal(path_at(m, 30, 0x9000), "/p");
	assert_string_equal(comm_of(m, 31, 31), "parent");
	task_model_free(m);
}

static void
test_unknown_tasks(void **state)
{
	static const struct step steps[] = {
		{ 'M', 1, 10, 11, .start = 0x1000, .len = 0x1000, .name = "/a" },
		{ 'E', 2, 50, 50, 1, .ptid = 1 },
		{ 'F', 3, 60, 60, 59, .ptid = 59 },
		{ 'A', 4, TASK_PID_KERNEL, 0, .start = UINT64_C(0xffffffff81000000), .len = 0x1000,
		  .name = "[kernel.kallsyms]_text" },
		{ 'C', 5, TASK_PID_KERNEL, TASK_PID_KERNEL, .name = "?" },
		{ 'A', 6, 10, 10, .start = UINT64_MAX - 10, .len = 100, .name = "//anon" },
		{ 'A', 7, 10, 10, .start = 0x7000, .len = 0, .name = "//anon" },
		{ 'C', 8, 10, 10, .name = "a name of more than fifteen bytes" },
	};
	struct task_model *m = REPLAY(steps);

	assert_string_equal(comm_of(m, 10, 11), ":11");
	assert_false(task_model_task(m, 10, 11)->comm_known);
	assert_null(task_model_task(m, 50, 50));
	assert_string_equal(comm_of(m, 60, 60), ":60");
	assert_string_equal(path_at(m, TASK_PID_KERNEL, UINT64_C(0xffffffff81000010)),
			    "[kernel.kallsyms]_text");
	assert_string_equal(path_at(m, 10, UINT64_MAX - 1), "//anon");
	assert_string_equal(path_at(m, 10, 0x7000), "-");
	assert_string_equal(comm_of(m, 10, 10), "a name of more ");
	task_model_free(m);
}

static void
map_with_id(struct task_model *m, uint64_t addr, const char *path, const char *id, uint64_t ino)
{
	struct perf_sample_id sid = { .time = 1 };
	struct perf_mmap k = { .pid = 10,
			       .tid = 10,
			       .addr = addr,
			       .len = 0x1000,
			       .prot = 5,
			       .flags = 2,
			       .filename = path };
	struct buf b;

	if (id) {
		k.build_id = buildid_of(BUILDID_GNU, id, strlen(id));
	} else {
		k.maj = 8;
		k.ino = ino;
	}
	buf_init(&b);
	assert_int_equal(record_build_mmap2(&b, &attr, &sid, &k, 2), 0);
	apply_raw(m, buf_span(&b));
	buf_done(&b);
}

static int
give_id(struct task_model *m, uint64_t ino, uint64_t generation, const char *text)
{
	struct buildid id = buildid_of(BUILDID_GNU, text, strlen(text));

	return task_model_set_build_id(m, 8, 0, ino, generation, &id);
}

static int
give_path_id(struct task_model *m, const char *path, size_t len, const char *text)
{
	struct buildid id = buildid_of(BUILDID_GNU, text, strlen(text));

	return task_model_set_path_build_id(m, path, len, &id);
}

static void
test_objects(void **state)
{
	struct task_model *m = task_model_new();
	const struct map_object *a, *b, *c, *d;

	map_with_id(m, 0x1000, "/lib", "aaaaaaaaaaaaaaaaaaaa", 0);
	map_with_id(m, 0x3000, "/lib", "aaaaaaaaaaaaaaaaaaaa", 0);
	map_with_id(m, 0x5000, "/lib", "bbbbbbbb", 0);
	map_with_id(m, 0x7000, "/lib", NULL, 5);
	a = task_model_map(m, 10, 0x1000)->object;
	b = task_model_map(m, 10, 0x3000)->object;
	c = task_model_map(m, 10, 0x5000)->object;
	d = task_model_map(m, 10, 0x7000)->object;
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_ptr_not_equal(a, d);
	assert_int_equal(c->build_id.size, 8);
	assert_int_equal(d->build_id.size, 0);
	assert_int_equal(task_model_objects(m), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(task_model_object(m, i)->index, i);
	assert_null(task_model_object(m, 3));

	/* For those that are there, for those to come, and not for another generation. */
	assert_int_equal(give_id(m, 5, 0, "cccc"), 0);
	assert_int_equal(d->build_id.size, 4);
	assert_int_equal(give_id(m, 6, 0, "dddd"), 0);
	assert_int_equal(give_id(m, 7, 1, "eeee"), 0);
	map_with_id(m, 0x9000, "/six", NULL, 6);
	map_with_id(m, 0xb000, "/seven", NULL, 7);
	assert_memory_equal(task_model_map(m, 10, 0x9000)->object->build_id.bytes, "dddd", 4);
	assert_int_equal(task_model_map(m, 10, 0xb000)->object->build_id.size, 0);
	/* The file was overwritten in place: what was mapped before stays what it was. */
	assert_int_equal(give_id(m, 5, 0, "ffff"), 0);
	map_with_id(m, 0xd000, "/lib", NULL, 5);
	assert_memory_equal(task_model_map(m, 10, 0x7000)->object->build_id.bytes, "cccc", 4);
	assert_memory_equal(task_model_map(m, 10, 0xd000)->object->build_id.bytes, "ffff", 4);

	/* By path: where neither the record nor the inode said one, now and later. */
	map_with_id(m, 0xf000, "/by/path", NULL, 8);
	map_with_id(m, 0x11000, "/no/inode", NULL, 0);
	assert_int_equal(give_path_id(m, "/by/path and more", 8, "gggg"), 0);
	assert_int_equal(give_path_id(m, "/six", 4, "hhhh"), 0);
	assert_int_equal(give_path_id(m, "/late", 5, "iiii"), 0);
	map_with_id(m, 0x13000, "/six", NULL, 6);
	map_with_id(m, 0x15000, "/late", NULL, 0);
	assert_memory_equal(task_model_map(m, 10, 0xf000)->object->build_id.bytes, "gggg", 4);
	assert_int_equal(task_model_map(m, 10, 0x11000)->object->build_id.size, 0);
	assert_memory_equal(task_model_map(m, 10, 0x13000)->object->build_id.bytes, "dddd", 4);
	assert_memory_equal(task_model_map(m, 10, 0x15000)->object->build_id.bytes, "iiii", 4);
	task_model_free(m);
}

/* Whom to ask for a file that the process itself does not reach any more. */
/* An id that is found after the record: for the maps that are there, and none to come. */
static void
test_late_build_id(void **state)
{
	struct buildid id = buildid_of(BUILDID_GNU, "cccc", 4);
	struct task_model *m = task_model_new();
	struct task_model_stats before, after;

	map_with_id(m, 0x1000, "/lib", NULL, 5);
	map_with_id(m, 0x3000, "/other", NULL, 5);
	map_with_id(m, 0x5000, "/lib", "cccc", 5);
	task_model_stats(m, &before);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(task_model_give_build_id(m, 8, 0, 5, 0, "/lib", &id), 1);
		assert_int_equal(task_model_map(m, 10, 0x1000)->object->build_id.size, 4);
		assert_int_equal(task_model_map(m, 10, 0x3000)->object->build_id.size, 0);
		assert_int_equal(task_model_give_build_id(m, 8, 0, 5, 0, "/lib", &id), 0);
		/* Its inode may have been used again: that is to be found out. */
		map_with_id(m, 0x1000, "/lib", NULL, 5);
		assert_int_equal(task_model_map(m, 10, 0x1000)->object->build_id.size, 0);
	}
	assert_int_equal(task_model_give_build_id(m, 8, 0, 5, 1, "/lib", &id), 0);
	assert_int_equal(task_model_give_build_id(m, 8, 0, 6, 0, "/lib", &id), 0);
	/* Those that nothing maps any more are forgotten. */
	for (uint64_t ino = 100; ino < 1000; ino++)
		map_with_id(m, 0x1000, "/lib", NULL, ino);
	task_model_prune(m, 1);
	task_model_stats(m, &after);
	assert_in_range(after.objects, 1, before.objects + 100);
	task_model_free(m);
}

static uint32_t
peer_of(const struct task_model *m, uint32_t pid)
{
	const uint32_t pids[] = { 30, pid, 77 };
	uint32_t peers[3];

	task_model_peers(m, pids, peers, 3);
	assert_int_equal(peers[2], 0);
	return peers[1];
}

static void
test_peers(void **state)
{
	struct task_model *m = task_model_new();
	static const uint64_t host[14] = { [10] = 4, [11] = 100 },
			      container[14] = { [10] = 4, [11] = 200 };
	const struct {
		uint32_t pid;
		const uint64_t *ns;
	} tasks[] = { { 10, host }, { 20, container }, { 30, host }, { 40, container } };

	assert_int_equal(peer_of(m, 20), 0);
	for (size_t i = 0; i < 4; i++) {
		const struct perf_sample_id sid = { .pid = tasks[i].pid, .tid = tasks[i].pid };
		struct buf b;

		buf_init(&b);
		assert_int_equal(record_build_namespaces(&b, &attr, &sid, sid.pid, sid.tid,
							 tasks[i].ns, 7),
				 0);
		apply_raw(m, buf_span(&b));
		buf_done(&b);
	}
	assert_int_equal(peer_of(m, 40), 20);
	assert_int_equal(peer_of(m, 20), 40);
	assert_int_equal(peer_of(m, 10), 30);
	assert_int_equal(peer_of(m, 50), 0);
	/* A ghost has a peer, and is none. */
	apply_step(m, &(struct step){ .op = 'E', .time = 20, .pid = 40, .tid = 40 });
	assert_int_equal(peer_of(m, 40), 20);
	assert_int_equal(peer_of(m, 20), 0);
	task_model_free(m);
}

static void
test_cgroups(void **state)
{
	struct perf_sample_id sid = { .time = 1 };
	struct task_model *m = task_model_new();
	struct buf b;

	buf_init(&b);
	record_build_cgroup(&b, &attr, &sid, 1, "/");
	record_build_cgroup(&b, &attr, &sid, 99, "/system.slice");
	record_build_cgroup(&b, &attr, &sid, 99, "/system.slice/new");
	apply_raw(m, buf_span(&b));
	assert_string_equal(task_model_cgroup(m, 1), "/");
	assert_string_equal(task_model_cgroup(m, 99), "/system.slice/new");
	assert_null(task_model_cgroup(m, 98));
	task_model_forget_cgroups(m);
	assert_null(task_model_cgroup(m, 1));
	buf_done(&b);
	task_model_free(m);
}

static int
collect(void *arg, struct span records)
{
	struct buf *out = arg;

	assert_true(records.len > 0);
	assert_true(records.len < TASK_MODEL_PIECE_BYTES + 65536);
	buf_append(out, records.p, records.len);
	return 0;
}

static int
refuse(void *arg, struct span records)
{
	return -FMT_E_IO;
}

static void
snapshot(const struct task_model *m, struct buf *out)
{
	struct perf_sample_id sid = { .time = 1000000, .cpu = 0 };

	buf_init(out);
	assert_int_equal(task_model_snapshot(m, &attr, &sid, NULL, collect, out), 0);
}

/* A snapshot makes a model with the same living tasks, and the same snapshot. */
static void
check_snapshot(const struct task_model *m)
{
	struct task_model *copy = task_model_new();
	const struct task *t = NULL, *u = NULL;
	struct task_model_stats st;
	struct buf one, two;

	snapshot(m, &one);
	apply_raw(copy, buf_span(&one));
	snapshot(copy, &two);
	assert_int_equal(one.len, two.len);
	assert_memory_equal(one.p, two.p, one.len);
	while ((t = task_model_next(m, t))) {
		if (t->exited)
			continue;
		u = task_model_next(copy, u);
		assert_non_null(u);
		assert_int_equal(t->pid, u->pid);
		assert_int_equal(t->tid, u->tid);
		assert_int_equal(t->start_ns, u->start_ns);
		assert_int_equal(t->comm_known, u->comm_known);
		assert_string_equal(t->comm, u->comm);
	}
	assert_null(task_model_next(copy, u));
	task_model_stats(copy, &st);
	assert_int_equal(st.ghosts, 0);
	buf_done(&one);
	buf_done(&two);
	task_model_free(copy);
}

static void
test_snapshot(void **state)
{
	static const struct step steps[] = {
		{ 'A', 1, TASK_PID_KERNEL, 0, .start = UINT64_C(0xffffffff81000000), .len = 0x1000,
		  .name = "[kernel.kallsyms]_text" },
		{ 'C', 1, 10, 10, .name = "main" },
		{ 'M', 2, 10, 10, .start = 0x1000, .len = 0x5000, .pgoff = 7, .name = "/a" },
		{ 'A', 2, 10, 10, .start = 0x2000, .len = 0x1000, .name = "//anon" },
		{ 'F', 3, 10, 11, 10, .ptid = 10 },
		{ 'F', 4, 20, 20, 10, .ptid = 11 },
		{ 'M', 5, 30, 31, .start = 0x1000, .len = 0x1000, .name = "/b" },
		{ 'F', 6, 40, 40, 10, .ptid = 10 },
		{ 'E', 7, 40, 40, 10, .ptid = 10 },
		{ 'F', 8, 20, 21, 20, .ptid = 20 },
		{ 'E', 9, 20, 20, 10, .ptid = 10 }, /* the leader is gone, a thread lives */
	};
	uint64_t links[14] = { 4, 100, 4, 101, 4, 102 }, dev, inode;
	struct perf_sample_id sid = { .time = 1 };
	struct task_model *m = REPLAY(steps);
	struct buf b;

	buf_init(&b);
	record_build_namespaces(&b, &attr, &sid, 10, 10, links, 7);
	record_build_namespaces(&b, &attr, &sid, 10, 11, links, 7);
	record_build_cgroup(&b, &attr, &sid, 99, "/x");
	record_build_ksymbol(&b, &attr, &sid, 0xffffffffc0000000, 64, 1, 0, "bpf_prog_1");
	record_build_ksymbol(&b, &attr, &sid, 0xffffffffc0001000, 64, 1, 0, "bpf_prog_2");
	record_build_ksymbol(&b, &attr, &sid, 0xffffffffc0001000, 64, 1, 1, "bpf_prog_2");
	apply_raw(m, buf_span(&b));
	map_with_id(m, 0x30000, "/c", "0123456789abcdef", 0);
	check_snapshot(m);
	assert_true(task_model_namespace(m, 10, 11, 1, &dev, &inode));
	assert_true(dev == 4 && inode == 101);
	assert_false(task_model_namespace(m, 10, 11, 7, &dev, &inode)); /* there were seven */
	assert_false(
		task_model_namespace(m, 20, 11, 1, &dev, &inode)); /* another process's thread */
	assert_false(task_model_namespace(m, 20, 20, 1, &dev, &inode));
	task_model_free(m);
	buf_done(&b);
}

/* --- against a model that is slow and plain -------------- */

#define N_PIDS 6 /* processes 1..5, two threads each: tid = pid, pid + 100 */
#define N_PAGES 40
#define PAGE 0x1000

struct plain {
	struct {
		int object[N_PAGES]; /* -1: none */
		uint64_t pgoff[N_PAGES];
	} space[N_PIDS];
	struct {
		bool known, exited;
		char comm[16];
	} task[N_PIDS][2];
};

static void
plain_clear(struct plain *p, uint32_t pid)
{
	for (size_t i = 0; i < N_PAGES; i++)
		p->space[pid].object[i] = -1;
}

static void
plain_know(struct plain *p, uint32_t pid, int thread)
{
	uint32_t tid = thread ? pid + 100 : pid;

	p->task[pid][thread].exited = false;
	if (p->task[pid][thread].known)
		return;
	p->task[pid][thread].known = true;
	snprintf(p->task[pid][thread].comm, 16, ":%u", tid);
}

/* Records after the end of all are another's. */
static void
plain_other(struct plain *p, uint32_t pid)
{
	for (int t = 0; t < 2; t++)
		if (p->task[pid][t].known && !p->task[pid][t].exited)
			return;
	if (!p->task[pid][0].known && !p->task[pid][1].known)
		return;
	memset(p->task[pid], 0, sizeof(p->task[pid]));
	plain_clear(p, pid);
}

static void
random_step(struct task_model *m, struct plain *p, uint64_t time)
{
	static const char *const names[] = { "/a", "/b", "/c", "/d" };
	uint32_t pid = 1 + (uint32_t)random() % (N_PIDS - 1), other;
	int thread = (int)(random() % 2), object = (int)(random() % 4);
	struct step s = { .time = time, .pid = pid, .tid = thread ? pid + 100 : pid };
	uint64_t first = (uint64_t)random() % N_PAGES,
		 n = 1 + (uint64_t)random() % (N_PAGES - first);
	char comm[16];

	snprintf(comm, sizeof(comm), "c%u", (unsigned)(random() % 1000));
	switch (random() % 12) {
	case 0:
		s.op = 'F';
		s.tid = pid;
		other = 1 + (uint32_t)random() % (N_PIDS - 1);
		if (other == pid)
			return;
		s.ppid = s.ptid = other;
		memset(p->task[pid], 0, sizeof(p->task[pid]));
		plain_know(p, pid, 0);
		if (p->task[other][0].known && p->task[other][0].comm[0] != ':')
			memcpy(p->task[pid][0].comm, p->task[other][0].comm, 16);
		p->space[pid] = p->space[other];
		break;
	case 1:
		s = (struct step){ 'F', time, pid, pid + 100, pid, .ptid = pid };
		if (!p->task[pid][0].known)
			return;
		p->task[pid][1].known = false;
		plain_know(p, pid, 1);
		if (p->task[pid][0].comm[0] != ':')
			memcpy(p->task[pid][1].comm, p->task[pid][0].comm, 16);
		break;
	case 2:
		s.op = 'E';
		p->task[pid][thread].exited = p->task[pid][thread].known;
		break;
	case 3:
		s.op = 'X';
		s.tid = pid;
		s.name = comm;
		plain_other(p, pid);
		plain_know(p, pid, 0);
		memcpy(p->task[pid][0].comm, comm, 16);
		plain_clear(p, pid);
		p->task[pid][1].exited = p->task[pid][1].known;
		break;
	case 4:
		s.op = 'C';
		s.name = comm;
		plain_other(p, pid);
		plain_know(p, pid, thread);
		memcpy(p->task[pid][thread].comm, comm, 16);
		break;
	default:
		s.op = 'M';
		s.name = names[object];
		s.start = (first + 1) * PAGE;
		s.len = n * PAGE;
		s.pgoff = (uint64_t)object * 64 * PAGE + first * PAGE;
		plain_other(p, pid);
		plain_know(p, pid, thread);
		for (uint64_t i = first; i < first + n; i++) {
			p->space[pid].object[i] = object;
			p->space[pid].pgoff[i] = s.pgoff + (i - first) * PAGE;
		}
		break;
	}
	apply_step(m, &s);
}

static void
compare(const struct task_model *m, const struct plain *p)
{
	static const char *const names[] = { "/a", "/b", "/c", "/d" };

	for (uint32_t pid = 1; pid < N_PIDS; pid++) {
		for (int t = 0; t < 2; t++) {
			const struct task *task = task_model_task(m, pid, t ? pid + 100 : pid);

			assert_int_equal(task != NULL, p->task[pid][t].known);
			if (!task)
				continue;
			assert_int_equal(task->exited, p->task[pid][t].exited);
			assert_string_equal(task->comm, p->task[pid][t].comm);
		}
		for (uint64_t i = 0; i < N_PAGES; i++) {
			uint64_t addr = (i + 1) * PAGE + (uint64_t)random() % PAGE;
			int object = p->space[pid].object[i];

			assert_string_equal(path_at(m, pid, addr),
					    object < 0 ? "-" : names[object]);
			if (object >= 0)
				assert_int_equal(offset_at(m, pid, addr),
						 p->space[pid].pgoff[i] + addr % PAGE);
		}
		assert_string_equal(path_at(m, pid, (N_PAGES + 1) * PAGE), "-");
	}
}

static void
test_random_streams(void **state)
{
	static struct plain p;
	struct task_model *m;

	for (unsigned seed = 1; seed <= 60; seed++) {
		srandom(seed);
		memset(&p, 0, sizeof(p));
		for (uint32_t pid = 0; pid < N_PIDS; pid++)
			plain_clear(&p, pid);
		m = task_model_new();
		for (uint64_t i = 1; i <= 300; i++) {
			random_step(m, &p, i);
			if (i % 4 == 0)
				compare(m, &p);
			if (i % 50 == 0)
				check_snapshot(m);
		}
		task_model_prune(m, UINT64_MAX);
		task_model_free(m);
	}
}

/* One process that maps and unmaps for ever: the model stays bounded, libraries stay known. */
static void
test_maps_are_bounded(void **state)
{
	struct task_model *m = task_model_new();
	const struct step lib = { 'M', 1, 10, 10, .start = 0x1000, .len = 0x1000, .name = "/libc" };
	struct perf_record r = {
		.type = REC_MMAP2,
		.sid = { .time = 2 },
		.mmap = { .pid = 10, .tid = 10, .len = PAGE, .filename = "//anon" }
	};
	struct task_model_stats st;

	apply_step(m, &lib);
	for (uint64_t i = 0; i < 300000; i++) {
		r.mmap.addr = (UINT64_C(1) << 40) - i * 2 * PAGE;
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	task_model_stats(m, &st);
	assert_true(st.maps <= 131072);
	assert_string_equal(path_at(m, 10, 0x1000), "/libc");
	assert_string_equal(path_at(m, 10, r.mmap.addr), "//anon");
	task_model_free(m);
}

static struct perf_record
mmap_record(uint64_t time, uint32_t pid, uint64_t addr, uint64_t len, const char *path)
{
	return (struct perf_record){
		.type = REC_MMAP2,
		.sid = { .time = time },
		.mmap = { .pid = pid,
			  .tid = pid,
			  .addr = addr,
			  .len = len,
			  .filename = path,
			  .ino = 1 },
	};
}

/*
 * Each map inside the one before leaves two pieces: when the older half is as many as is
 * allowed, every further map walked all of them. Such a walk a map takes hours here.
 */
static void
test_nested_maps(void **state)
{
	struct task_model *m = task_model_new();
	const uint64_t n = 1000000;
	struct task_model_stats st;

	for (uint64_t i = 0; i < n; i++) {
		struct perf_record r =
			mmap_record(1, 10, i * PAGE, (UINT64_C(1) << 46) - 2 * i * PAGE, "/a");

		assert_int_equal(task_model_apply(m, &r), 0);
	}
	task_model_stats(m, &st);
	assert_true(st.maps <= 131072);
	assert_string_equal(path_at(m, 10, n * PAGE), "/a");
	task_model_free(m);
}

/* Children of a process with many maps, each of which maps one more: not a copy for each. */
static void
test_copies_are_bounded(void **state)
{
	struct task_model *m = task_model_new();
	struct task_model_stats st;
	struct perf_record r;

	for (uint64_t i = 0; i < 60000; i++) {
		r = mmap_record(1, 10, i * 2 * PAGE, PAGE, "/parent");
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	for (uint32_t pid = 1000; pid < 3000; pid++) {
		const struct step fork = { 'F', pid, pid, pid, 10, 10, .name = NULL };

		apply_step(m, &fork);
		r = mmap_record(pid, pid, UINT64_C(1) << 40, PAGE, "/child");
		assert_int_equal(task_model_apply(m, &r), 0);
		assert_string_equal(path_at(m, pid, UINT64_C(1) << 40), "/child");
		task_model_stats(m, &st);
		assert_true(st.maps <= ADDRESS_SPACES_MAPS_MAX);
	}
	assert_string_equal(path_at(m, 1000, 0), "/parent");
	assert_true(task_model_left_out(m).maps > 60000 * 1000);
	task_model_free(m);
}

/* A child that maps before it execs, again and again: the parent's maps are not copied for ever. */
static void
test_copies_are_paid_for(void **state)
{
	struct task_model *m = task_model_new();
	const uint64_t maps = 60000, children = 200;
	struct perf_record r;

	for (uint64_t i = 0; i < maps; i++) {
		r = mmap_record(1, 10, i * 2 * PAGE, PAGE, "/parent");
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	for (uint32_t i = 0; i < children; i++) {
		const struct step fork = { 'F', 2 + i, 20, 20, 10, 10, .name = NULL };

		apply_step(m, &fork);
		r = mmap_record(2 + i, 20, UINT64_C(1) << 40, PAGE, "/child");
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	/* Each copy is of all maps; those that were put pay for some, and some are free. */
	assert_int_equal(
		task_model_left_out(m).maps,
		(children -
		 (ADDRESS_SPACES_COPIES_FREE + ADDRESS_SPACES_COPIES_EACH * (maps + children)) /
			 maps) *
			maps);
	assert_string_equal(path_at(m, 10, 0), "/parent");
	assert_string_equal(path_at(m, 20, UINT64_C(1) << 40), "/child");
	task_model_free(m);
}

/* Many spaces with many maps: none that comes is kept, and what it replaced is gone. */
static void
test_all_maps_are_bounded(void **state)
{
	struct task_model *m = task_model_new();
	const uint64_t each = 50000, over = ADDRESS_SPACES_MAPS_MAX + each;
	struct task_model_stats st;
	struct perf_record r;

	for (uint64_t i = 0; i < over; i++) {
		r = mmap_record(1, 10 + (uint32_t)(i / each), i % each * 4 * PAGE, 3 * PAGE, "/a");
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	task_model_stats(m, &st);
	assert_int_equal(st.maps, ADDRESS_SPACES_MAPS_MAX);
	assert_int_equal(task_model_left_out(m).maps, each);
	/* In the middle of one that is there. */
	r = mmap_record(2, 10, PAGE, PAGE, "/b");
	assert_int_equal(task_model_apply(m, &r), 0);
	assert_string_equal(path_at(m, 10, 0), "/a");
	assert_null(task_model_map(m, 10, PAGE));
	assert_null(task_model_map(m, 10, 2 * PAGE));
	task_model_stats(m, &st);
	assert_int_equal(st.maps, ADDRESS_SPACES_MAPS_MAX);
	task_model_free(m);
}

/* Tasks that begin and never end: those heard of first are forgotten, and counted. */
static void
test_living_are_bounded(void **state)
{
	struct task_model *m = task_model_new();
	const uint32_t n = TASK_MODEL_LIVING_MAX + 1000;
	struct task_model_stats st;

	for (uint32_t i = 0; i < n; i++) {
		struct perf_record r = { .type = REC_COMM,
					 .sid = { .time = 1 + i },
					 .comm = { .pid = 10 + i, .tid = 10 + i, .comm = "x" } };

		assert_int_equal(task_model_apply(m, &r), 0);
	}
	task_model_stats(m, &st);
	assert_int_equal(st.tasks, TASK_MODEL_LIVING_MAX);
	assert_int_equal(task_model_left_out(m).tasks, 1000);
	assert_null(task_model_task(m, 1009, 1009));
	assert_non_null(task_model_task(m, 1010, 1010));
	task_model_free(m);
}

/* Files without end: those mapped now are kept; of what has no room the kernel's name stands there. */
static void
test_names_are_bounded(void **state)
{
	struct task_model *m = task_model_new();
	static char path[4000];
	struct task_model_stats st;
	struct perf_record r;

	memset(path, 'n', sizeof(path) - 1);
	for (uint32_t i = 0; i < 3 * MAP_OBJECTS_BYTES_MAX / sizeof(path); i++) {
		snprintf(path, 16, "/%u", i);
		path[strlen(path)] = 'n';
		/* Each in the place of the one before. */
		r = mmap_record(1, 10, 0, PAGE, path);
		assert_int_equal(task_model_apply(m, &r), 0);
		assert_string_equal(path_at(m, 10, 0), path);
	}
	assert_int_equal(task_model_left_out(m).names, 0);
	for (uint32_t i = 0; i < 3 * MAP_OBJECTS_BYTES_MAX / sizeof(path); i++) {
		snprintf(path, 16, "/x%u", i);
		path[strlen(path)] = 'n';
		r = mmap_record(1, 10, (1 + i) * PAGE, PAGE, path);
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	assert_string_equal(path_at(m, 10, 10 * PAGE) + 8, path + 8);
	assert_string_equal(path_at(m, 10, r.mmap.addr), MAP_OBJECTS_LEFT_OUT);
	assert_true(task_model_left_out(m).names > 15000);
	task_model_stats(m, &st);
	assert_true(st.bytes < 2 * MAP_OBJECTS_BYTES_MAX);
	for (uint32_t i = 0; i < 3 * KERNEL_NAMES_BYTES_MAX / sizeof(path); i++) {
		r = (struct perf_record){ .type = REC_CGROUP, .cgroup = { .id = i, .path = path } };
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	assert_non_null(task_model_cgroup(m, 0));
	assert_null(task_model_cgroup(m, r.cgroup.id));
	task_model_free(m);
}

/* Build-ids by path, one for each of many files. */
static void
test_build_ids_by_path(void **state)
{
	struct task_model *m = task_model_new();
	const uint32_t n = 50000;
	struct buildid id = { .size = 20 };
	struct perf_record r;
	char path[16];

	for (uint32_t i = 0; i < 2 * n; i++) {
		(void)snprintf(path, sizeof(path), "/%u", i % n);
		r = mmap_record(1, 10, (uint64_t)i * PAGE, PAGE, path);
		r.mmap.ino = 1 + i;
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	for (uint32_t i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "/%u", i);
		le32enc(id.bytes, i);
		assert_int_equal(task_model_set_path_build_id(m, path, strlen(path), &id), 0);
	}
	for (uint32_t i = 0; i < 2 * n; i++) {
		const struct map_object *o = task_model_map(m, 10, (uint64_t)i * PAGE)->object;

		assert_int_equal(o->build_id.size, 20);
		assert_int_equal(le32dec(o->build_id.bytes), i % n);
	}
	task_model_free(m);
}

/* An exec ends the threads that live, and does not look at those that ended long ago. */
static void
test_exec_after_exec(void **state)
{
	struct task_model *m = task_model_new();
	const struct step leader = { 'C', 1, 10, 10, .name = "a" };

	apply_step(m, &leader);
	for (uint32_t tid = 100; tid < 30100; tid++) {
		const struct step thread = { 'F', tid, 10, tid, 10, 10, .name = NULL };

		apply_step(m, &thread);
	}
	for (uint32_t i = 0; i < 300000; i++) {
		struct perf_record exec = { .type = REC_COMM,
					    .misc = TASK_MISC_COMM_EXEC,
					    .sid = { .time = 40000 + i },
					    .comm = { .pid = 10, .tid = 10, .comm = "b" } };

		assert_int_equal(task_model_apply(m, &exec), 0);
	}
	assert_false(task_model_task(m, 10, 10)->exited);
	for (uint32_t tid = 100; tid < 30100; tid += 100)
		assert_true(task_model_task(m, 10, tid)->exited);
	task_model_free(m);
}

/* One inode by many paths, and build-ids for it without end. */
static void
test_build_ids_of_one_inode(void **state)
{
	struct task_model *m = task_model_new();
	const uint32_t n = 100000;
	const struct map_object *o;
	struct perf_record r;
	struct buildid id = { .size = 20 };
	char path[16];

	for (uint32_t i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "/%u", i);
		r = mmap_record(1, 10, (uint64_t)i * PAGE, PAGE, path);
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	for (uint32_t i = 0; i < n; i++) {
		le32enc(id.bytes, i);
		assert_int_equal(task_model_set_build_id(m, 0, 0, 1, 0, &id), 0);
	}
	o = task_model_map(m, 10, 0)->object;
	assert_int_equal(o->build_id.size, 20);
	assert_int_equal(le32dec(o->build_id.bytes), 0);
	r = mmap_record(1, 10, (uint64_t)n * PAGE, PAGE, "/new");
	assert_int_equal(task_model_apply(m, &r), 0);
	o = task_model_map(m, 10, (uint64_t)n * PAGE)->object;
	assert_int_equal(le32dec(o->build_id.bytes), n - 1);
	task_model_free(m);
}

/* --- a model that lives as long as its host --- */

#define LIMIT (UINT64_C(32) << 20)
#define LONG_PATH 3800

/* The n-th of paths as long as the kernel tells them. */
static const char *
long_path(uint64_t n)
{
	static char path[LONG_PATH + 1];

	memset(path, 'x', LONG_PATH);
	(void)snprintf(path, sizeof(path), "/%020llu", (unsigned long long)n);
	path[21] = 'x';
	return path;
}

static void
apply_map(struct task_model *m, uint32_t pid, uint64_t addr, uint64_t ino, const char *path)
{
	struct perf_record r = mmap_record(1, pid, addr, PAGE, path);

	r.mmap.ino = ino;
	assert_int_equal(task_model_apply(m, &r), 0);
}

static uint64_t
maps_of(const struct task_model *m, uint32_t pid, uint64_t n)
{
	uint64_t found = 0;

	for (uint64_t i = 0; i < n; i++)
		found += task_model_map(m, pid, i * 2 * PAGE) != NULL;
	return found;
}

/* Processes with as many maps as the kernel allows, and one with three hundred behind them. */
static void
test_limit_of_maps(void **state)
{
	struct task_model *m = task_model_new();
	struct task_model_stats st;

	task_model_limit(m, LIMIT);
	for (uint32_t pid = 100; pid < 108; pid++)
		for (uint64_t i = 0; i < 65000; i++)
			apply_map(m, pid, i * 2 * PAGE, 1, long_path(1));
	for (uint64_t i = 0; i < 300; i++)
		apply_map(m, 10, i * 2 * PAGE, 2, "/lib");
	task_model_stats(m, &st);
	assert_true(st.bytes <= LIMIT / 2);
	/* The newest are those that stay. */
	assert_string_equal(path_at(m, 107, UINT64_C(64999) * 2 * PAGE), long_path(1));
	assert_string_equal(path_at(m, 107, 0), "-");
	assert_int_equal(maps_of(m, 10, 300), 300);
	assert_int_equal(st.maps + st.left_out, 8 * 65000 + 300);
	task_model_free(m);
}

/* Children that share their parent's maps until each of them maps something. */
static void
test_limit_of_copies(void **state)
{
	struct task_model *m = task_model_new();
	struct task_model_stats st;

	task_model_limit(m, LIMIT);
	for (uint64_t i = 0; i < 8000; i++)
		apply_map(m, 10, i * 2 * PAGE, 1, "/parent");
	for (uint32_t pid = 1000; pid < 4000; pid++) {
		const struct step fork = { 'F', pid, pid, pid, 10, 10, .name = NULL };

		apply_step(m, &fork);
		apply_map(m, pid, UINT64_C(1) << 40, 2, "/child");
	}
	task_model_stats(m, &st);
	assert_true(st.bytes <= LIMIT);
	/* The first got all of it, a later one the newest, the last still something. */
	assert_int_equal(maps_of(m, 1000, 8000), 8000);
	assert_true(st.left_out > 0);
	assert_string_equal(path_at(m, 3999, UINT64_C(1) << 40), "/child");
	assert_string_equal(path_at(m, 3999, UINT64_C(7999) * 2 * PAGE), "/parent");
	task_model_free(m);
}

/* Tasks without number, none of which ends, beside maps that fill it. */
static void
test_limit_of_tasks(void **state)
{
	struct task_model *m = task_model_new();
	struct task_model_stats st;

	task_model_limit(m, LIMIT);
	for (uint32_t pid = 100; pid < 110; pid++)
		for (uint64_t i = 0; i < 65000; i++)
			apply_map(m, pid, i * 2 * PAGE, pid, "/lib");
	for (uint32_t pid = 1000; pid < 201000; pid++) {
		struct perf_record r = { .type = REC_COMM,
					 .sid = { .time = 1 + pid },
					 .comm = { .pid = pid, .tid = pid, .comm = "x" } };

		assert_int_equal(task_model_apply(m, &r), 0);
	}
	task_model_stats(m, &st);
	assert_true(st.bytes <= LIMIT + LIMIT / TASK_MODEL_TASKS_PART);
	assert_true(task_model_left_out(m).tasks > 0);
	/* Tasks that fit are there, whatever maps take. */
	assert_non_null(task_model_task(m, 200000, 200000));
	assert_true(st.tasks > LIMIT / TASK_MODEL_TASKS_PART / 400);
	task_model_free(m);
}

/* Every map another file with another long path: what nothing maps any more is forgotten. */
static void
test_limit_of_names(void **state)
{
	struct task_model *m = task_model_new();
	struct task_model_stats st;

	task_model_limit(m, LIMIT);
	for (uint64_t i = 0; i < 100000; i++) {
		apply_map(m, 10, i % 300 * 2 * PAGE, i, long_path(i));
		if (i % 1000)
			continue;
		task_model_stats(m, &st);
		assert_true(st.bytes <= LIMIT);
	}
	apply_map(m, 11, 0, 1, "/lib");
	assert_string_equal(path_at(m, 11, 0), "/lib");
	/* From many processes: none of them may have what there is no room for. */
	for (uint32_t pid = 100; pid < 2100; pid++)
		for (uint64_t i = 0; i < 20; i++)
			apply_map(m, pid, i * 2 * PAGE, pid * 20 + i, long_path(pid * 20 + i));
	task_model_stats(m, &st);
	assert_true(st.bytes <= LIMIT + LIMIT / 8);
	assert_true(st.left_out > 0);
	assert_string_equal(path_at(m, 11, 0), "/lib");
	task_model_free(m);
}

/* What is over tells no lies: an older map is not what stands there now. */
static void
test_limit_leaves_nothing_old(void **state)
{
	struct task_model *m = task_model_new();

	apply_map(m, 10, 0, 1, "/old");
	task_model_limit(m, 1);
	apply_map(m, 10, 0, 2, "/new");
	assert_string_equal(path_at(m, 10, 0), "-");
	task_model_limit(m, LIMIT);
	apply_map(m, 10, 0, 2, "/new");
	assert_string_equal(path_at(m, 10, 0), "/new");
	task_model_free(m);
}

static void
fill(struct task_model *m)
{
	struct task_model_stats st = { 0 };

	for (uint32_t n = 0; n < 20000 && st.bytes <= LIMIT; n++) {
		apply_map(m, 1000 + n / 20, n % 20 * 2 * PAGE, 1000 + n, long_path(n));
		task_model_stats(m, &st);
	}
	assert_true(st.bytes > LIMIT);
}

/* Many small processes fill it: the others keep what they had, but for what they map over. */
static void
test_limit_keeps_the_rest(void **state)
{
	struct task_model *m = task_model_new();
	const struct step fork = { 'F', 12, 12, 12, 11, 11, .name = NULL };
	struct task_model_stats before, st;

	task_model_limit(m, LIMIT);
	for (uint64_t i = 0; i < 20; i++)
		apply_map(m, 11, i * 2 * PAGE, 1, "/lib");
	fill(m);
	task_model_stats(m, &before);
	apply_map(m, 11, UINT64_C(1) << 40, 2, "/new");
	apply_map(m, 11, 0, 2, "/new");
	/* Told again, as a scan does. */
	apply_map(m, 11, 2 * PAGE, 1, "/lib");
	assert_int_equal(maps_of(m, 11, 20), 19);
	assert_string_equal(path_at(m, 11, 0), "-");
	assert_string_equal(path_at(m, 11, UINT64_C(1) << 40), "-");
	task_model_stats(m, &st);
	assert_int_equal(st.left_out, before.left_out + 2);
	assert_true(st.bytes <= before.bytes);
	/* A child has what its parent has until it maps something else; the parent is not asked. */
	apply_step(m, &fork);
	assert_int_equal(maps_of(m, 12, 20), 19);
	apply_map(m, 12, UINT64_C(1) << 40, 2, "/new");
	assert_int_equal(maps_of(m, 12, 20), 0);
	assert_int_equal(maps_of(m, 11, 20), 19);
	task_model_free(m);
}

/* Who has more than others loses the older ones all the same. */
static void
test_limit_of_many_when_full(void **state)
{
	struct task_model *m = task_model_new();

	task_model_limit(m, LIMIT);
	for (uint64_t i = 0; i < 300; i++)
		apply_map(m, 11, i * 2 * PAGE, 1, "/lib");
	fill(m);
	apply_map(m, 11, UINT64_C(1) << 40, 2, "/new");
	assert_uint_in_range(maps_of(m, 11, 300), 10, 32);
	assert_string_equal(path_at(m, 11, UINT64_C(299) * 2 * PAGE), "/lib");
	task_model_free(m);
}

static void
test_limit_of_cgroups(void **state)
{
	struct perf_record r = { .type = REC_CGROUP };
	struct task_model *m = task_model_new();
	struct task_model_stats st;

	task_model_limit(m, LIMIT);
	r.cgroup.path = "/system.slice";
	assert_int_equal(task_model_apply(m, &r), 0);
	for (uint64_t i = 1; i <= 10000; i++) {
		r.cgroup.id = i;
		r.cgroup.path = long_path(i);
		assert_int_equal(task_model_apply(m, &r), 0);
	}
	task_model_stats(m, &st);
	assert_true(st.left_out > 8000);
	assert_string_equal(task_model_cgroup(m, 0), "/system.slice");
	assert_null(task_model_cgroup(m, 10000));
	task_model_forget_cgroups(m);
	assert_null(task_model_cgroup(m, 0));
	assert_int_equal(task_model_apply(m, &r), 0);
	assert_string_equal(task_model_cgroup(m, 10000), long_path(10000));
	task_model_free(m);
}

/* The process whose memory that of pid is a copy of, and so on: "PID@FORK+START ...". */
static const char *
origins(const struct task_model *m, uint32_t pid)
{
	static char text[128];
	size_t n = 0;

	text[0] = 0;
	for (const struct task_origin *o = task_model_origin(m, pid); o; o = o->from)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u@%u+%u", n ? " " : "",
				      o->pid, (unsigned)o->fork_ns, (unsigned)o->start_ns);
	return text;
}

static void
test_origins(void **state)
{
	static const struct step steps[] = {
		{ 'F', 10, 5, 5, 1, .ptid = 1 },    { 'F', 20, 6, 6, 5, .ptid = 5 },
		{ 'F', 30, 7, 7, 6, .ptid = 6 },    { 'F', 35, 7, 70, 7, .ptid = 7 }, /* a thread */
		{ 'X', 40, 6, 6, .name = "other" }, { 'X', 41, 5, 5, .name = "other" },
	};
	static const struct step later[] = {
		{ 'E', 50, 6, 6, 5, .ptid = 5 },
		{ 'E', 50, 5, 5, 1, .ptid = 1 },
	};
	static const struct step other = { 'F', 70, 5, 5, 1, .ptid = 1 };
	static const struct step exec = { 'X', 200, 9, 9, .name = "other" };
	struct task_model *m = REPLAY(steps);
	struct buf out;

	/* Who is not known has no memory that was copied. */
	assert_string_equal(origins(m, 5), "");
	/* What the parent executes later does not concern its child. */
	assert_string_equal(origins(m, 6), "");
	assert_string_equal(origins(m, 7), "6@30+20 5@20+10");
	/* Nor does its end, nor who has its number then. */
	apply_step(m, &later[0]);
	apply_step(m, &later[1]);
	task_model_prune(m, 60);
	apply_step(m, &other);
	assert_string_equal(origins(m, 7), "6@30+20 5@20+10");
	/* Of many the first are known. */
	for (uint32_t pid = 8; pid < 15; pid++)
		apply_step(m, &(struct step){ 'F', pid * 10, pid, pid, pid - 1, .ptid = pid - 1 });
	assert_string_equal(origins(m, 14), "8@90+80 7@80+30 6@30+20 5@20+10");
	/* A snapshot has the nearest, and nothing of who executed a program. */
	apply_step(m, &exec);
	snapshot(m, &out);
	task_model_free(m);
	m = task_model_new();
	apply_raw(m, buf_span(&out));
	assert_string_equal(origins(m, 7), "6@30+0");
	assert_string_equal(origins(m, 8), "7@80+30 6@30+0");
	assert_string_equal(origins(m, 9), "");
	/* One more takes nothing from what is known. */
	apply_raw(m, buf_span(&out));
	assert_string_equal(origins(m, 8), "7@80+30 6@30+0");
	buf_done(&out);
	task_model_free(m);
}

/* Pieces are whole records; one that is refused ends the snapshot with its error. */
static void
test_snapshot_in_pieces(void **state)
{
	struct task_model *m = task_model_new();
	struct perf_sample_id sid = { .time = 1 };
	struct buf out;

	for (uint64_t i = 0; i < 3000; i++)
		apply_map(m, 10, i * 2 * PAGE, i, long_path(i));
	snapshot(m, &out);
	assert_true(out.len > 10 * TASK_MODEL_PIECE_BYTES);
	check_snapshot(m);
	buf_done(&out);
	assert_int_equal(task_model_snapshot(m, &attr, &sid, NULL, refuse, NULL), -FMT_E_IO);
	task_model_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_share),
		cmocka_unit_test(test_pid_zero),
		cmocka_unit_test(test_fork_copies),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_exec_clears),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_pid_reuse),
		cmocka_unit_test(test_pid_reuse_unheard),
		cmocka_unit_test(test_prune),
		cmocka_unit_test(test_ghosts_are_bounded),
		cmocka_unit_test(test_late_fork_wipes_nothing),
		cmocka_unit_test(test_unknown_tasks),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_late_build_id),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_random_streams),
		cmocka_unit_test(test_maps_are_bounded),
		cmocka_unit_test(test_nested_maps),
		cmocka_unit_test(test_copies_are_bounded),
		cmocka_unit_test(test_copies_are_paid_for),
		cmocka_unit_test(test_all_maps_are_bounded),
		cmocka_unit_test(test_living_are_bounded),
		cmocka_unit_test(test_names_are_bounded),
		cmocka_unit_test(test_build_ids_by_path),
		cmocka_unit_test(test_exec_after_exec),
		cmocka_unit_test(test_build_ids_of_one_inode),
		cmocka_unit_test(test_limit_of_maps),
		cmocka_unit_test(test_limit_of_copies),
		cmocka_unit_test(test_limit_of_names),
		cmocka_unit_test(test_limit_of_tasks),
		cmocka_unit_test(test_limit_leaves_nothing_old),
		cmocka_unit_test(test_limit_keeps_the_rest),
		cmocka_unit_test(test_limit_of_many_when_full),
		cmocka_unit_test(test_limit_of_cgroups),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_snapshot_in_pieces),
	};

	return cmocka_run_group_tests_name("task_model", tests, NULL, NULL);
}
