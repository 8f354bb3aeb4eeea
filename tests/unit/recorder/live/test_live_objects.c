/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies that go wrong: which of it is told, which is tried again, and whom it keeps waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/stored/stored_object.h"
#include "recorder/ground/news.h"
#include "recorder/helper/helper_objects.h"
#include "recorder/helper/helper_pool.h"
#include "recorder/host/host.h"
#include "recorder/host/task_users.h"
#include "recorder/live/live_objects.h"
#include "recorder/live/live_offers.h"

#define LONG_MS 20000
#define FILE_BYTES_MAX 65536 /* of a file that a worker writes */

static char dir[64], store[80];

static int
set_up(void **state)
{
	struct rlimit before, small;
	int r;

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_live_objects.XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(store, sizeof(store), "%s/spoor-objects", dir);
	assert_int_equal(mkdir(store, 0700), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = FILE_BYTES_MAX;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	r = helper_start();
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	return r;
}

static int
tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static struct buildid
id_of(uint32_t number)
{
	uint8_t bytes[BUILDID_MAX] = { 0x5b };

	memcpy(bytes + 1, &number, sizeof(number));
	return buildid_of(BUILDID_GNU, bytes, sizeof(bytes));
}

/* An ELF file that is little more than its note. */
static int
make_file_of(const struct buildid *id, off_t size)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			 .e_phoff = 64,
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1 };
	Elf64_Nhdr n = { 4, id->size, NT_GNU_BUILD_ID };
	Elf64_Phdr p = { .p_type = PT_NOTE, .p_offset = 512, .p_align = 4, .p_filesz = 36 };
	uint8_t elf[1024] = { 0 };
	uint32_t number;
	char path[96];
	int fd;

	memcpy(&number, id->bytes + 1, sizeof(number));
	/* Where every user can reach it: it is stored whole. */
	snprintf(path, sizeof(path), "%s/%u.%jd", dir, number, (intmax_t)size);
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);
	memcpy(elf, &h, sizeof(h));
	memcpy(elf + 64, &p, sizeof(p));
	memcpy(elf + 512, &n, sizeof(n));
	memcpy(elf + 524, "GNU", 4);
	memcpy(elf + 528, id->bytes, id->size);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, elf, sizeof(elf)), sizeof(elf));
	while (lseek(fd, 0, SEEK_CUR) < size)
		assert_int_equal(write(fd, elf, sizeof(elf)), sizeof(elf));
	assert_int_equal(fchmod(fd, 0644), 0);
	return fd;
}

static int
make_file(uint32_t number, off_t size)
{
	const struct buildid id = id_of(number);

	return make_file_of(&id, size);
}

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
offer_as(int socket, const struct buildid *id, off_t size, uint32_t uid)
{
	const struct unwind_offer o = { .id = *id, .pid = (pid_t)uid, .uid = uid };
	const int fd = make_file_of(id, size);

	assert_int_equal(helper_pass_fd(socket, &o, sizeof(o), fd), 0);
	close(fd);
}

static void
offer(int socket, uint32_t number, off_t size, uint32_t uid)
{
	const struct buildid id = id_of(number);

	offer_as(socket, &id, size, uid);
}

static struct helper_object
outcome(struct helper *storer)
{
	struct helper_object at;

	do
		assert_int_equal(wait_for(storer, &at, sizeof(at)), sizeof(at));
	while (at.step != OBJECT_DONE);
	return at;
}

/* --- the worker that stores -------------------------------------------------------------------- */

