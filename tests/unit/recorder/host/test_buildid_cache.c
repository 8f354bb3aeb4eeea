/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build-ids of files as processes map, change, remove and replace them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bsd/string.h>

#include "recorder/host/buildid_cache.h"
#include "recorder/host/host.h"
#include "tests/lab/child_lab.h"
#include "tests/lab/inode_lab.h"
#include "tests/lab/need_root.h"

#define NOBODY 0x7ffffff0 /* no such process */

struct fixture {
	char dir[32], path[64];
	struct buildid_cache *cache;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strlcpy(f->dir, "/tmp/spoor-ids.XXXXXX", sizeof(f->dir));
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/file", f->dir);
	f->cache = buildid_cache_new();
	assert_non_null(f->cache);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	rmdir(f->dir);
	buildid_cache_free(f->cache);
	free(f);
	return 0;
}

/* An ELF file that is little more than its note, with this build-id. */
static void
fill_file(int fd, const char *id)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			 .e_phoff = 64,
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1 };
	Elf64_Nhdr n = { 4, (Elf64_Word)strlen(id), NT_GNU_BUILD_ID };
	Elf64_Phdr p = { .p_type = PT_NOTE, .p_offset = 512, .p_align = 4, .p_filesz = 36 };
	uint8_t elf[1024] = { 0 };

	memcpy(elf, &h, sizeof(h));
	memcpy(elf + 64, &p, sizeof(p));
	memcpy(elf + 512, &n, sizeof(n));
	memcpy(elf + 524, "GNU", 4);
	memcpy(elf + 528, id, strlen(id));
	assert_true(fd >= 0);
	assert_int_equal(write(fd, elf, sizeof(elf)), sizeof(elf));
}

static void
write_file(const char *path, const char *id)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	fill_file(fd, id);
	close(fd);
	/* A file that changed in the tick before it was mapped may be another than the mapped one. */
	usleep(20000);
}

/* As if this process had mapped the file now. */
static struct buildid_map
map_of(const char *path)
{
	struct buildid_map m = { .pid = getpid(), .path = path };
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	m.ino = st.st_ino;
	m.maj = major(st.st_dev);
	m.min = minor(st.st_dev);
	m.ino_generation = lab_generation(path);
	m.mapped_ns = host_now_ns();
	return m;
}

/* Really mapped. */
static struct buildid_map
map(const char *path, void **ret_at)
{
	struct buildid_map m = map_of(path);
	int fd = open(path, O_RDONLY);

	*ret_at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(*ret_at, MAP_FAILED);
	close(fd);
	m.start = (uintptr_t)*ret_at;
	m.end = m.start + 4096;
	return m;
}

/* The first letter of the id; 0: an error, which is in *ret. */
static char
get(const struct fixture *f, const struct buildid_map *m, int *ret)
{
	struct buildid id;

	*ret = buildid_cache_get(f->cache, m, &id);
	return *ret == 0 ? (char)id.bytes[0] : 0;
}

#define assert_id(f, m, letter)                                                                    \
	do {                                                                                       \
		int rc_;                                                                           \
		assert_int_equal(get(f, m, &rc_), letter);                                         \
		assert_int_equal(rc_, 0);                                                          \
	} while (0)

#define assert_none(f, m, error)                                                                   \
	do {                                                                                       \
		int rc_;                                                                           \
		assert_int_equal(get(f, m, &rc_), 0);                                              \
		assert_int_equal(rc_, error);                                                      \
	} while (0)

static void
test_kernel_and_vdso(void **state)
{
	struct buildid id;

	if (access("/sys/kernel/notes", R_OK) == 0) {
		assert_int_equal(buildid_of_notes_file("/sys/kernel/notes", &id), 0);
		assert_true(id.size >= 8);
	}
	assert_int_equal(host_buildid_vdso(&id), 0);
	assert_true(id.size >= 8);
	assert_int_equal(host_buildid_module("../../kernel", &id), -EINVAL);
	assert_int_equal(host_buildid_module("no_such_module", &id), -ENOENT);
}

