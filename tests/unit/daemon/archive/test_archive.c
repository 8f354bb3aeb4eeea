/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/archive/archive.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/archive/archive_lock.h"
#include "daemon/config/config_value.h"
#include "format/block/recording_header.h"
#include "recorder/host/host.h"
#include "tests/lab/archive_lab.h"
#include "tests/lab/child_lab.h"

#define NAME_OLD "20250102T030405.000000Z-abcdef01-000007"

static struct archive_usage
usage(const struct lab *l)
{
	struct archive_usage u;

	archive_usage(l->archive, &u);
	return u;
}

static void
test_open(void **state)
{
	struct lab l;
	struct archive *other = NULL;
	struct session_error error = { 0 };
	struct archive_sight sight;
	struct stat st;
	char path[128];

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	assert_int_equal(stat(l.dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	assert_true(lab_exists(&l, "captures"));
	assert_true(lab_exists(&l, "kept"));
	/* One directory, one daemon. */
	assert_int_equal(archive_open(l.config, &other, &error), -EBUSY);
	assert_non_null(strstr(error.text, "another spoord"));
	assert_null(other);
	snprintf(path, sizeof(path), "%s/.lock", l.dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* Whoever takes the file away has it made again, and lets nobody in. */
	assert_int_equal(unlink(path), 0);
	archive_look(l.archive, &sight);
	assert_false(sight.astray);
	assert_int_equal(archive_open(l.config, &other, &error), -EBUSY);
	assert_true(lab_exists(&l, ".lock"));
	lab_close(&l);
	assert_false(lab_exists(&l, ".lock"));
	lab_open(&l);
	lab_done(&l);
}

/* Versions up to 0.1.0 lock a file of this name; it stays behind when one is killed. */
static void
test_lock_of_0_1_0(void **state)
{
	struct archive *other = NULL;
	struct session_error error = { 0 };
	char path[128];
	struct lab l;
	int fd;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	lab_close(&l);
	lab_plant(&l, ".lock", "", 0);
	snprintf(path, sizeof(path), "%s/.lock", l.dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(archive_open(l.config, &other, &error), -EBUSY);
	assert_non_null(strstr(error.text, "another spoord"));
	assert_true(lab_exists(&l, ".lock"));
	close(fd);
	lab_open(&l);
	lab_close(&l);
	assert_false(lab_exists(&l, ".lock"));
	lab_done(&l);
}

struct locked {
	int fd;
	bool file;
};

static void
take_locks(void *arg)
{
	const struct locked *l = arg;
	int file_fd = l->file ? openat(l->fd, ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (flock(l->fd, LOCK_EX) != 0 || (l->file && flock(file_fd, LOCK_EX) != 0))
		_exit(1);
}

/* A child locks the directory, and, like a spoord, the file; it stays, or leaves the lock to nobody. */
static void
lock_in_child(const struct lab *l, bool file, bool stays, pid_t *ret_pid, int *ret_fd)
{
	struct locked locked = { open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), file };

	assert_true(locked.fd >= 0);
	*ret_pid = child_lab_start(getuid(), take_locks, &locked);
	if (!stays)
		child_lab_end(*ret_pid);
	*ret_fd = locked.fd;
}

/* Who has locked the directory alone, whatever its user, keeps no spoord out. */
static void
test_lock_of_nobody(void **state)
{
	struct archive *other = NULL;
	struct session_error error = { 0 };
	struct lab l;
	pid_t pid;
	int fd;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	lab_close(&l);
	lock_in_child(&l, true, true, &pid, &fd);
	assert_int_equal(archive_open(l.config, &other, &error), -EBUSY);
	child_lab_end(pid);
	/* A descriptor that outlives the process: here it is ours. */
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
	for (int stays = 0; stays < 2; stays++) {
		lock_in_child(&l, false, stays, &pid, &fd);
		lab_open(&l);
		assert_true(lab_exists(&l, ".lock"));
		assert_int_equal(archive_open(l.config, &other, &error), -EBUSY);
		lab_close(&l);
		assert_false(lab_exists(&l, ".lock"));
		if (stays)
			child_lab_end(pid);
		close(fd);
	}
	lab_open(&l);
	lab_done(&l);
}

/* A spoord whose lock of the directory was somebody else's first gets it as soon as it is free. */
static void
test_lock_is_completed(void **state)
{
	struct archive_sight sight;
	struct lab l;
	pid_t pid;
	int fd;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	lab_close(&l);
	lock_in_child(&l, false, false, &pid, &fd);
	lab_open(&l);
	archive_look(l.archive, &sight);
	close(fd);
	fd = open(l.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	archive_look(l.archive, &sight);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	close(fd);
	lab_done(&l);
}

static void
test_dying_threads(void **state)
{
	static const char *const name = "spoor-writer) Z (x";
	char stat[256], status[256];

	for (int i = 0; i < 5; i++) {
		static const struct {
			char state;
			unsigned int flags;
			const char *pending;
			bool dying;
		} cases[] = {
			{ 'S', 0x400040, "0000000000000000", false },
			{ 'D', 0x400040, "fffffffffffffeff", false },
			{ 'D', 0x400040, "0000000000000100", true },
			{ 'D', 0x400044, "0000000000000000", true },
			{ 'Z', 0x40040c, "0000000000000000", true },
		};

		snprintf(stat, sizeof(stat), "12 (%s) %c 1 12 12 0 -1 %u 0 0", name, cases[i].state,
			 cases[i].flags);
		snprintf(status, sizeof(status), "Name:\tx\nSigPnd:\t%s\nShdPnd:\t%s\n",
			 cases[i].pending, "0000000000000000");
		assert_int_equal(archive_lock_is_dying(stat, status), cases[i].dying);
	}
	assert_false(archive_lock_is_dying("", "\nSigPnd:"));
}

static void
test_open_fails(void **state)
{
	struct lab l;
	struct archive *other = NULL;
	struct session_error error = { 0 };
	char path[128];

	assert_true(lab_init(&l, 0));
	free(l.config->archive_directory);
	l.config->archive_directory = strdup("/nonexistent/a/b");
	assert_int_equal(archive_open(l.config, &other, &error), -ENOENT);
	assert_string_equal(error.text,
			    "archive_directory /nonexistent/a/b: No such file or directory: "
			    "create its parent directory, or what it links to");
	/* A link where a directory of ours is to be is not followed. */
	free(l.config->archive_directory);
	l.config->archive_directory = strdup(l.dir);
	assert_int_equal(mkdir(l.dir, 0700), 0);
	snprintf(path, sizeof(path), "%s/captures", l.dir);
	assert_int_equal(symlink("/tmp", path), 0);
	assert_true(archive_open(l.config, &other, &error) < 0);
	assert_null(other);
	lab_done(&l);
}

static void
test_life(void **state)
{
	struct lab l;
	struct io_sink *sink;
	struct archive_entry *list = NULL;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	sink = lab_segment(&l);
	assert_int_equal(lab_write(sink, 1000, true), 0);
	assert_true(lab_exists(&l, "20260102T030406.500000Z-abcdef01-000001.spoor.active"));
	assert_int_equal(archive_list(l.archive, &list), 1);
	assert_string_equal(list[0].kind, "active");
	assert_string_equal(list[0].name, "20260102T030406.500000Z-abcdef01-000001.spoor.active");
	assert_int_equal(list[0].bytes, 4096);
	free(list);
	assert_int_equal(sink->sync(sink), 0);
	assert_int_equal(sink->cut(sink, 500), 0);
	assert_int_equal(lab_write(sink, 100, false), 0);
	sink->close(sink);
	assert_false(lab_exists(&l, "20260102T030406.500000Z-abcdef01-000001.spoor.active"));
	assert_true(lab_exists(&l, "20260102T030406.500000Z-abcdef01-000001.spoor"));

	sink = lab_capture(&l);
	assert_int_equal(lab_write(sink, 5000, true), 0);
	sink->close(sink);
	/* An empty one leaves nothing. */
	sink = lab_segment(&l);
	sink->close(sink);
	assert_int_equal(archive_list(l.archive, &list), 2);
	assert_string_equal(list[0].kind, "segment");
	assert_int_equal(list[0].start_s, 1767323046);
	assert_string_equal(list[1].kind, "capture");
	assert_string_equal(list[1].name, "captures/20260102T030408.000000Z-000002.spoor");
	assert_int_equal(list[1].bytes, 8192);
	free(list);
	assert_int_equal(usage(&l).segments, 1);
	assert_int_equal(usage(&l).captures, 1);
	lab_check(&l, 1 << 20);
	/* The same from the directory. */
	lab_close(&l);
	lab_open(&l);
	assert_int_equal(usage(&l).segments, 1);
	assert_int_equal(usage(&l).captures, 1);
	lab_done(&l);
}

static void
test_leftovers(void **state)
{
	struct lab l;
	char path[256], target[256];

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	lab_close(&l);
	lab_plant(&l, NAME_OLD ".spoor.active", RECORDING_MAGIC "and more", 16);
	lab_plant(&l, "captures/" NAME_OLD ".spoor.active", RECORDING_MAGIC "and more", 16);
	lab_plant(&l, "empty.spoor.active", "", 0);
	lab_plant(&l, "torn.spoor.active", "\x89SP", 3);
	lab_plant(&l, "garbage.spoor", "not a recording at all", 22);
	lab_plant(&l, "garbage.spoor~", "an older one", 12);
	lab_plant(&l, "README", "hello", 5);
	lab_plant(&l, ".copied.spoor", "not all of it yet", 17);
	lab_plant(&l, ".copied.spoor.active", "nor of this", 11);
	snprintf(path, sizeof(path), "%s/link.spoor", l.dir);
	snprintf(target, sizeof(target), "%s/outside", l.tmp);
	assert_int_equal(symlink(target, path), 0);
	snprintf(path, sizeof(path), "%s/fifo.spoor", l.dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	lab_open(&l);
	assert_true(lab_exists(&l, NAME_OLD ".spoor"));
	assert_true(lab_exists(&l, "captures/" NAME_OLD ".spoor"));
	assert_false(lab_exists(&l, "empty.spoor.active"));
	assert_true(lab_exists(&l, "torn.spoor~"));
	assert_true(lab_exists(&l, "garbage.spoor~"));
	assert_true(lab_exists(&l, "garbage.spoor~~"));
	assert_true(lab_exists(&l, "README"));
	assert_true(lab_exists(&l, ".copied.spoor"));
	assert_true(lab_exists(&l, ".copied.spoor.active"));
	assert_true(lab_exists(&l, "link.spoor"));
	assert_int_equal(usage(&l).segments, 1);
	assert_int_equal(usage(&l).captures, 1);
	assert_int_equal(usage(&l).quarantined, 3);
	lab_check(&l, 1 << 20);
	/* Numbers go on after what is there. */
	assert_int_equal(lab_file(&l, 100), 0);
	assert_true(lab_exists(&l, "20260102T030406.500000Z-abcdef01-000008.spoor"));
	lab_done(&l);
}

/* To search all of it would take minutes. It is set aside, or gone: it is over all limits. */
static void
test_large_leftover(void **state)
{
	struct lab l;
	char path[256];

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	lab_close(&l);
	lab_plant(&l, NAME_OLD ".spoor.active", RECORDING_MAGIC "and more", 16);
	lab_plant(&l, "sparse.spoor", "", 0);
	snprintf(path, sizeof(path), "%s/sparse.spoor", l.dir);
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	lab_open(&l);
	assert_true(lab_exists(&l, NAME_OLD ".spoor"));
	assert_false(lab_exists(&l, "sparse.spoor"));
	lab_done(&l);
}

static void
test_bound(void **state)
{
	struct lab l;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	for (int i = 0; i < 100; i++) {
		struct io_sink *sink = lab_segment(&l);

		for (int k = 0; k < 10; k++) {
			assert_int_equal(lab_write(sink, 10000, k == 0), 0);
			lab_check(&l, 1 << 20);
		}
		sink->close(sink);
	}
	/* And not much less than what is allowed is used. */
	assert_true(lab_du(&l) > (1 << 20) - 150000);
	assert_true(usage(&l).deleted_segments >= 88);
	assert_true(lab_exists(&l, "20260102T030635.000000Z-abcdef01-000100.spoor"));
	lab_done(&l);
}

/* What is being written is never deleted: it is refused more. */
static void
test_refused(void **state)
{
	struct lab l;
	struct io_sink *a, *b;
	size_t n = 0;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	assert_int_equal(lab_file(&l, 100000), 0);
	a = lab_segment(&l);
	b = lab_capture(&l);
	while (lab_write(n % 2 ? a : b, 30000, n < 2) == 0)
		n++;
	assert_int_equal(lab_write(a, 30000, false), -ENOSPC);
	assert_int_equal(lab_write(b, 30000, false), -ENOSPC);
	assert_int_equal(usage(&l).segments, 0);
	assert_true(n > 30);
	/* Refused, nothing of it was written. */
	lab_check(&l, 1 << 20);
	/* The one ends, and makes way for the other. */
	b->close(b);
	assert_int_equal(lab_write(a, 30000, false), 0);
	assert_int_equal(usage(&l).captures, 0);
	a->close(a);
	lab_done(&l);
}

static void
test_keep(void **state)
{
	struct lab l;
	struct session_error error = { 0 };
	uint64_t bytes = 0;
	struct io_sink *active;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	for (int i = 0; i < 6; i++)
		assert_int_equal(lab_file(&l, 100000), 0);
	active = lab_segment(&l);
	assert_int_equal(lab_write(active, 1000, true), 0);
	/* Names say 1767323046, 48, 49, 51, 52, 54; all end now. */
	assert_int_equal(archive_keep(l.archive, "a-1", 0, 1767323050, false, NULL, &error), 3);
	assert_int_equal(lab_count(&l, "kept/a-1", ".spoor"), 3);
	assert_int_equal(usage(&l).kept, 3);
	assert_true(usage(&l).bytes < 700000);
	/* Again is the same; another label has links of its own. */
	assert_int_equal(archive_keep(l.archive, "a-1", 0, 1767323050, false, NULL, &error), 3);
	assert_int_equal(archive_keep(l.archive, "b", 0, 1767323046, false, NULL, &error), 1);
	assert_int_equal(usage(&l).kept, 4);
	assert_true(usage(&l).bytes < 700000);
	/* Nothing there: no directory either. */
	assert_int_equal(archive_keep(l.archive, "none", 0, 1, false, NULL, &error), 0);
	assert_false(lab_exists(&l, "kept/none"));
	/* All of it would leave nothing to go on with. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(lab_file(&l, 100000), 0);
	assert_int_equal(archive_keep(l.archive, "all", 0, UINT64_MAX, false, NULL, &error),
			 -ENOSPC);
	assert_false(lab_exists(&l, "kept/all"));

	assert_int_equal(archive_vacuum(l.archive, 1, 0, 0, &bytes, NULL, &error), 5);
	assert_int_equal(bytes, 5 * 102400);
	assert_int_equal(lab_count(&l, "", ".spoor"), 3);
	assert_int_equal(lab_count(&l, "", ".active"), 1);
	assert_int_equal(lab_count(&l, "kept/a-1", ".spoor"), 3);
	active->close(active);
	lab_done(&l);
}

/* member_keep: half of max_use, for all members together, and half of the files in kept/. */
static void
test_members_keep(void **state)
{
	struct lab l;
	struct session_error error = { 0 };
	struct stat st;
	char path[256];

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	for (int i = 0; i < 6; i++)
		assert_int_equal(lab_file(&l, 100000), 0);
	assert_int_equal(usage(&l).max_use, 1 << 20);
	/* Root's may be any, and cost members nothing: 4 files. */
	assert_int_equal(archive_keep(l.archive, "root", 0, 1767323051, false, NULL, &error), 4);
	/* What both pin counts in full: root may unpin it. 4 files are 400 KiB, a fifth is not half any more. */
	assert_int_equal(archive_keep(l.archive, "a", 0, 1767323051, true, NULL, &error), 4);
	snprintf(path, sizeof(path), "%s/kept/a", l.dir);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_mode & S_ISVTX);
	assert_int_equal(archive_keep(l.archive, "b", 0, UINT64_MAX, true, NULL, &error), -EDQUOT);
	assert_non_null(strstr(error.text, "half of max_use, which is 524288"));
	assert_non_null(strstr(error.text, "/kept (rm -r"));
	assert_false(lab_exists(&l, "kept/b"));
	/* The same files under another label take a directory. */
	assert_int_equal(archive_keep(l.archive, "c", 0, 1767323051, true, NULL, &error), 4);
	/* Root's labels are root's; what root adds to one of theirs is theirs. */
	assert_int_equal(archive_keep(l.archive, "root", 0, 1767323046, true, NULL, &error),
			 -EEXIST);
	assert_non_null(strstr(error.text, "kept/root is a label of root's"));
	assert_int_equal(archive_keep(l.archive, "c", 0, UINT64_MAX, false, NULL, &error), 6);
	assert_int_equal(archive_keep(l.archive, "a", 0, 1767323046, true, NULL, &error), -EDQUOT);
	/* The directory is the truth, for the next daemon as well. */
	lab_close(&l);
	lab_open(&l);
	assert_int_equal(archive_keep(l.archive, "a", 0, 1767323046, true, NULL, &error), -EDQUOT);
	lab_done(&l);
}

static void
test_unpin(void **state)
{
	struct lab l;
	struct session_error error = { 0 };
	char path[256];
	uint64_t bytes;
	struct archive_entry *list;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	assert_int_equal(lab_file(&l, 1000), 0);
	assert_int_equal(archive_keep(l.archive, "x", 0, UINT64_MAX, false, NULL, &error), 1);
	assert_int_equal(archive_list(l.archive, &list), 2);
	snprintf(path, sizeof(path), "%s/kept/x/%.100s", l.dir,
		 strrchr(list[0].name, '/') ? strrchr(list[0].name, '/') + 1 : list[0].name);
	free(list);
	assert_int_equal(archive_vacuum(l.archive, 1, 0, 0, &bytes, NULL, &error), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(archive_vacuum(l.archive, 1, 0, 0, &bytes, NULL, &error), 1);
	/* The other way round: the archive's own link is gone, and kept/ counts. */
	assert_int_equal(lab_file(&l, 1000), 0);
	assert_int_equal(archive_keep(l.archive, "y", 0, UINT64_MAX, false, NULL, &error), 1);
	snprintf(path, sizeof(path), "%s/20260102T030408.000000Z-abcdef01-000002.spoor", l.dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(archive_vacuum(l.archive, 1, 0, 0, &bytes, NULL, &error), 0);
	assert_int_equal(usage(&l).segments, 0);
	assert_int_equal(usage(&l).kept, 1);
	lab_check(&l, 1 << 20);
	lab_done(&l);
}

static void
test_labels(void **state)
{
	static const char *const bad[] = {
		"", ".", "..", ".x", "a/b", "a b", "\xc3\xa4", "a\n", "/"
	};
	struct lab l;
	struct session_error error = { 0 };
	char longest[LABEL_BYTES_MAX + 2];

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	assert_int_equal(lab_file(&l, 1000), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(archive_keep(l.archive, bad[i], 0, UINT64_MAX, false, NULL,
					      &error),
				 -EINVAL);
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(archive_keep(l.archive, longest, 0, UINT64_MAX, false, NULL, &error),
			 -EINVAL);
	longest[LABEL_BYTES_MAX] = '\0';
	assert_int_equal(archive_keep(l.archive, longest, 0, UINT64_MAX, false, NULL, &error), 1);
	lab_done(&l);
}

/* Each link is in memory and in every list: there is an end to them, beyond which none is made. */
static void
test_number_of_kept(void **state)
{
	struct session_error error = { 0 };
	char dir[256], from[512], to[512];
	struct lab l;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	assert_int_equal(lab_file(&l, 1000), 0);
	snprintf(dir, sizeof(dir), "%s/kept/many", l.dir);
	snprintf(from, sizeof(from), "%s/20260102T030406.500000Z-abcdef01-000001.spoor", l.dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	for (int i = 0; i < 8191; i++) {
		snprintf(to, sizeof(to), "%s/%d.spoor", dir, i);
		assert_int_equal(link(from, to), 0);
	}
	lab_close(&l);
	lab_open(&l);
	assert_int_equal(usage(&l).kept, 8191);
	/* member_keep: they are root's, and members have half of that number. */
	assert_int_equal(archive_keep(l.archive, "m", 0, UINT64_MAX, true, NULL, &error), 1);
	snprintf(to, sizeof(to), "%s/kept/m/20260102T030406.500000Z-abcdef01-000001.spoor", l.dir);
	assert_int_equal(unlink(to), 0);
	to[strlen(l.dir) + strlen("/kept/m")] = '\0';
	assert_int_equal(rmdir(to), 0);
	assert_int_equal(chmod(dir, 01700), 0);
	lab_close(&l);
	lab_open(&l);
	assert_int_equal(archive_keep(l.archive, "m", 0, UINT64_MAX, true, NULL, &error), -EDQUOT);
	assert_non_null(strstr(error.text, "would have 8192 files, and may have 4096"));
	assert_int_equal(chmod(dir, 0700), 0);
	lab_close(&l);
	lab_open(&l);
	assert_int_equal(archive_keep(l.archive, "last", 0, UINT64_MAX, false, NULL, &error), 1);
	assert_int_equal(archive_keep(l.archive, "over", 0, UINT64_MAX, false, NULL, &error),
			 -ENOSPC);
	assert_non_null(strstr(error.text, "8193 files, more than 8192: delete labels"));
	assert_false(lab_exists(&l, "kept/over"));
	assert_int_equal(usage(&l).kept, 8192);
	lab_done(&l);
}

/* Who may capture cannot make the segments go: captures push out captures. */
static void
test_share_of_captures(void **state)
{
	struct io_sink *capture;
	struct lab l;
	int r = 0;

	assert_true(lab_init(&l, 0));
	l.config->max_use.bytes = 1 << 20;
	l.config->captures_share = 25000;
	lab_open(&l);
	for (int i = 0; i < 4; i++)
		assert_int_equal(lab_file(&l, 100000), 0);
	for (int i = 0; i < 20; i++) {
		capture = lab_capture(&l);
		assert_int_equal(lab_write(capture, 50000, true), 0);
		capture->close(capture);
	}
	assert_int_equal(usage(&l).segments, 4);
	/* 49152 to 53248 bytes each, and directories: of 256 KiB, with some slack. */
	assert_uint_in_range(usage(&l).captures, 3, 5);
	capture = lab_capture(&l);
	for (int i = 0; i < 10 && r == 0; i++)
		r = lab_write(capture, 50000, i == 0);
	assert_int_equal(r, -ENOSPC);
	capture->close(capture);
	assert_int_equal(usage(&l).segments, 4);
	lab_check(&l, 1 << 20);
	lab_done(&l);
}

/* member_small_captures: bytes were the only bound of captures, and the account of 500,000 of 4 KiB is 100 MB of memory. */
static void
test_number_of_captures(void **state)
{
	const unsigned int most = 4096;
	struct io_sink *capture;
	char name[64];
	struct lab l;

	assert_true(lab_init(&l, 0));
	l.config->max_use.bytes = UINT64_C(1) << 30;
	lab_open(&l);
	assert_int_equal(lab_file(&l, 1000), 0);
	for (unsigned int i = 0; i < most + 10; i++) {
		(void)snprintf(name, sizeof(name), "captures/20250102T%06u.000000Z-%06u.spoor", i,
			       i + 1);
		lab_plant(&l, name, RECORDING_MAGIC "and more", 16);
	}
	lab_close(&l);
	lab_open(&l);
	assert_int_equal(usage(&l).captures, most);
	capture = lab_capture(&l);
	assert_int_equal(lab_write(capture, 1000, true), 0);
	capture->close(capture);
	capture = lab_capture(&l);
	assert_int_equal(lab_write(capture, 1000, true), 0);
	assert_int_equal(usage(&l).captures, most);
	capture->close(capture);
	assert_int_equal(usage(&l).segments, 1);
	lab_done(&l);
}

#define HELD 60

struct reader {
	int fds[2 * HELD];
	size_t nr;
};

/* Opens what is being written. */
static void
read_active(const struct lab *l, struct reader *r, int flags)
{
	char path[256];
	glob_t g;

	(void)snprintf(path, sizeof(path), "%s/captures/*.active", l->dir);
	assert_int_equal(glob(path, 0, NULL, &g), 0);
	assert_int_equal(g.gl_pathc, 1);
	assert_true(r->nr < 2 * HELD);
	r->fds[r->nr] = open(g.gl_pathv[0], flags | O_CLOEXEC);
	assert_true(r->fds[r->nr++] >= 0);
	globfree(&g);
}

/* Bytes of deleted files that are not given back. */
static uint64_t
held(const struct reader *r)
{
	uint64_t bytes = 0;
	struct stat st;

	for (size_t i = 0; i < r->nr; i++)
		if (fstat(r->fds[i], &st) == 0 && st.st_nlink == 0)
			bytes += (uint64_t)st.st_blocks * 512;
	return bytes;
}

static void
capture_for(struct lab *l, struct reader *r, int flags)
{
	struct io_sink *capture = lab_capture(l);

	assert_int_equal(lab_write(capture, 50000, true), 0);
	read_active(l, r, flags);
	capture->close(capture);
}

static void
reader_close(struct reader *r)
{
	while (r->nr)
		close(r->fds[--r->nr]);
}

/* member_hold: a member has all files open that are there to be read: unlink(2) gave nothing back, without an end. */
static void
test_readers_hold_no_space(void **state)
{
	struct reader r = { .nr = 0 };
	struct io_sink *capture;
	struct stat st;
	struct lab l;

	assert_true(lab_init(&l, 0));
	l.config->captures_share = 25000;
	lab_open(&l);
	for (int i = 0; i < HELD; i++)
		capture_for(&l, &r, i % 2 ? O_RDONLY : O_PATH);
	assert_uint_in_range(usage(&l).captures, 3, 5);
	assert_uint_in_range(held(&r), 0, (1 << 20) / 8);
	reader_close(&r);

	/* One who reads is not disturbed, when it is not too much. */
	capture_for(&l, &r, O_RDONLY);
	for (int i = 0; i < 6; i++) {
		capture = lab_capture(&l);
		assert_int_equal(lab_write(capture, 50000, true), 0);
		capture->close(capture);
	}
	assert_int_equal(fstat(r.fds[0], &st), 0);
	assert_int_equal(st.st_nlink, 0);
	assert_int_equal(st.st_size, 50000);
	/* Where room is short, and at the end, it is given back. */
	l.config->keep_free.bytes = UINT64_C(1) << 60;
	archive_reload(l.archive, l.config);
	capture = lab_capture(&l);
	assert_int_equal(lab_write(capture, 5000, true), -ENOSPC);
	capture->close(capture);
	assert_int_equal(held(&r), 0);
	lab_close(&l);
	assert_int_equal(held(&r), 0);
	reader_close(&r);
	lab_open(&l);
	lab_done(&l);
}

/* What the log says of a segment that takes no bytes is about what is in the way. */
static void
test_trouble(void **state)
{
	struct session_error error = { 0 };
	char why[ARCHIVE_TROUBLE_BYTES];
	struct io_sink *sink;
	struct lab l;

	assert_true(lab_init(&l, 0));
	l.config->max_use.bytes = 1 << 20;
	lab_open(&l);
	sink = lab_segment(&l);
	assert_int_equal(lab_write(sink, 2 << 20, true), -ENOSPC);
	archive_trouble(l.archive, why);
	assert_non_null(strstr(why, "max_use = 1048576 bytes"));
	assert_non_null(strstr(why, "raise max_use"));
	l.config->max_use.bytes = UINT64_C(1) << 40;
	l.config->keep_free = (struct config_space){ .given = true, .bytes = UINT64_C(1) << 60 };
	archive_reload(l.archive, l.config);
	assert_int_equal(lab_write(sink, 4096, true), -ENOSPC);
	archive_trouble(l.archive, why);
	assert_non_null(strstr(why, "keep_free = 1152921504606846976"));
	sink->close(sink);
	assert_int_equal(archive_keep(l.archive, "x", 0, 1, false, NULL, &error), 0);
	lab_done(&l);
}

static void
set_end(const struct lab *l, const char *name, time_t end)
{
	const struct timespec times[2] = { { .tv_sec = end }, { .tv_sec = end } };
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* As if so much had gone by: on the clock on the wall, and in truth. */
static void
tick_after(const struct lab *l, uint64_t wall_s, uint64_t true_s)
{
	struct clock_triple now;

	host_clocks(&now);
	now.realtime += wall_s * UINT64_C(1000000000);
	now.monotonic += true_s * UINT64_C(1000000000);
	now.boottime += true_s * UINT64_C(1000000000);
	archive_tick(l->archive, &now);
}

static void
test_age_and_number(void **state)
{
	struct lab l;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	for (int i = 0; i < 6; i++)
		assert_int_equal(lab_file(&l, 1000), 0);
	l.config->max_segments = 5;
	archive_reload(l.archive, l.config);
	assert_int_equal(usage(&l).segments, 5);
	assert_false(lab_exists(&l, "20260102T030406.500000Z-abcdef01-000001.spoor"));
	lab_close(&l);
	set_end(&l, "20260102T030408.000000Z-abcdef01-000002.spoor", 1767323100);
	l.config->max_segments = 0;
	lab_open(&l);
	l.config->max_age = UINT64_C(60000000000);
	archive_reload(l.archive, l.config);
	assert_int_equal(usage(&l).segments, 4);
	assert_false(lab_exists(&l, "20260102T030408.000000Z-abcdef01-000002.spoor"));
	tick_after(&l, 1000, 1000);
	assert_int_equal(usage(&l).segments, 0);
	lab_done(&l);
}

/* Clocks are set: what that makes look old goes when it was not a mistake. */
static void
test_clock_set_forward(void **state)
{
	struct lab l;

	assert_true(lab_init(&l, 0));
	l.config->max_age = UINT64_C(60000000000);
	lab_open(&l);
	assert_int_equal(lab_file(&l, 1000), 0);
	tick_after(&l, 0, 0);
	/* Ten years, and back: all is there, and nothing else has changed. */
	tick_after(&l, 315360000, 5);
	archive_reload(l.archive, l.config);
	assert_int_equal(usage(&l).segments, 1);
	tick_after(&l, 10, 10);
	tick_after(&l, 50, 50);
	assert_int_equal(usage(&l).segments, 1);
	/* It stays so for an hour: then it is true. Slow changes are no step. */
	tick_after(&l, 315360000, 3000);
	tick_after(&l, 315363599, 6599);
	assert_int_equal(usage(&l).segments, 1);
	tick_after(&l, 315363600, 6600);
	assert_int_equal(usage(&l).segments, 0);
	lab_done(&l);
}

/* What was recorded after the clock was set back is not the oldest there is. */
static void
test_clock_set_back(void **state)
{
	struct lab l;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	for (int i = 0; i < 9; i++)
		assert_int_equal(lab_file(&l, 1000), 0);
	l.clock_ns = 50 * UINT64_C(1000000000);
	assert_int_equal(lab_file(&l, 1000), 0);
	lab_close(&l);
	set_end(&l, "19700101T000051.500000Z-abcdef01-000010.spoor", 100);
	set_end(&l, "20260102T030408.000000Z-abcdef01-000002.spoor", time(NULL) + 1000000);
	l.config->max_segments = 9;
	lab_open(&l);
	assert_int_equal(usage(&l).segments, 9);
	assert_true(lab_exists(&l, "19700101T000051.500000Z-abcdef01-000010.spoor"));
	assert_false(lab_exists(&l, "20260102T030406.500000Z-abcdef01-000001.spoor"));
	/* And how old is what has its time to come? As old as what came after it. */
	l.config->max_segments = 0;
	l.config->max_age = UINT64_C(600000000000);
	archive_reload(l.archive, l.config);
	assert_int_equal(usage(&l).segments, 7);
	assert_false(lab_exists(&l, "20260102T030408.000000Z-abcdef01-000002.spoor"));
	lab_done(&l);
}

/* A directory where a file was: it cannot be unlinked, and still counts. */
static void
test_failed_unlink(void **state)
{
	struct lab l;
	char path[256];
	uint64_t before, bytes;
	struct session_error error = { 0 };

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	for (int i = 0; i < 8; i++)
		assert_int_equal(lab_file(&l, 100000), 0);
	snprintf(path, sizeof(path), "%s/20260102T030406.500000Z-abcdef01-000001.spoor", l.dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	before = usage(&l).bytes;
	for (int i = 0; i < 3; i++)
		assert_int_equal(lab_file(&l, 100000), 0);
	assert_true(usage(&l).bytes > before - 102400);
	lab_check(&l, 1 << 20);
	assert_true(lab_exists(&l, "20260102T030406.500000Z-abcdef01-000001.spoor"));
	/* Read anew it is no segment. */
	assert_true(archive_vacuum(l.archive, 1, 0, 0, &bytes, NULL, &error) > 0);
	assert_int_equal(usage(&l).segments, 0);
	lab_done(&l);
}

/* fsync(2) of this program: of which directories, and what comes of it. */
static struct {
	ino_t inodes[16];
	size_t nr;
	int error;
} synced;

int
fsync(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && synced.nr < 16)
		synced.inodes[synced.nr++] = st.st_ino;
	errno = synced.error;
	return synced.error ? -1 : 0;
}

static ino_t
inode(const struct lab *l, const char *name)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

/* What is synced survives the power: the bytes, and the entries of the directories. */
static void
test_sync_of_directories(void **state)
{
	struct io_sink *segment, *capture;
	struct lab l;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	segment = lab_segment(&l);
	assert_int_equal(lab_write(segment, 100, true), 0);
	synced.nr = 0;
	assert_int_equal(segment->sync(segment), 0);
	assert_int_equal(synced.nr, 1);
	assert_int_equal(synced.inodes[0], inode(&l, "."));
	/* Once is enough, but it has to have been. */
	assert_int_equal(segment->sync(segment), 0);
	assert_int_equal(synced.nr, 1);
	capture = lab_capture(&l);
	assert_int_equal(lab_write(capture, 100, true), 0);
	synced.error = EIO;
	assert_int_equal(capture->sync(capture), -EIO);
	synced.error = 0;
	synced.nr = 0;
	assert_int_equal(capture->sync(capture), 0);
	assert_int_equal(synced.nr, 2);
	assert_int_equal(synced.inodes[0], inode(&l, "captures"));
	assert_int_equal(synced.inodes[1], inode(&l, "."));
	/* The name that it is sealed with. */
	synced.nr = 0;
	segment->close(segment);
	assert_int_equal(synced.nr, 1);
	assert_int_equal(synced.inodes[0], inode(&l, "."));
	capture->close(capture);
	lab_done(&l);
}

static bool no_directories;

/* scandirat(3) of this program. */
int
scandirat(int fd, const char *path, struct dirent ***ret, int (*filter)(const struct dirent *),
	  int (*compare)(const struct dirent **, const struct dirent **))
{
	__typeof__(scandirat) *real = (__typeof__(real))dlsym(RTLD_NEXT, "scandirat");

	if (!no_directories)
		return real(fd, path, ret, filter, compare);
	errno = EMFILE;
	return -1;
}

/* A scan that fails, whoever wanted it, is made up for at once. */
static void
test_failed_scan(void **state)
{
	struct session_error error = { 0 };
	char path[256];
	uint64_t bytes;
	struct lab l;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	for (int vacuum = 0; vacuum < 2; vacuum++) {
		assert_int_equal(lab_file(&l, 1000), 0);
		tick_after(&l, 1, 1);
		assert_int_equal(usage(&l).segments, 1);
		snprintf(path, sizeof(path), "%s/%s", l.dir,
			 vacuum ? "20260102T030408.000000Z-abcdef01-000002.spoor"
				: "20260102T030406.500000Z-abcdef01-000001.spoor");
		assert_int_equal(unlink(path), 0);
		no_directories = true;
		if (vacuum)
			assert_int_equal(archive_vacuum(l.archive, 0, 0, 0, &bytes, NULL, &error),
					 -EMFILE);
		else
			tick_after(&l, 2, 2);
		no_directories = false;
		assert_int_equal(usage(&l).segments, 1);
		tick_after(&l, 3, 3);
		assert_int_equal(usage(&l).segments, 0);
	}
	lab_done(&l);
}

/* fchmod(2) of this program: files are made with the least of the modes that they are to have, and get more later. */
int
fchmod(int fd, mode_t mode)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (st.st_mode & 07777 & ~mode) == 0)
		return (int)syscall(SYS_fchmod, fd, mode);
	errno = EPERM;
	return -1;
}

/* A capture that others may not read is never one that they could have opened for a moment. */
static void
test_modes_of_captures(void **state)
{
	const mode_t modes[] = { 0640, 0600 };
	const uint8_t boot[16] = { 1 };
	glob_t found;
	struct session_error error = { 0 };
	char path[128 + ARCHIVE_NAME_MAX], name[ARCHIVE_NAME_MAX];
	struct io_sink *sink;
	mode_t umask_before;
	struct stat st;
	struct lab l;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	umask_before = umask(0);
	for (int hidden = 0; hidden < 2; hidden++) {
		assert_int_equal(
			archive_capture(l.archive, l.clock_ns, hidden, &sink, name, &error), 0);
		snprintf(path, sizeof(path), "%s/%s.active", l.dir, name);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, modes[hidden]);
		assert_int_equal(archive_show(l.archive, sink), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, modes[0]);
		sink->close(sink);
		/* One that is closed is as it is. */
		assert_int_equal(archive_show(l.archive, sink), -ENOENT);
	}
	assert_int_equal(archive_segment(l.archive, l.clock_ns, boot, true, &sink, &error), 0);
	(void)snprintf(path, sizeof(path), "%s/*.active", l.dir);
	assert_int_equal(glob(path, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	assert_int_equal(stat(found.gl_pathv[0], &st), 0);
	assert_int_equal(st.st_mode & 07777, modes[1]);
	globfree(&found);
	sink->close(sink);
	(void)umask(umask_before);
	lab_done(&l);
}

static struct archive_sight
look(const struct lab *l)
{
	struct archive_sight sight;

	archive_look(l->archive, &sight);
	return sight;
}

/* Of the one that is being written. */
static void
move_active(const struct lab *l, const char *name, const char *to)
{
	char from_path[256], to_path[256];

	snprintf(from_path, sizeof(from_path), "%s/%s", l->dir, name);
	snprintf(to_path, sizeof(to_path), "%s/%s", l->dir, to);
	assert_int_equal(rename(from_path, to_path), 0);
}

static void
test_look_at_files(void **state)
{
	struct io_sink *removed, *renamed, *capture;
	struct archive_entry *list = NULL;
	struct archive_sight sight;
	char path[256], other[256];
	struct lab l;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	removed = lab_segment(&l);
	assert_int_equal(lab_write(removed, 100, true), 0);
	snprintf(path, sizeof(path), "%s/20260102T030406.500000Z-abcdef01-000001.spoor.active",
		 l.dir);
	snprintf(other, sizeof(other), "%s/link", l.dir);
	assert_int_equal(link(path, other), 0);
	sight = look(&l);
	assert_false(sight.gone || sight.renamed || sight.astray);
	assert_int_equal(removed->sync(removed), 0);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(unlink(path), 0);
	/* Whoever has the name now is not taken for it. */
	lab_plant(&l, "20260102T030406.500000Z-abcdef01-000001.spoor.active", "other", 5);
	assert_int_equal(removed->sync(removed), -ESTALE);
	sight = look(&l);
	assert_true(sight.gone && !sight.renamed && !sight.astray);
	assert_int_equal(sight.lost_files, 1);
	assert_memory_equal(sight.lost, path, strlen(path));
	assert_non_null(strstr(sight.lost, "removed: what was recorded from 2026-01-02T03:04:06Z"));
	assert_int_equal(lab_write(removed, 100, false), -ESTALE);
	assert_int_equal(archive_list(l.archive, &list), 0);
	free(list);
	removed->close(removed);
	assert_false(lab_exists(&l, "20260102T030406.500000Z-abcdef01-000001.spoor"));
	assert_int_equal(usage(&l).quarantined, 1);

	renamed = lab_segment(&l);
	assert_int_equal(lab_write(renamed, 100, true), 0);
	move_active(&l, "20260102T030408.000000Z-abcdef01-000002.spoor.active",
		    "20260102T030408.000000Z-x.spoor");
	sight = look(&l);
	assert_true(!sight.gone && sight.renamed && !sight.astray);
	assert_int_equal(lab_write(renamed, 100, false), 0);
	assert_int_equal(renamed->sync(renamed), 0);
	renamed->close(renamed);
	assert_true(lab_exists(&l, "20260102T030408.000000Z-x.spoor"));
	assert_int_equal(usage(&l).segments, 1);
	assert_int_equal(look(&l).lost_files, 1);

	capture = lab_capture(&l);
	assert_int_equal(lab_write(capture, 100, true), 0);
	assert_int_equal(capture->sync(capture), 0);
	move_active(&l, "captures/20260102T030409.500000Z-000003.spoor.active", "captures.spoor");
	assert_false(look(&l).gone);
	assert_int_equal(lab_write(capture, 100, false), -ESTALE);
	capture->close(capture);
	/* Who waits for it was told its name: another one in captures/ is no end in order. */
	capture = lab_capture(&l);
	assert_int_equal(lab_write(capture, 100, true), 0);
	move_active(&l, "captures/20260102T030411.000000Z-000004.spoor.active",
		    "captures/20260102T030411.000000Z-x.spoor");
	assert_false(look(&l).renamed);
	assert_int_equal(lab_write(capture, 100, false), -ESTALE);
	capture->close(capture);
	assert_true(lab_exists(&l, "captures/20260102T030411.000000Z-x.spoor"));
	assert_int_equal(usage(&l).captures, 1);
	assert_int_equal(look(&l).lost_files, 1);
	lab_check(&l, 1 << 20);
	lab_done(&l);
}

/* A directory in place of the one before is no one's before it is locked. */
static void
test_look_at_directories(void **state)
{
	static const uint8_t boot[16] = { 1 };
	struct session_error error = { 0 };
	struct archive *other = NULL;
	struct io_sink *sink, *next = NULL;
	char moved[128];
	struct lab l;

	assert_true(lab_init(&l, 0));
	lab_open(&l);
	sink = lab_segment(&l);
	assert_int_equal(lab_write(sink, 100, true), 0);
	snprintf(moved, sizeof(moved), "%s/moved", l.tmp);
	assert_int_equal(rename(l.dir, moved), 0);
	assert_int_equal(archive_open(l.config, &other, &error), 0);
	assert_true(look(&l).gone && look(&l).astray);
	assert_int_equal(sink->sync(sink), -ESTALE);
	assert_int_equal(archive_segment(l.archive, l.clock_ns, boot, false, &next, &error),
			 -EBUSY);
	assert_non_null(strstr(error.text, "another spoord"));
	assert_int_equal(lab_count(&l, "", ".spoor.active"), 0);
	archive_close(other);
	assert_false(look(&l).astray);
	sink->close(sink);
	assert_int_equal(lab_file(&l, 100), 0);
	assert_int_equal(lab_count(&l, "", ".spoor"), 1);
	assert_int_equal(archive_open(l.config, &other, &error), -EBUSY);
	/* The old one is nobody's any more. */
	free(l.config->archive_directory);
	l.config->archive_directory = strdup(moved);
	assert_int_equal(archive_open(l.config, &other, &error), 0);
	archive_close(other);
	lab_done(&l);
}

static void
test_limits(void **state)
{
	struct lab l;

	assert_true(lab_init(&l, 0));
	l.config->segment_size = 64 << 10;
	lab_open(&l);
	assert_int_equal(usage(&l).segment_bytes, 64 << 10);
	l.config->segment_size = 1 << 20;
	archive_reload(l.archive, l.config);
	assert_int_equal(usage(&l).segment_bytes, 128 << 10);
	l.config->segment_size = 0;
	l.config->max_use.bytes = UINT64_C(100) << 30;
	archive_reload(l.archive, l.config);
	assert_int_equal(usage(&l).segment_bytes, 128 << 20);
	l.config->max_use = l.config->keep_free = (struct config_space){ .given = false };
	archive_reload(l.archive, l.config);
	assert_true(usage(&l).max_use > 0 && usage(&l).max_use <= UINT64_C(4) << 30);
	assert_true(usage(&l).keep_free > 0 && usage(&l).keep_free <= UINT64_C(4) << 30);
	lab_done(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_lock_of_0_1_0),
		cmocka_unit_test(test_lock_of_nobody),
		cmocka_unit_test(test_lock_is_completed),
		cmocka_unit_test(test_dying_threads),
		cmocka_unit_test(test_open_fails),
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_large_leftover),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_members_keep),
		cmocka_unit_test(test_unpin),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_number_of_kept),
		cmocka_unit_test(test_share_of_captures),
		cmocka_unit_test(test_number_of_captures),
		cmocka_unit_test(test_readers_hold_no_space),
		cmocka_unit_test(test_trouble),
		cmocka_unit_test(test_age_and_number),
		cmocka_unit_test(test_clock_set_forward),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_failed_unlink),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_sync_of_directories),
		cmocka_unit_test(test_failed_scan),
		cmocka_unit_test(test_modes_of_captures),
		cmocka_unit_test(test_look_at_files),
		cmocka_unit_test(test_look_at_directories),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("archive", tests, NULL, NULL);
}