/* What went wrong with our own disk is told from what was wrong with the file. */
static void
whose_fault_it_is(void **state)
{
	struct helper_store s = { .kind = HELPER_STORE,
				  .allowed_bytes = 1 << 20,
				  .user_bytes = 1 << 20 };
	struct helper_shun shun = { .kind = HELPER_SHUN };
	struct helper_object at;
	struct helper *storer;
	int pair[2];

	(void)state;
	memcpy(s.dir, store, sizeof(store));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(helper_open(&helper_objects, &storer), 0);
	assert_int_equal(helper_send_fd(storer, &s, sizeof(s), pair[0]), 0);
	offer(pair[1], 1, 1024, 5001);
	at = outcome(storer);
	assert_int_equal(at.rc, 0);
	assert_true(at.bytes >= STORED_COUNT_MIN);
	assert_int_equal(buildid_cmp(&at.id, &(struct buildid){ .size = 0 }) != 0, 1);
	offer(pair[1], 2, FILE_BYTES_MAX + 1024, 5001);
	at = outcome(storer);
	assert_int_equal(at.rc, -EFBIG);
	assert_true(at.ours);
	offer(pair[1], 3, 2 << 20, 5001); /* is no file that can be reduced */
	at = outcome(storer);
	assert_true(at.rc < 0);
	assert_false(at.ours);
	/* log_flood: a build-id that names no copy. */
	offer_as(pair[1], &(struct buildid){ .kind = BUILDID_GNU, .size = 1, .bytes = { 7 } }, 1024,
		 5001);
	at = outcome(storer);
	assert_int_equal(at.rc, -ENOEXEC);
	assert_false(at.ours);
	/* Whoever is shunned is passed over, and others' are stored. */
	(void)shunned_add(&shun.shunned, SHUNNED_USER, 5001, host_now_ns());
	assert_int_equal(helper_send(storer, &shun, sizeof(shun), NULL, 0), 0);
	offer(pair[1], 4, 1024, 5001);
	offer(pair[1], 5, 1024, 5002);
	at = outcome(storer);
	assert_int_equal(at.rc, -EACCES);
	assert_int_equal(at.uid, 5001);
	assert_false(at.ours);
	at = outcome(storer);
	assert_int_equal(at.rc, 0);
	assert_int_equal(at.uid, 5002);
	helper_close(storer);
	close(pair[0]);
	close(pair[1]);
}

/* --- from the mapped file to the copy ---------------------------------------------------------- */

static void
find_mapped(struct helper *files, uint32_t number, off_t size, enum helper_offered want)
{
	const int fd = make_file(number, size);
	char path[64];
	struct helper_find f = { .kind = HELPER_FIND, .uid = 0 };
	struct helper_found found;
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	struct stat st;

	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(fstat(fd, &st), 0);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	f.map = (struct buildid_map){ .pid = getpid(),
				      .ino = st.st_ino,
				      .maj = (uint32_t)(st.st_dev >> 8),
				      .min = (uint32_t)(st.st_dev & 0xff),
				      .start = (uintptr_t)at,
				      .end = (uintptr_t)at + 4096,
				      .known_id = id_of(number),
				      .mapped_ns = host_now_ns() };
	assert_int_equal(helper_send(files, &f, sizeof(f), path, strlen(path) + 1), 0);
	assert_int_equal(wait_for(files, &found, sizeof(found)), sizeof(found));
	assert_int_equal(found.offered, want);
	munmap(at, 4096);
	close(fd);
}