static void
test_ways_to_a_file(void **state)
{
	const struct fixture *f = *state;
	struct buildid_map m;
	char gone[96];
	void *at;

	write_file(f->path, "A");
	m = map(f->path, &at);
	assert_id(f, &m, 'A');
	assert_id(f, &m, 'A');
	munmap(at, 4096);
	/* No such map, no such process: by path, if that is the same inode. */
	m.mapped_ns = host_now_ns();
	assert_id(f, &m, 'A');
	m.pid = NOBODY;
	m.mapped_ns = host_now_ns();
	assert_id(f, &m, 'A');
	m.ino++;
	assert_none(f, &m, -ESTALE);
	m.ino--;
	m.min++;
	assert_none(f, &m, -ESTALE);
	/* Deleted, and still mapped. */
	write_file(f->path, "B");
	m = map(f->path, &at);
	unlink(f->path);
	snprintf(gone, sizeof(gone), "%s (deleted)", f->path);
	m.path = gone;
	if (geteuid() == 0)
		assert_id(f, &m, 'B');
	munmap(at, 4096);
}

/* The number of one that was looked for in vain a moment ago: another process may have it mapped. */
static void
test_missed_elsewhere(void **state)
{
	const struct fixture *f = *state;
	struct buildid_map m;
	void *at;

	if (geteuid() != 0) {
		print_message("skipped: map_files takes CAP_CHECKPOINT_RESTORE\n");
		skip();
	}
	write_file(f->path, "A");
	m = map(f->path, &at);
	m.path = "/gone";
	m.ino_generation = 0;
	m.pid = NOBODY;
	assert_none(f, &m, -ESTALE);
	m.pid = getpid();
	assert_id(f, &m, 'A');
	munmap(at, 4096);
}

/* Overwritten in place: the same inode, another build. */
static void
test_overwritten(void **state)
{
	const struct fixture *f = *state;
	struct buildid_map m;
	struct buildid id;

	write_file(f->path, "A");
	m = map_of(f->path);
	assert_id(f, &m, 'A');
	assert_int_equal(buildid_cache_known(f->cache, &m, &id), 0);
	write_file(f->path, "B");
	m.mapped_ns = host_now_ns();
	assert_int_equal(buildid_cache_known(f->cache, &m, &id), -ESTALE);
	assert_id(f, &m, 'B');
}

/* What was seen is certain for maps from before, and is asked of nobody; later ones are looked at. */
static void
test_known(void **state)
{
	const struct fixture *f = *state;
	struct buildid_map m;
	struct buildid id;

	write_file(f->path, "A");
	usleep(20000);
	m = map_of(f->path);
	assert_int_equal(buildid_cache_known(f->cache, &m, &id), -EAGAIN);
	assert_id(f, &m, 'A');
	unlink(f->path);
	m.pid = NOBODY;
	assert_int_equal(buildid_cache_known(f->cache, &m, &id), 0);
	/* Before it was there at all: of another file, that had its number. */
	m.mapped_ns -= 10000000000;
	assert_int_equal(buildid_cache_known(f->cache, &m, &id), -ESTALE);
	m.mapped_ns = host_now_ns();
	assert_int_equal(buildid_cache_known(f->cache, &m, &id), -ESTALE);
	if (!m.ino_generation) { /* the file system tells none */
		m.ino_generation = 77;
		assert_none(f, &m, -ESTALE);
		m.mapped_ns -= 15000000;
		assert_int_equal(buildid_cache_known(f->cache, &m, &id), 0);
		m.mapped_ns = host_now_ns();
	}
	/* Out of reach, but an inode of this generation there was but one. */
	assert_id(f, &m, 'A');
	m.ino_generation++;
	assert_int_equal(buildid_cache_known(f->cache, &m, &id), -EAGAIN);
	assert_none(f, &m, -ESTALE);
}

/* A path that is made and removed again and again: often with the same inode number. */
static void
test_used_again(void **state)
{
	const struct fixture *f = *state;
	struct buildid_map first, second;

	write_file(f->path, "A");
	first = map_of(f->path);
	if (!first.ino_generation) {
		print_message("skipped: the file system of /tmp tells no generation\n");
		skip();
	}
	usleep(20000);
	unlink(f->path);
	for (int i = 0;; i++) {
		write_file(f->path, "B");
		second = map_of(f->path);
		if (second.ino == first.ino || i == 100)
			break;
		unlink(f->path);
	}
	first.pid = second.pid = NOBODY;
	/* Where somebody else was quicker each time, as if it were so. */
	first.ino = second.ino;
	/* The one there now changed after the first was mapped. */
	assert_none(f, &first, -ESTALE);
	assert_id(f, &second, 'B');
	assert_none(f, &first, -ESTALE);
	/* A link, a rename change it as well; the generation tells that it is the same. */
	second.mapped_ns = first.mapped_ns;
	assert_id(f, &second, 'B');
}