/* An error of our disk is told once, also when other files begin, and how often it came again. */
static void
our_disk_is_told_of(void **state)
{
	const struct session_objects options = { .mode = SESSION_OBJECTS_ALL,
						 .dir = store,
						 .allowed_bytes = 1 << 20,
						 .user_bytes = 1 << 20 };
	struct helper_pool *pool = helper_pool_new();
	struct live_objects *o = live_objects_new(pool, &options);
	const struct helper_offers offers = { .kind = HELPER_OFFER, .all = true };
	struct helper *files;
	struct news_line line;
	int pair[2];

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: not root, who may follow map_files\n");
		skip();
	}
	assert_non_null(o);
	assert_int_equal(helper_open(&helper_files, &files), 0);
	assert_int_equal(live_objects_connect(o, files, true), 0);
	for (uint32_t i = 0; i < 4; i++)
		find_mapped(files, 20 + i, i == 2 ? 1024 : FILE_BYTES_MAX + 1024, OFFER_PASSED);
	/* It was passed on. */
	find_mapped(files, 20, 1024, OFFER_NONE);
	live_objects_finish(o, host_now_ns() + UINT64_C(1000000) * LONG_MS);
	assert_true(live_objects_news(o, &line));
	assert_non_null(strstr(line.text, "objects are not stored: File too large: "));
	assert_true(live_objects_news(o, &line));
	assert_non_null(strstr(line.text, "objects are not stored: 2 more since that was told"));
	assert_false(live_objects_news(o, &line));
	/* Another file of the recording has the same trouble, which is no news. */
	live_objects_begin_file(o);
	assert_int_equal(live_objects_connect(o, files, true), 0);
	find_mapped(files, 24, FILE_BYTES_MAX + 1024, OFFER_PASSED);
	live_objects_finish(o, host_now_ns() + UINT64_C(1000000) * LONG_MS);
	assert_true(live_objects_news(o, &line));
	assert_non_null(strstr(line.text, "objects are not stored: 1 more since that was told"));
	assert_false(live_objects_news(o, &line));
	live_objects_free(o);
	/* Nobody takes what is passed on: that is not forgotten. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(helper_send_fd(files, &offers, sizeof(offers), pair[1]), 0);
	close(pair[0]);
	close(pair[1]);
	find_mapped(files, 30, 1024, OFFER_REFUSED);
	find_mapped(files, 30, 1024, OFFER_REFUSED);
	helper_close(files);
	helper_pool_free(pool);
}

/* What is allowed is a sum: an allowance that was made before a copy was done is not one for more. */
static void
allowed_in_all(void **state)
{
	const struct session_objects options = { .mode = SESSION_OBJECTS_ALL,
						 .dir = store,
						 .allowed_bytes = STORED_COUNT_MIN,
						 .user_bytes = 1 << 20 };
	struct helper_pool *pool = helper_pool_new();
	struct live_objects *o = live_objects_new(pool, &options);
	struct helper *files;
	struct news_line line;
	uint64_t one;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: not root, who may follow map_files\n");
		skip();
	}
	assert_non_null(o);
	assert_int_equal(helper_open(&helper_files, &files), 0);
	assert_int_equal(live_objects_connect(o, files, true), 0);
	find_mapped(files, 50, 1024, OFFER_PASSED);
	live_objects_finish(o, host_now_ns() + UINT64_C(1000000) * LONG_MS);
	one = live_objects_stored(o);
	assert_int_equal(one, STORED_COUNT_MIN);
	/* As large as before it was stored, also for another worker, or another file of the recording. */
	live_objects_allow(o, one);
	assert_int_equal(live_objects_connect(o, files, true), 0);
	find_mapped(files, 51, 1024, OFFER_PASSED);
	live_objects_finish(o, host_now_ns() + UINT64_C(1000000) * LONG_MS);
	assert_int_equal(live_objects_stored(o), one);
	assert_true(live_objects_news(o, &line));
	assert_non_null(strstr(line.text, "they have taken all the room that they may"));
	live_objects_allow(o, 2 * one);
	find_mapped(files, 52, 1024, OFFER_PASSED);
	live_objects_finish(o, host_now_ns() + UINT64_C(1000000) * LONG_MS);
	assert_int_equal(live_objects_stored(o), 2 * one);
	live_objects_free(o);
	helper_close(files);
	helper_pool_free(pool);
}