/* What lies where this process sees nothing: through one that is there yet. */
static void
test_peer(void **state)
{
	const struct fixture *f = *state;
	struct buildid_map m = { 0 };
	int pipes[2];
	pid_t pid;

	need_root("can mount in a namespace of its own");
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("t", f->dir, "tmpfs", 0, NULL) < 0)
			_exit(1);
		write_file(f->path, "P");
		m = map_of(f->path);
		if (write(pipes[1], &m, sizeof(m)) != sizeof(m))
			_exit(1);
		child_lab_sleep();
	}
	assert_int_equal(read(pipes[0], &m, sizeof(m)), sizeof(m));
	m.path = f->path;
	m.pid = NOBODY;
	assert_none(f, &m, -ESTALE);
	m.peer = pid;
	assert_id(f, &m, 'P');
	child_lab_end(pid);
	close(pipes[0]);
	close(pipes[1]);
}

/* An overlay over another file system than its own: files have another device than the mount. */
static void
test_overlay(void **state)
{
	const struct fixture *f = *state;
	char file[96], options[256];
	struct buildid_map m;
	int status, rc;
	pid_t pid;
	void *at;

	need_root("can mount in a namespace of its own");
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("t", f->dir, "tmpfs", 0, NULL) < 0 || chdir(f->dir) < 0 ||
		    mkdir("u", 0700) < 0 || mkdir("w", 0700) < 0 || mkdir("o", 0700) < 0 ||
		    mkdir("l", 0700) < 0 || mount("l", "l", "tmpfs", 0, NULL) < 0)
			_exit(1);
		snprintf(options, sizeof(options), "lowerdir=%s/l,upperdir=%s/u,workdir=%s/w",
			 f->dir, f->dir, f->dir);
		if (mount("o", "o", "overlay", 0, options) < 0)
			_exit(2);
		snprintf(file, sizeof(file), "%s/o/file", f->dir);
		write_file(file, "O");
		m = map(file, &at);
		_exit(get(f, &m, &rc) == 'O' ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static dev_t
device_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_dev : 0;
}

/* What is mapped in place of the file that the map tells of, under the same inode number. */
enum instead { ANOTHER_FILE, ROOTS_OVERLAY, USERS_OVERLAY, OVERLAY_ITSELF };

/* Two file systems have a file 2 each: a/file and b/file, and o/file is b/file on an overlay. */
static struct buildid_map
map_instead(const struct fixture *f, enum instead instead)
{
	struct buildid_map m, mapped;
	void *at;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("t", f->dir, "tmpfs", 0, NULL) < 0 || chdir(f->dir) < 0 || mkdir("a", 0700) < 0 ||
	    mkdir("b", 0700) < 0 || mkdir("c", 0700) < 0 || mkdir("o", 0700) < 0 ||
	    mount("a", "a", "tmpfs", 0, NULL) < 0 || mount("b", "b", "tmpfs", 0, NULL) < 0)
		_exit(1);
	write_file("a/file", "V");
	write_file("b/file", "A");
	/* Before Linux 6.18 the map of an overlay's file tells of the file below. */
	m = map_of(instead == ROOTS_OVERLAY || instead == OVERLAY_ITSELF ? "b/file" : "a/file");
	if (instead == USERS_OVERLAY && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		_exit(2);
	if (instead != ANOTHER_FILE &&
	    mount("o", "o", "overlay", MS_RDONLY, "userxattr,lowerdir=b:c") < 0)
		_exit(3);
	mapped = map(instead == ANOTHER_FILE ? "b/file" : "o/file", &at);
	if (mapped.ino != m.ino || (mapped.maj == m.maj && mapped.min == m.min))
		_exit(4);
	/* From 6.18 on, of the overlay, as its directories have it. */
	if (instead == OVERLAY_ITSELF) {
		m.maj = major(device_of("o"));
		m.min = minor(device_of("o"));
	}
	m.start = mapped.start;
	m.end = mapped.end;
	return m;
}