/* Each file of the recording, and each worker that finds files, has a socket of its own to what stores them. */
static void
another_socket_loses_nothing(void **state)
{
	const struct session_objects options = { .mode = SESSION_OBJECTS_ALL, .dir = store };
	struct helper_pool *pool = helper_pool_new();
	struct live_objects *o = live_objects_new(pool, &options);
	struct live_wanted w = { .map = { .path = strdup("/x"), .pid = 77 } };
	const struct buildid id = id_of(40);
	struct helper *files;

	(void)state;
	assert_non_null(o);
	assert_int_equal(helper_open(&helper_files, &files), 0);
	assert_int_equal(live_objects_connect(o, files, true), 0);
	live_objects_offered(o, &w, &id, true);
	assert_int_equal(live_objects_connect(o, files, false), 0);
	assert_false(live_objects_again(o, true, &w));
	live_objects_begin_file(o);
	assert_false(live_objects_again(o, true, &w));
	assert_int_equal(live_objects_connect(o, files, false), 0);
	assert_true(live_objects_again(o, true, &w));
	assert_int_equal(w.map.pid, 77);
	live_wanted_done(&w);
	live_objects_free(o);
	helper_close(files);
	helper_pool_free(pool);
}

/* --- what is asked for again ------------------------------------------------------------------- */

static bool
keep(struct live_offers *o, uint32_t number, bool passed, uint64_t now_ns)
{
	const struct buildid id = id_of(number);
	struct live_wanted w = { .map = { .path = strdup("/x"), .pid = (pid_t)number } };
	const bool kept = live_offers_keep(o, &w, &id, passed, now_ns);

	live_wanted_done(&w);
	return kept;
}

static pid_t
next(struct live_offers *o, uint64_t now_ns, bool hurry)
{
	struct live_wanted w = { .uid = 0 };
	pid_t pid = 0;

	if (live_offers_next(o, now_ns, hurry, &w)) {
		const struct buildid id = id_of((uint32_t)w.map.pid);

		pid = w.map.pid;
		assert_int_equal(buildid_cmp(&w.map.known_id, &id), 0);
		live_wanted_done(&w);
	}
	return pid;
}

static void
offers_wait_and_come_again(void **state)
{
	const uint64_t s = UINT64_C(1000000000);
	struct live_offers *o = live_offers_new();
	struct buildid id;
	size_t asked = 0;

	(void)state;
	assert_non_null(o);
	assert_int_equal(next(o, s, true), 0);
	/* What the worker has is its own, until it is lost. */
	assert_true(keep(o, 1, true, s));
	assert_true(keep(o, 2, false, s));
	assert_int_equal(next(o, s, false), 0);
	assert_int_equal(next(o, s, true), 2);
	assert_int_equal(next(o, s, true), 0);
	live_offers_lost(o);
	assert_int_equal(next(o, s, true), 1);
	/* What it had done before it was known to have it, it does not have. */
	id = id_of(3);
	live_offers_done(o, &id);
	assert_true(keep(o, 3, true, s));
	live_offers_lost(o);
	assert_int_equal(next(o, s, true), 0);
	assert_true(keep(o, 3, true, s));
	live_offers_done(o, &id);
	live_offers_lost(o);
	assert_int_equal(next(o, s, true), 0);
	/* Of a build that two have mapped one is enough. */
	assert_true(keep(o, 4, false, s));
	assert_true(keep(o, 4, false, s));
	assert_int_equal(next(o, s, true), 4);
	assert_int_equal(next(o, s, true), 0);
	/* A crowd comes a few a second, and there is room for so many. */
	for (uint32_t i = 0; i < LIVE_OFFERS_MAX; i++)
		assert_true(keep(o, 10 + i, false, s));
	assert_false(keep(o, 5, false, s));
	for (uint64_t now = s; now < 11 * s; now += s / 10)
		while (next(o, now, false))
			asked++;
	assert_in_range(asked, 200, 400);
	while (next(o, 20 * s, true))
		asked++;
	assert_int_equal(asked, LIVE_OFFERS_MAX);
	assert_true(keep(o, 1, true, s));
	live_offers_free(o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whose_fault_it_is),
		cmocka_unit_test(our_disk_is_told_of),
		cmocka_unit_test(allowed_in_all),
		cmocka_unit_test(another_socket_loses_nothing),
		cmocka_unit_test(offers_wait_and_come_again),
	};

	return cmocka_run_group_tests_name("live_objects", tests, set_up, tear_down);
}