static void
assert_instead(const struct fixture *f, enum instead instead, char letter, int error)
{
	struct buildid_map m = { 0 };
	int pipes[2], rc;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		m = map_instead(f, instead);
		if (write(pipes[1], &m, sizeof(m)) != sizeof(m))
			_exit(1);
		child_lab_sleep();
	}
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &m, sizeof(m)), sizeof(m));
	close(pipes[0]);
	m.pid = pid;
	m.path = "/gone";
	assert_int_equal(get(f, &m, &rc), letter);
	assert_int_equal(rc, error);
	child_lab_end(pid);
}

/* Anybody can have a file of any inode number, and map it where another one was mapped a moment ago. */
static void
test_same_number_elsewhere(void **state)
{
	need_root("can mount in a namespace of its own");
	assert_instead(*state, ANOTHER_FILE, 0, -ESTALE);
	assert_instead(*state, USERS_OVERLAY, 0, -ESTALE);
	/* Nobody but root can mount one there. */
	assert_instead(*state, ROOTS_OVERLAY, 'A', 0);
	/* A kernel that tells of the overlay itself tells so of each. */
	assert_instead(*state, OVERLAY_ITSELF, 'A', 0);
	assert_instead(*state, ROOTS_OVERLAY, 0, -ESTALE);
	assert_instead(*state, OVERLAY_ITSELF, 'A', 0);
}

/* A program in a memfd: in no table of mounts, and not of FUSE. */
static void
test_memfd(void **state)
{
	const struct fixture *f = *state;
	int fd = memfd_create("program", MFD_CLOEXEC);
	struct buildid_map m;
	char path[64];
	void *at;

	if (geteuid() != 0) {
		print_message("skipped: map_files takes CAP_CHECKPOINT_RESTORE\n");
		skip();
	}
	fill_file(fd, "M");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	m = map(path, &at);
	m.path = "/memfd:program (deleted)";
	assert_id(f, &m, 'M');
	munmap(at, 4096);
	close(fd);
}

/* Linux before 5.6, and seccomp filters that are older than openat2(2). */
static void
refuse_openat2(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(2);
}

static void
test_without_openat2(void **state)
{
	const struct fixture *f = *state;
	struct buildid_map m;
	char link[96];
	int status, rc;

	write_file(f->path, "A");
	m = map_of(f->path);
	snprintf(link, sizeof(link), "%s/link", f->dir);
	for (int error = 0; error < 2; error++) {
		pid_t pid = fork();

		if (pid == 0) {
			refuse_openat2(error ? EPERM : ENOSYS);
			if (get(f, &m, &rc) != 'A')
				_exit(3);
			/* A path of the kernel has no links in it: what is one now is another file. */
			m = map_of(f->path);
			if (symlink(f->dir, link) < 0)
				_exit(4);
			strlcat(link, "/file", sizeof(link));
			m.path = link;
			m.pid = NOBODY;
			m.ino_generation = 0;
			rc = get(f, &m, &status) == 0 && status == -ESTALE ? 0 : 5;
			*strrchr(link, '/') = '\0';
			unlink(link);
			_exit(rc);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

/* A FIFO must not hold us up, nor a directory or a device; nor is any of them read. */
static void
test_not_regular(void **state)
{
	const struct fixture *f = *state;
	struct buildid_map m;

	assert_int_equal(mkfifo(f->path, 0600), 0);
	usleep(20000);
	m = map_of("/dev/null");
	assert_none(f, &m, -ENODATA);
	m = map_of(f->dir);
	assert_none(f, &m, -ENODATA);
	m = map_of(f->path);
	assert_none(f, &m, -ENODATA);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_and_vdso),
		T(test_ways_to_a_file),
		T(test_missed_elsewhere),
		T(test_overwritten),
		T(test_known),
		T(test_used_again),
		T(test_peer),
		T(test_overlay),
		T(test_same_number_elsewhere),
		T(test_memfd),
		T(test_without_openat2),
		T(test_not_regular),
	};

	return cmocka_run_group_tests_name("buildid_cache", tests, NULL, NULL);
}
