/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a sampled address to a frame: which file, which address in it, which name; and when
 * rather none.
 */
#include "symbolizer/resolve/resolve.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include <bsd/string.h>
#include <cmocka.h>

#include "format/block/ksyms.h"
#include "symbolizer/object/object_store.h"
#include "symbolizer/object/symtab.h"
#include "symbolizer/object/object_vdso.h"
#include "tests/lab/elf_lab.h"

#define START UINT64_C(0x7f1234560000)
#define FAR_FUTURE UINT64_C(9000000000000000000)

static struct resolver *r;
static const char *no_dirs[] = { NULL };
static const char *lab_dirs[] = { NULL, NULL };
static char lab_cache[PATH_MAX];

static void
fresh(const struct resolver_options *options)
{
	resolver_free(r);
	r = resolver_new(options);
	assert_non_null(r);
}

/* A recording that began then. */
static void
begin(uint64_t start_realtime_ns)
{
	struct resolver_recording recording = { .start_realtime_ns = start_realtime_ns };

	assert_int_equal(resolver_begin(r, &recording), 0);
}

static int
setup(void **state)
{
	r = NULL;
	fresh(&(struct resolver_options){ .debug_dirs = no_dirs });
	return 0;
}

static int
teardown(void **state)
{
	resolver_free(r);
	r = NULL;
	return 0;
}

static struct frame
user(const struct task_map *map, uint64_t ip, bool is_return)
{
	struct frame f;

	memset(&f, 0xee, sizeof(f));
	assert_int_equal(resolver_user(r, map, ip, is_return, &f), 0);
	assert_int_equal(f.ip, ip);
	assert_non_null(f.dso);
	assert_non_null(f.dso_path);
	assert_false(f.kernel);
	assert_true((f.symbol != NULL) == (f.miss == RESOLVE_OK || f.miss == RESOLVE_NO_NAME));
	assert_true(frame_is_named(&f) == (f.miss == RESOLVE_OK));
	return f;
}

/* The address in map of an address in the ELF file that it maps. */
static uint64_t
ip_of(const struct task_map *map, const char *path, uint64_t vaddr)
{
	struct elf_object *o = elf_lab_open(path);
	const struct elf_segment *s;
	size_t nr = elf_object_segments(o, &s);
	uint64_t ip = 0;

	for (size_t i = 0; i < nr; i++)
		if (s[i].exec && vaddr >= s[i].vaddr && vaddr < s[i].vaddr + s[i].filesz)
			ip = vaddr - s[i].vaddr + s[i].offset - map->pgoff + map->start;
	elf_object_close(o);
	assert_true(ip != 0);
	return ip;
}

static uint64_t
address_of(const char *path, const char *name, uint64_t *ret_size)
{
	struct lab_symbol *list;
	size_t n = lab_nm(path, "-S", &list);
	uint64_t address = 0;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) == 0) {
			address = list[i].address;
			if (ret_size != NULL)
				*ret_size = list[i].size;
		}
	}
	free(list);
	assert_true(address != 0);
	return address;
}

static void
is_symbol(const struct task_map *map, const char *path, const char *from, const char *name)
{
	uint64_t vaddr = address_of(from, name, NULL);
	struct frame f = user(map, ip_of(map, path, vaddr) + 1, false);

	if (f.symbol == NULL)
		fail_msg("%s: %s: %s", path, name, resolve_miss_text(f.miss));
	assert_string_equal(f.symbol, name);
	assert_int_equal(f.vaddr, vaddr + 1);
	assert_int_equal(f.symbol_offset, 1);
}

static void
no_map(void **state)
{
	struct frame f = user(NULL, 0x1234, false);

	assert_int_equal(f.miss, RESOLVE_NO_MAP);
	assert_string_equal(f.dso, "[unknown]");
	assert_int_equal(f.vaddr, 0x1234);
}

static void
every_layout(void **state)
{
	static const char *const flags[] = {
		"-pie -fPIE",
		"-no-pie -fno-pie",
		"-Wl,-z,noseparate-code",
		"-no-pie -Wl,-z,noseparate-code",
		"-no-pie -Wl,-Ttext-segment=0x10000000",
		"-ffunction-sections -Wl,--gc-sections",
		"-static",
		"-Wl,-z,max-page-size=65536",
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct map_object o;
		struct task_map map;
		char name[32];
		const char *path;

		snprintf(name, sizeof(name), "layout%zu", i);
		path = lab_build(name, lab_program, 0, flags[i]);
		lab_map(path, START, &o, &map);
		o.index = (uint32_t)i;
		is_symbol(&map, path, path, "main");
		is_symbol(&map, path, path, "plain");
		is_symbol(&map, path, path, "hidden_one");
		is_symbol(&map, path, path, "caller");
	}
}

/* Every byte of a function and of what is around it, against addr2line. */
static void
as_addr2line_has_it(void **state)
{
	const char *path = lab_build("bytes", lab_program, 0, "-Wl,-z,noseparate-code");
	uint64_t size, start = address_of(path, "hidden_one", &size), n = size + 64;
	FILE *ask = fopen(lab_path("bytes.ask"), "we"), *answer;
	struct map_object o;
	struct task_map map;
	char name[256], where[256];

	for (uint64_t i = 0; i < n; i++)
		fprintf(ask, "%" PRIx64 "\n", start + i);
	fclose(ask);
	path = lab_path("bytes");
	lab_map(path, START, &o, &map);
	answer = lab_output("addr2line -f -e bytes <bytes.ask");
	for (uint64_t i = 0; i < n; i++) {
		struct frame f = user(&map, ip_of(&map, path, start + i), false);

		assert_non_null(fgets(name, sizeof(name), answer));
		assert_non_null(fgets(where, sizeof(where), answer));
		name[strcspn(name, "\n")] = '\0';
		if (i < size)
			assert_string_equal(f.symbol, name);
		else if (f.symbol != NULL)
			assert_string_not_equal(f.symbol, "hidden_one");
	}
	pclose(answer);
}

/* A call that never returns may be a function's last instruction: the byte before counts. */
static void
return_addresses(void **state)
{
	const char *path = lab_build("returns", lab_program, 0, "");
	struct map_object o;
	struct task_map map;
	uint64_t size, start = address_of(path, "dies", &size), ip;
	struct frame f;

	path = lab_path("returns");
	lab_map(path, START, &o, &map);
	ip = ip_of(&map, path, start + size);
	f = user(&map, ip, true);
	assert_string_equal(f.symbol, "dies");
	assert_int_equal(f.vaddr, start + size);
	assert_int_equal(f.symbol_offset, size);
	f = user(&map, ip, false);
	assert_true(f.symbol == NULL || strcmp(f.symbol, "dies") != 0);
	/* And both again, from the cache. */
	assert_string_equal(user(&map, ip, true).symbol, "dies");
	assert_int_equal(user(&map, ip, true).symbol_offset, size);
	/* The very first byte of a map, and of a file. */
	user(&map, map.start, true);
	map.pgoff = 0;
	assert_int_equal(user(&map, map.start, true).miss, RESOLVE_NO_SYMBOL);
}

static void
no_name_from_a_wrong_build(void **state)
{
	const char *path = lab_build("wrong", lab_program, 0, "");
	struct map_object o;
	struct task_map map;
	uint64_t vaddr = address_of(path, "main", NULL), ip;
	struct frame f;

	path = lab_path("wrong");
	lab_map(path, START, &o, &map);
	ip = ip_of(&map, path, vaddr);
	for (size_t bit = 0; bit < 20 * 8; bit += 7) {
		o.build_id.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		f = user(&map, ip, false);
		assert_int_equal(f.miss, RESOLVE_MISMATCH);
		assert_string_equal(f.dso, "wrong");
		o.build_id.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	for (o.build_id.size = 1; o.build_id.size < 20; o.build_id.size++)
		assert_int_equal(user(&map, ip, false).miss, RESOLVE_MISMATCH);
	assert_string_equal(user(&map, ip, false).dso_path, path);
	/* Then the right one comes. */
	assert_string_equal(user(&map, ip, false).symbol, "main");
	/* The file is replaced by another build: what is loaded stays, a new resolver refuses. */
	lab_build("wrong", lab_program, 0, "-O2 -DX");
	lab_run("printf ' ' >>wrong.c");
	lab_build("wrong", "int main(void) { return 0; }", 0, "");
	fresh(&(struct resolver_options){ .debug_dirs = no_dirs });
	f = user(&map, ip, false);
	assert_int_equal(f.miss, RESOLVE_MISMATCH);
	assert_null(f.symbol);
}

/* perf until 5.10 and simpleperf write 20 bytes, zeros behind a shorter one, and its cache has it so. */
static void
padded_build_ids(void **state)
{
	static const char *const flags[] = {
		"md5",
		"uuid",
		"0x1111111122222222",
		"0x11112222333344445555",
		"0x1111222233334444555566667777888800000000",
	};
	char name[32];

	lab_run("rm -rf padded.cache");
	snprintf(lab_cache, sizeof(lab_cache), "%s", lab_path("padded.cache"));
	fresh(&(struct resolver_options){ .debug_dirs = no_dirs, .debug_cache = lab_cache });
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct map_object o;
		struct task_map map;
		const char *path;

		snprintf(name, sizeof(name), "-Wl,--build-id=%s", flags[i]);
		path = lab_keep(lab_build("padded", lab_program, 0, name));
		lab_map(path, START, &o, &map);
		/* As recordings that were imported have it. */
		o.build_id.size = BUILDID_MAX;
		o.index = (uint32_t)(2 * i);
		is_symbol(&map, path, path, "main");
		o.build_id = buildid_of_padded(o.build_id.bytes);
		o.index++;
		is_symbol(&map, path, path, "main");
		o.build_id.bytes[0] ^= 1;
		assert_int_equal(
			user(&map, ip_of(&map, path, address_of(path, "main", NULL)), false).miss,
			RESOLVE_MISMATCH);
	}
}

/* Nothing but perf's cache has it. */
static void
padded_build_id_in_a_cache(void **state)
{
	const char *path = lab_keep(
		lab_build("cached_id", lab_program, 0, "-Wl,--build-id=0x1111111122222222"));
	static const char *const in[] = { "11/11111122222222000000000000000000000000",
					  "11/11111122222222" };
	uint64_t vaddr = address_of(path, "main", NULL), ip;
	struct map_object o;
	struct task_map map;

	lab_map(path, START, &o, &map);
	ip = ip_of(&map, path, vaddr);
	o.build_id = buildid_of_padded(o.build_id.bytes);
	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		lab_run("rm -rf perf.cache && mkdir -p perf.cache/.build-id/%s && cp cached_id perf.cache/.build-id/%s/elf",
			in[i], in[i]);
		snprintf(lab_cache, sizeof(lab_cache), "%s", lab_path("perf.cache"));
		o.path = "/nowhere/cached_id";
		fresh(&(struct resolver_options){ .debug_dirs = no_dirs,
						  .debug_cache = lab_cache });
		assert_string_equal(user(&map, ip, false).symbol, "main");
	}
}

/* A handler returns to its first byte, and the byte before is of nothing. Where there is no symbol its bytes tell. */
static void
signal_returns(void **state)
{
	const char *path = lab_keep(lab_build("signals", lab_program, 0, "-static"));
	const uint64_t restore = address_of(path, "__restore_rt", NULL);
	const uint64_t other = address_of(path, "main", NULL);
	struct map_object o;
	struct task_map map;
	struct frame f;

	for (int stripped = 0; stripped < 2; stripped++) {
		if (stripped)
			lab_run("strip -s %s", path);
		lab_map(path, START, &o, &map);
		f = user(&map, ip_of(&map, path, restore), true);
		assert_string_equal(f.symbol, "__restore_rt");
		assert_int_equal(f.vaddr, restore);
		assert_int_equal(f.symbol_offset, 0);
		f = user(&map, ip_of(&map, path, restore + 2), false);
		assert_string_equal(f.symbol, "__restore_rt");
		assert_int_equal(f.symbol_offset, 2);
		/* Of another function it is the end of what is before. */
		f = user(&map, ip_of(&map, path, other), true);
		assert_true(!f.symbol || strcmp(f.symbol, "main") != 0);
	}
}

/* Build-ids of a recorder's own reading arrive after the first samples. */
static void
build_id_comes_late(void **state)
{
	const char *path = lab_build("late", lab_program, 0, "");
	struct map_object o;
	struct task_map map;
	uint64_t vaddr = address_of(path, "main", NULL), ip;
	uint8_t size;

	path = lab_path("late");
	lab_map(path, START, &o, &map);
	ip = ip_of(&map, path, vaddr);
	size = o.build_id.size;
	o.build_id.size = 0;
	assert_int_equal(user(&map, ip, false).miss, RESOLVE_UNSURE);
	o.build_id.size = size;
	assert_string_equal(user(&map, ip, false).symbol, "main");
}

static void
without_a_build_id(void **state)
{
	const char *path = lab_build("no_id", lab_program, 0, "-Wl,--build-id=none");
	struct map_object o;
	struct task_map map;
	struct stat st;
	uint64_t vaddr = address_of(path, "main", NULL), ip, changed;

	path = lab_path("no_id");
	lab_map(path, START, &o, &map);
	ip = ip_of(&map, path, vaddr);
	assert_int_equal(o.build_id.size, 0);
	/* When the recording was made is not known: nothing is believed. */
	assert_int_equal(user(&map, ip, false).miss, RESOLVE_UNSURE);
	assert_int_equal(stat(path, &st), 0);
	changed = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
	begin(changed - 1);
	assert_int_equal(user(&map, ip, false).miss, RESOLVE_UNSURE);
	begin(changed + 1);
	assert_string_equal(user(&map, ip, false).symbol, "main");
	o.ino = st.st_ino;
	o.maj = major(st.st_dev);
	o.min = minor(st.st_dev);
	assert_string_equal(user(&map, ip, false).symbol, "main");
	o.ino++;
	assert_int_equal(user(&map, ip, false).miss, RESOLVE_UNSURE);
	o.ino--;
	o.min++;
	assert_int_equal(user(&map, ip, false).miss, RESOLVE_UNSURE);
	/* A recorded build-id, and a file that has none. */
	o = (struct map_object){ .path = path, .build_id = { .size = 20, .bytes = { 1 } } };
	assert_int_equal(user(&map, ip, false).miss, RESOLVE_MISMATCH);
}

/* A perf.data written then. */
static struct frame
doubted(uint64_t written_ns, const struct task_map *map, uint64_t ip)
{
	struct resolver_recording recording = { .perfdata_realtime_ns = written_ns };

	assert_int_equal(resolver_begin(r, &recording), 0);
	return user(map, ip, false);
}

static void
doubts(void **state)
{
	const char *path = lab_build("doubt", lab_program, 0, "-Wl,--build-id=none");
	uint64_t vaddr = address_of(path, "main", NULL), ip, written, past_end = 0;
	struct resolver_options forced = { .force = true };
	const struct elf_segment *s;
	struct elf_object *elf;
	struct map_object o;
	struct task_map map;
	struct stat st;

	path = lab_path("doubt");
	lab_map(path, START, &o, &map);
	ip = ip_of(&map, path, vaddr);
	elf = elf_lab_open(path);
	for (size_t i = 0; i < elf_object_segments(elf, &s); i++)
		if (s[i].exec)
			past_end = s[i].offset + s[i].filesz - map.pgoff;
	elf_object_close(elf);
	map.end = map.start + ((past_end + 4095) & ~UINT64_C(4095));
	assert_int_equal(stat(path, &st), 0);
	written = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	assert_int_equal(doubted(0, &map, ip).miss, RESOLVE_UNSURE);
	assert_int_equal(doubted(written, &map, ip).miss, RESOLVE_UNSURE);
	assert_string_equal(doubted(written + 1, &map, ip).symbol, "main");
	assert_int_equal(doubted(written + 1, &map, ip).doubt, RESOLVE_UNVERIFIED);
	begin((uint64_t)st.st_ctim.tv_sec * 1000000000 + 1000000000);
	assert_int_equal(user(&map, ip, false).doubt, RESOLVE_SURE);
	/* Another file's pages. */
	map.end += 4096;
	assert_int_equal(doubted(written + 1, &map, ip).miss, RESOLVE_UNSURE);
	fresh(&forced);
	assert_string_equal(doubted(written + 1, &map, ip).symbol, "main");
	assert_int_equal(doubted(written + 1, &map, ip).doubt, RESOLVE_FORCED);
	/* A build-id that is another is not forced. */
	o.build_id = (struct buildid){ .size = 20, .bytes = { 1 } };
	assert_int_equal(doubted(written + 1, &map, ip).miss, RESOLVE_MISMATCH);
}

static void
paths(void **state)
{
	char path[PATH_MAX], symfs[PATH_MAX];
	struct map_object o;
	struct task_map map;
	uint64_t vaddr, ip;
	struct frame f;

	lab_build("named", lab_program, 0, "");
	snprintf(path, sizeof(path), "%s", lab_path("named"));
	vaddr = address_of(path, "main", NULL);
	lab_map(path, START, &o, &map);
	ip = ip_of(&map, path, vaddr);
	f = user(&map, ip, false);
	assert_string_equal(f.dso, "named");
	assert_string_equal(f.dso_path, path);
	/* A deleted file whose successor is the same build. */
	strlcat(path, " (deleted)", sizeof(path));
	o.path = path;
	o.index = 1;
	f = user(&map, ip, false);
	assert_string_equal(f.symbol, "main");
	assert_string_equal(f.dso, "named");
	/* Not there; then below symfs. */
	o.path = "/nowhere/at/all/named";
	o.index = 2;
	fresh(NULL);
	assert_int_equal(user(&map, ip, false).miss, RESOLVE_NO_FILE);
	assert_string_equal(user(&map, ip, false).dso, "named");
	snprintf(symfs, sizeof(symfs), "%s/root", lab_dir());
	lab_run("mkdir -p root/nowhere/at/all && cp named root/nowhere/at/all/");
	fresh(&(struct resolver_options){ .symfs = symfs });
	assert_string_equal(user(&map, ip, false).symbol, "main");
	/* Another path, not there, of an object that is known by its build-id. */
	o.path = "/elsewhere/named2";
	o.index = 3;
	f = user(&map, ip, false);
	assert_string_equal(f.symbol, "main");
	assert_string_equal(f.dso, "named2");
}

static void
no_file_stands_behind(void **state)
{
	static const char *const names[] = {
		"//anon",
		"[heap]",
		"[stack]",
		"",
		"/dev/zero (deleted)",
		"/SYSV00000000 (deleted)",
		"/memfd:jit (deleted)",
		"anon_inode:[x]",
		"[anon:jit/code]",
	};
	struct map_object o = { 0 };
	struct task_map map = { START, START + 4096, 0, 5, 0, &o };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct frame f;

		o.path = names[i];
		f = user(&map, START + 5, false);
		assert_int_equal(f.miss, RESOLVE_NOT_FILE);
		assert_int_equal(f.vaddr, START + 5);
	}
	o.path = "//anon";
	assert_string_equal(user(&map, START, false).dso, "//anon");
	o.path = "[anon:jit/code]";
	assert_string_equal(user(&map, START, false).dso, "[anon:jit/code]");
	o.path = "/dev/null";
	assert_int_equal(user(&map, START, false).miss, RESOLVE_NO_FILE);
	elf_lab_write(lab_path("text"),
		      "this is no ELF file, but it is long enough to be one, is it not", 63);
	o.path = lab_keep(lab_path("text"));
	assert_int_equal(user(&map, START, false).miss, RESOLVE_BAD_FILE);
}

static const char *
id_path(const struct map_object *o)
{
	static char path[64];

	snprintf(path, sizeof(path), ".build-id/%02x/", o->build_id.bytes[0]);
	for (size_t i = 1; i < o->build_id.size; i++)
		snprintf(path + strlen(path), 3, "%02x", o->build_id.bytes[i]);
	return path;
}

/* As prelink(8) leaves a library: its code was moved within its segment, and that of its debug file was not. */
static void
moved_within_a_segment(void **state)
{
	static const char flags[] =
		"-g -fPIC -shared -nostdlib -Wl,-z,noseparate-code -Wl,--build-id=0x1111111122222222 -Wl,--hash-style=";
	static const char source[] = "long first(long n) { return n * 3; }\n"
				     "long second(long n) { return n * 5 + 1; }\n";
	struct map_object o;
	struct task_map map;
	uint64_t vaddr;
	char all[256], path[PATH_MAX], first[PATH_MAX];

	snprintf(all, sizeof(all), "%sgnu", flags);
	lab_build("before.so", source, 0, all);
	snprintf(all, sizeof(all), "%sboth", flags);
	snprintf(path, sizeof(path), "%s", lab_build("moved.so", source, 0, all));
	vaddr = address_of(path, "second", NULL);
	assert_int_not_equal(vaddr, address_of(lab_path("before.so"), "second", NULL));
	lab_run("objcopy --only-keep-debug before.so moved.debug && cp moved.so whole.so && strip -s moved.so && "
		"objcopy --add-gnu-debuglink=moved.debug moved.so");
	lab_map(path, START, &o, &map);
	is_symbol(&map, path, lab_path("whole.so"), "second");
	assert_int_equal(user(&map, ip_of(&map, path, vaddr), false).object->debug_bias,
			 vaddr - address_of(lab_path("before.so"), "second", NULL));
	assert_int_equal(resolver_debug_misfits(r, first), 0);
	/* Code of another length: the debug file is of another build, whatever its build-id. */
	snprintf(all, sizeof(all), "%sgnu", flags);
	lab_build(
		"before.so",
		"long second(long n) { return n / 5 + n % 7 + 1; } long third(long n) { return n; }",
		0, all);
	lab_run("objcopy --only-keep-debug before.so moved.debug");
	fresh(&(struct resolver_options){ .debug_dirs = no_dirs });
	assert_string_equal(user(&map, ip_of(&map, path, vaddr) + 1, false).symbol,
			    "second"); /* by .dynsym */
	assert_true(user(&map, ip_of(&map, path, vaddr), false).object == NULL ||
		    user(&map, ip_of(&map, path, vaddr), false).object->debug_fd < 0);
	assert_int_equal(resolver_debug_misfits(r, first), 1);
	assert_non_null(strstr(first, "moved.debug"));
}

/* A stripped file finds its symbols in each of the places, verified; its own headers count. */
static void
separate_symbols(void **state)
{
	char path[PATH_MAX], debug[PATH_MAX];
	struct map_object o;
	struct task_map map;
	const char *id;

	lab_build("split", lab_program, 0, "-g -Wl,-z,noseparate-code");
	lab_run("objcopy --only-keep-debug split split.debug && cp split.debug kept.debug &&"
		"strip split && objcopy --add-gnu-debuglink=split.debug split && rm split.debug");
	snprintf(path, sizeof(path), "%s", lab_path("split"));
	snprintf(debug, sizeof(debug), "%s", lab_path("kept.debug"));
	snprintf(lab_cache, sizeof(lab_cache), "%s/cache", lab_dir());
	lab_dirs[0] = lab_keep(lab_path("usr"));
	lab_map(path, START, &o, &map);
	id = id_path(&o);
#define LAB                                                                                        \
	&(struct resolver_options){                                                                \
		.debug_dirs = lab_dirs,                                                            \
		.debug_cache = lab_cache,                                                          \
	}
	fresh(LAB);
	assert_int_equal(user(&map, ip_of(&map, path, address_of(debug, "main", NULL)), false).miss,
			 RESOLVE_NO_NAME);
	lab_run("mkdir -p usr/.build-id && mkdir -p $(dirname usr/%s) && cp kept.debug usr/%s.debug",
		id, id);
	fresh(LAB);
	is_symbol(&map, path, debug, "main");
	is_symbol(&map, path, debug, "hidden_one");
	lab_run("rm -r usr && cp kept.debug split.debug");
	fresh(LAB);
	is_symbol(&map, path, debug, "hidden_one");
	lab_run("mkdir .debug && mv split.debug .debug/");
	fresh(LAB);
	is_symbol(&map, path, debug, "hidden_one");
	lab_run("rm -r .debug && mkdir -p usr/%s && cp kept.debug usr/%s/split.debug", lab_dir(),
		lab_dir());
	fresh(LAB);
	is_symbol(&map, path, debug, "hidden_one");
	lab_run("rm -r usr && mkdir -p cache/%s && cp kept.debug cache/%s/debug", id, id);
	fresh(LAB);
	is_symbol(&map, path, debug, "hidden_one");
	/* perf's cache has the file itself as well, when its path is gone. */
	lab_run("cp split cache/%s/elf", id);
	o.path = "/gone/split";
	fresh(LAB);
	is_symbol(&map, path, debug, "hidden_one");
	/* Another build's symbols at the right place: refused. */
	o.path = path;
	lab_run("rm -r cache && mkdir -p $(dirname usr/%s)", id);
	lab_build("other", lab_program, 0, "-g -O2");
	lab_run("cp other split.debug && cp other usr/%s.debug", id);
	fresh(LAB);
	assert_int_equal(
		user(&map, ip_of(&map, path, address_of(debug, "hidden_one", NULL)), false).miss,
		RESOLVE_NO_NAME);
	lab_run("rm -r usr split.debug");
}

/* No build-id on either side: the checksum in the link decides. */
static void
separate_symbols_by_checksum(void **state)
{
	char path[PATH_MAX], debug[PATH_MAX];
	struct map_object o;
	struct task_map map;
	struct frame f;

	lab_build("crc", lab_program, 0, "-g -Wl,--build-id=none");
	lab_run("objcopy --only-keep-debug crc crc.debug && strip crc &&"
		"objcopy --add-gnu-debuglink=crc.debug crc && cp crc.debug crc.copy");
	snprintf(path, sizeof(path), "%s", lab_path("crc"));
	snprintf(debug, sizeof(debug), "%s", lab_path("crc.copy"));
	lab_map(path, START, &o, &map);
	begin(FAR_FUTURE);
	is_symbol(&map, path, debug, "hidden_one");
	lab_run("printf x >>crc.debug");
	begin(FAR_FUTURE);
	f = user(&map, ip_of(&map, path, address_of(debug, "hidden_one", NULL)), false);
	assert_int_equal(f.miss, RESOLVE_NO_NAME);
}

/* Bytes that this thread has read so far; a process has those of its children as well. */
static uint64_t
bytes_read(void)
{
	FILE *f = fopen("/proc/thread-self/io", "re");
	uint64_t n = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "rchar: %" SCNu64, &n), 1);
	fclose(f);
	return n;
}

/* Bytes read for the symbol of a stripped file that has none. */
static uint64_t
bytes_of_a_miss(const char *path, uint32_t index)
{
	struct map_object o;
	struct task_map map;
	uint64_t ip, before;

	lab_map(path, START, &o, &map);
	o.index = index;
	ip = ip_of(&map, path, address_of(lab_path("kept.debug"), "main", NULL));
	before = bytes_read();
	assert_int_equal(user(&map, ip, false).miss, RESOLVE_NO_NAME);
	return bytes_read() - before;
}

/* A file may be long and take little of the disk. */
static void
long_files_by_checksum(void **state)
{
	const uint64_t hole = UINT64_C(400) << 20;
	uint64_t bytes = 0;
	char path[32];

	lab_build("link", lab_program, 0, "-g -Wl,--build-id=none");
	lab_run("objcopy --only-keep-debug link link.debug && strip link &&"
		"objcopy --add-gnu-debuglink=link.debug link && cp link.debug kept.debug &&"
		"truncate -s +%" PRIu64 " link.debug && for i in 0 1 2 3 4 5; do cp link link$i;"
		"mkdir dir$i && cp link dir$i && cp kept.debug dir$i/link.debug &&"
		"truncate -s +%" PRIu64 " dir$i/link.debug || exit; done",
		hole, hole);
	begin(FAR_FUTURE);
	for (uint32_t i = 0; i < 6; i++) {
		snprintf(path, sizeof(path), "link%u", i);
		bytes += bytes_of_a_miss(lab_keep(lab_path(path)), i);
	}
	print_message("# one file: %" PRIu64 " MiB read\n", bytes >> 20);
	assert_true(bytes < 2 * hole);
	assert_int_equal(resolver_debug_left_out(r), 0);
	begin(FAR_FUTURE);
	for (uint32_t i = 0; i < 6; i++) {
		snprintf(path, sizeof(path), "dir%u/link", i);
		bytes += bytes_of_a_miss(lab_keep(lab_path(path)), 6 + i);
	}
	print_message("# seven files: %" PRIu64 " MiB read\n", bytes >> 20);
	assert_true(bytes < 3 * hole);
	assert_int_equal(resolver_debug_left_out(r), 5);
	lab_run("rm -r link.debug dir?");
}

/* However many maps it has, and whatever its build-id: a file is looked at once. */
static void
one_look_at_a_file(void **state)
{
	struct map_object o;
	struct task_map map;
	uint64_t before;

	for (size_t k = 0; k < 2; k++) {
		lab_run("rm -f once");
		lab_build("once", lab_program, 0,
			  k ? "-Wl,--build-id=none" : "-Wl,--build-id=sha1");
		lab_map(lab_path("once"), START, &o, &map);
		begin(FAR_FUTURE);
		user(&map, START + 0x100, false);
		before = bytes_read();
		for (uint32_t i = 1; i < 50; i++) {
			o.index = i;
			map.end = map.start + i * 4096;
			map.prot = i % 2 ? 5 : 1;
			user(&map, START + 0x100, false);
		}
		assert_true(bytes_read() - before < 4096);
	}
}

static void
stripped_files_blame_nobody(void **state)
{
	const char *path = lab_build("bare", lab_program, 0, "-rdynamic");
	struct map_object o;
	struct task_map map;
	uint64_t main_at = address_of(path, "main", NULL),
		 hidden_at = address_of(path, "hidden_one", NULL);
	char place[32];
	struct frame f;

	lab_run("strip bare");
	path = lab_path("bare");
	lab_map(path, START, &o, &map);
	assert_string_equal(user(&map, ip_of(&map, path, main_at), false).symbol, "main");
	f = user(&map, ip_of(&map, path, hidden_at), false);
	assert_int_equal(f.miss, RESOLVE_NO_NAME);
	assert_int_equal(f.vaddr, hidden_at);
	assert_string_equal(f.dso, "bare");
	snprintf(place, sizeof(place), "bare[%#" PRIx64 "]",
		 ip_of(&map, path, hidden_at) - map.start + map.pgoff);
	assert_string_equal(f.symbol, place);
	f = user(&map, ip_of(&map, path, hidden_at) + 1, true);
	assert_string_equal(f.symbol, place);
	assert_int_equal(f.symbol_offset, 1);
}

/* Two files of one build were mapped, the stripped one first: the other's names serve both. */
static void
stripped_twin(void **state)
{
	const char *path = lab_build("twin", lab_program, 0, ""), *stripped;
	struct map_object o, bare;
	struct task_map map, bare_map;
	uint64_t hidden_at = address_of(path, "hidden_one", NULL);
	struct frame f;

	lab_run("strip -o stripped-twin twin");
	path = lab_keep(lab_path("twin"));
	stripped = lab_keep(lab_path("stripped-twin"));
	lab_map(path, START, &o, &map);
	lab_map(stripped, START, &bare, &bare_map);
	f = user(&bare_map, ip_of(&bare_map, stripped, hidden_at), false);
	assert_int_equal(f.miss, RESOLVE_NO_NAME);
	f = user(&map, ip_of(&map, path, hidden_at), false);
	assert_string_equal(f.symbol, "hidden_one");
	f = user(&bare_map, ip_of(&bare_map, stripped, hidden_at), false);
	assert_string_equal(f.symbol, "hidden_one");
	/* Another recording, in which the stripped one is seen first again. */
	begin(0);
	f = user(&bare_map, ip_of(&bare_map, stripped, hidden_at), false);
	assert_string_equal(f.symbol, "hidden_one");
}

/* Stripped files of one build: none has more than the first, and it alone is read. */
static void
stripped_copies(void **state)
{
	struct map_object o;
	struct task_map map;
	uint64_t before;
	char path[32];

	lab_build("long", "int main(void) { return 0; }\n__asm__(\".skip 8 << 20\");", 0, "-s");
	lab_map(lab_path("long"), START, &o, &map);
	before = bytes_read();
	user(&map, START + 0x100, false);
	assert_true(bytes_read() - before > 8 << 20);
	before = bytes_read();
	for (uint32_t i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "long%u", i);
		lab_run("cp long %s", path);
		o.path = lab_keep(lab_path(path));
		o.index = i + 1;
		user(&map, START + 0x100, false);
	}
	print_message("# twenty copies: %" PRIu64 " KiB read\n", (bytes_read() - before) >> 10);
	assert_true(bytes_read() - before < 8 << 20);
}

/* Memory with as many names, and as long ones, as there is room for: functions have theirs. */
static void
many_paths(void **state)
{
	const char *program = lab_build("named", lab_program, 0, "");
	struct map_object o, other;
	struct task_map map, other_map;
	char path[PATH_MAX];

	lab_map(program, START, &o, &map);
	other = o;
	other.build_id = (struct buildid){ 0 };
	other_map = map;
	other_map.object = &other;
	other.path = path;
	for (uint32_t i = 0; i < 150000; i++) {
		snprintf(path, sizeof(path), "//anon%u-%0*d", i, i < 9000 ? 3900 : 220, 0);
		other.index = i + 1;
		user(&other_map, START + 0x100, false);
	}
	is_symbol(&map, program, program, "main");
}

/* This very process: libc by its own map, at the address that the loader gave. */
static void
a_living_process(void **state)
{
	static const char *const names[] = { "qsort", "strtoull", "fopen", "getenv" };
	char line[PATH_MAX + 128];
	/* Not RTLD_DEFAULT: a sanitizer has its own in the place of some. */
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	uint64_t want;

	assert_non_null(libc);
	for (size_t i = 0; i < 4; i++) {
		FILE *f = fopen("/proc/self/maps", "re");
		bool found = false;

		want = (uintptr_t)dlsym(libc, names[i]);
		while (fgets(line, sizeof(line), f) != NULL) {
			struct map_object o = { .index = (uint32_t)i };
			struct task_map map = { .prot = 5, .object = &o };
			char path[PATH_MAX];
			const uint8_t *id;
			struct elf_object *elf;
			size_t size;

			if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s",
				   &map.start, &map.end, &map.pgoff, path) != 4 ||
			    want < map.start || want >= map.end ||
			    (strstr(path, "/libc.so") == NULL && strstr(path, "/libc-") == NULL))
				continue;
			elf = elf_lab_open(path);
			size = elf_object_build_id(elf, &id);
			o.build_id = buildid_of(BUILDID_GNU, id, size);
			o.path = path;
			elf_object_close(elf);
			assert_string_equal(user(&map, want + 1, false).dso,
					    strrchr(path, '/') + 1);
			/* Whichever of its names, it is the name of that address. */
			assert_int_equal((uintptr_t)dlsym(libc, user(&map, want + 1, false).symbol),
					 want);
			found = true;
		}
		fclose(f);
		assert_true(found);
	}
	dlclose(libc);
}

/* The first offset in map that has a name; 0: none. */
static uint64_t
first_name(const struct task_map *map)
{
	for (uint64_t v = 8; v < 8192; v += 8)
		if (user(map, map->start + v, false).symbol != NULL)
			return v;
	return 0;
}

/* As a loader maps it: no more than the pages of its first executable segment. */
static void
load_map(const char *name, struct map_object *o, struct task_map *map, uint64_t *ret_main)
{
	const char *path = lab_path(name);
	const struct elf_segment *s;
	struct elf_object *elf;

	lab_map(path, START, o, map);
	*ret_main = ip_of(map, path, address_of(path, "main", NULL));
	elf = elf_lab_open(path);
	for (size_t i = elf_object_segments(elf, &s); i-- > 0;)
		if (s[i].exec)
			map->end = START + ((s[i].offset + s[i].filesz + 4095) & ~UINT64_C(4095)) -
				map->pgoff;
	elf_object_close(elf);
}

/* The binary is gone; the package with its symbols is installed. */
static void
debug_file_alone(void **state)
{
	static const struct {
		const char *name, *flags;
	} builds[] = {
		{ "alone_pie", "-pie -fPIE" },
		{ "alone_no_pie", "-no-pie -fno-pie" },
		{ "alone_one_segment", "-pie -fPIE -Wl,-z,noseparate-code" },
		/* lld: text has another offset than address. */
		{ "alone_lld", "-pie -fPIE -fuse-ld=lld" },
	};

	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		const char *name = builds[i].name;
		struct map_object o;
		struct task_map map;
		uint64_t ip;
		char id[64];
		size_t n = 0;

		lab_build(name, lab_program, 0, builds[i].flags);
		load_map(name, &o, &map, &ip);
		for (size_t k = 0; k < o.build_id.size; k++)
			n += (size_t)snprintf(id + n, sizeof(id) - n, k ? "%02x" : "%02x/",
					      o.build_id.bytes[k]);
		lab_run("mkdir -p usr/.build-id/%.2s && objcopy --only-keep-debug %s usr/.build-id/%s.debug"
			" && strip %s && rm %s",
			id, name, id, name, name);
		lab_dirs[0] = lab_keep(lab_path("usr"));
		fresh(&(struct resolver_options){ .debug_dirs = lab_dirs });
		assert_string_equal(user(&map, ip, false).symbol, "main");
		assert_string_equal(user(&map, ip + 1, true).symbol, "main");
		/* A part of the segment is mapped: where it is can be told by GNU ld's habit alone. */
		map.end -= 4096;
		if (strcmp(name, "alone_lld") == 0)
			assert_int_equal(user(&map, ip, false).miss, RESOLVE_NO_FILE);
		/* Of another build nothing is there. */
		o.build_id.bytes[0] ^= 1;
		assert_int_equal(user(&map, ip, false).miss, RESOLVE_NO_FILE);
		lab_run("rm -r usr");
	}
}

/* A file without a GNU build-id, by what the recorder took of it. */
static void
surrogate(void **state)
{
	struct io_source *file;
	struct map_object o;
	struct task_map map;
	uint64_t ip;

	lab_build("anon", lab_program, 0, "-Wl,--build-id=none");
	load_map("anon", &o, &map, &ip);
	file = io_source_fd(open(lab_path("anon"), O_RDONLY));
	assert_int_equal(buildid_read(file, &o.build_id), 0);
	file->close(file);
	assert_int_equal(o.build_id.kind, BUILDID_SURROGATE);
	assert_string_equal(user(&map, ip, false).symbol, "main");
	/* Moved and moved back, and copied: ctime and inode are others. */
	lab_run("mv anon away && cp -p away anon && rm away");
	fresh(&(struct resolver_options){ .debug_dirs = no_dirs });
	assert_string_equal(user(&map, ip, false).symbol, "main");
	lab_run("mkdir -p root/%s && mv anon root/%s/", lab_dir(), lab_dir());
	fresh(&(struct resolver_options){ .debug_dirs = no_dirs });
	assert_int_equal(user(&map, ip, false).miss, RESOLVE_NO_FILE);
	fresh(&(struct resolver_options){ .debug_dirs = no_dirs,
					  .symfs = lab_keep(lab_path("root")) });
	assert_string_equal(user(&map, ip, false).symbol, "main");
	/* Another build in its place. */
	lab_build("anon", lab_program, 0, "-Wl,--build-id=none -fno-pie -no-pie");
	fresh(&(struct resolver_options){ .debug_dirs = no_dirs });
	assert_int_equal(user(&map, ip, false).miss, RESOLVE_MISMATCH);
	/* With an id of its own it is another build as well. */
	lab_build("anon", lab_program, 0, "");
	fresh(&(struct resolver_options){ .debug_dirs = no_dirs });
	assert_int_equal(user(&map, ip, false).miss, RESOLVE_MISMATCH);
}

static void
vdso(void **state)
{
	struct map_object o = { .path = "[vdso]" };
	struct task_map map = { START, START + 8192, 0, 5, 0, &o };
	uint64_t at = getauxval(AT_SYSINFO_EHDR);
	struct buildid right, other;
	uint8_t boot[16] = { 0 };
	struct elf_object *elf;
	const uint8_t *id;
	size_t size;

	/* Neither a build-id nor the boot is known. */
	assert_int_equal(user(&map, START + 0x800, false).miss, RESOLVE_NO_FILE);
	assert_int_equal(resolver_begin(r, &(struct resolver_recording){ .boot_id = boot }), 0);
	assert_int_equal(user(&map, START + 0x800, false).miss, RESOLVE_NO_FILE);
	o.build_id.size = 20;
	assert_int_equal(user(&map, START + 0x800, false).miss, RESOLVE_NO_FILE);
	assert_string_equal(user(&map, START + 0x800, false).dso, "[vdso]");
	if (at == 0) {
		print_message("# no vDSO in this process: its own names are not tested\n");
		return;
	}
	assert_int_equal(elf_object_open_memory((const void *)(uintptr_t)at, 8192, &elf), 0);
	size = elf_object_build_id(elf, &id);
	o.build_id = buildid_of(BUILDID_GNU, id, size);
	for (uint64_t v = 0; v < 8192; v += 8) {
		struct frame f = user(&map, START + v, false);

		if (f.symbol != NULL && strcmp(f.symbol, "__vdso_clock_gettime") == 0)
			at = 0;
	}
	assert_int_equal(at, 0);
	/* After a first try in vain; and not for 32-bit processes. */
	fresh(NULL);
	right = other = o.build_id;
	other.size = 16;
	o.build_id = (struct buildid){ 0 };
	at = first_name(&map);
	assert_int_equal(at, 0);
	o.build_id = right;
	at = first_name(&map);
	assert_true(at != 0);
	map.start = 0xf7f00000;
	map.end = map.start + 8192;
	assert_int_equal(user(&map, map.start + at, false).miss, RESOLVE_NO_FILE);
	o.build_id = other;
	map.start = START;
	map.end = START + 8192;
	assert_int_equal(first_name(&map), 0);
	elf_object_close(elf);
}

/* No build-id is known of it: it is this kernel's, or nothing's. */
static void
vdso_of_32_bits(void **state)
{
	struct map_object o = { .path = "[vdso32]" };
	struct task_map map = { 0xf7f00000, 0xf7f02000, 0, 5, 0, &o };
	uint8_t boot[16] = { 0 };
	struct elf_object *elf;
	char text[64];
	bool found = false;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_int_equal(user(&map, map.start + 0x800, false).miss, RESOLVE_NO_FILE);
	assert_string_equal(user(&map, map.start + 0x800, false).dso, "[vdso]");
	recording_meta_parse_id(text, boot);
	if (object_vdso_open(true, &elf) != 0) {
		print_message("# this kernel runs no 32-bit programs of x86\n");
		return;
	}
	elf_object_close(elf);
	fresh(&(struct resolver_options){ .debug_dirs = no_dirs });
	assert_int_equal(resolver_begin(r, &(struct resolver_recording){ .boot_id = boot }), 0);
	for (uint64_t v = 0; v < 8192; v += 4) {
		struct frame at = user(&map, map.start + v, false);

		found |= at.symbol && strcmp(at.symbol, "__kernel_vsyscall") == 0;
	}
	assert_true(found);
}

static void
vsyscall(void **state)
{
	struct map_object o = { .path = "[vsyscall]" };
	struct task_map map = { 0xffffffffff600000, 0xffffffffff601000, 0, 4, 0, &o };

	assert_string_equal(user(&map, 0xffffffffff600009, false).symbol, "gettimeofday");
	assert_string_equal(user(&map, 0xffffffffff600400, false).symbol, "time");
	assert_string_equal(user(&map, 0xffffffffff600807, false).symbol, "getcpu");
	assert_string_equal(user(&map, 0xffffffffff600807, false).dso, "[vsyscall]");
	assert_int_equal(user(&map, 0xffffffffff600f00, false).miss, RESOLVE_NO_SYMBOL);
}

static void
equal_strings_are_one_pointer(void **state)
{
	struct map_object o1, o2;
	struct task_map m1, m2;
	uint64_t at;

	lab_build("twin1", lab_program, 0, "");
	lab_build("twin2", lab_program, 0, "-DY -O2");
	lab_map(lab_path("twin1"), START, &o1, &m1);
	lab_map(lab_path("twin2"), START, &o2, &m2);
	o2.index = 1;
	at = address_of(lab_path("twin1"), "main", NULL);
	assert_ptr_equal(user(&m1, ip_of(&m1, o1.path, at), false).symbol,
			 resolver_intern(r, "main"));
	at = address_of(lab_path("twin2"), "main", NULL);
	assert_ptr_equal(user(&m2, ip_of(&m2, o2.path, at), false).symbol,
			 resolver_intern(r, "main"));
	assert_ptr_equal(user(&m1, START, false).dso, resolver_intern(r, "twin1"));
	assert_ptr_equal(user(NULL, START, false).dso, resolver_intern(r, "[unknown]"));
}

/* The task model gives the index of an object that is gone to another. */
static void
an_index_is_used_again(void **state)
{
	struct map_object o1, o2;
	struct task_map m1, m2;
	uint64_t at;

	lab_build("again1", lab_program, 0, "");
	lab_build("again2",
		  "int other(int x) { return x; }\n"
		  "int main(void) { return other(1) + other(2) + other(3); }\n",
		  0, "");
	lab_map(lab_path("again1"), START, &o1, &m1);
	lab_map(lab_path("again2"), START, &o2, &m2);
	at = address_of(lab_path("again1"), "main", NULL);
	assert_string_equal(user(&m1, ip_of(&m1, o1.path, at), false).dso, "again1");
	at = address_of(lab_path("again2"), "other", NULL);
	assert_string_equal(user(&m2, ip_of(&m2, o2.path, at), false).dso, "again2");
	assert_string_equal(user(&m2, ip_of(&m2, o2.path, at), false).symbol, "other");
	at = address_of(lab_path("again1"), "caller", NULL);
	assert_string_equal(user(&m1, ip_of(&m1, o1.path, at), false).symbol, "caller");
}

static void
cxx_names(void **state)
{
	static const char source[] =
		"namespace n { struct S { int spin(int a); };\n"
		"int S::spin(int a) { return a * 3; }\n"
		"template <class T> T twice(T a) { return a + a; } }\n"
		"int main(int c, char **) { return n::S().spin(c) + n::twice<int>(c); }\n";
	struct map_object o;
	struct task_map map;
	uint64_t spin, twice;

	lab_build("cxx", source, 1, "");
	spin = address_of(lab_path("cxx"), "_ZN1n1S4spinEi", NULL);
	twice = address_of(lab_path("cxx"), "_ZN1n5twiceIiEET_S1_", NULL);
	lab_map(lab_path("cxx"), START, &o, &map);
	assert_string_equal(user(&map, ip_of(&map, o.path, spin), false).symbol, "n::S::spin");
	assert_string_equal(user(&map, ip_of(&map, o.path, twice), false).symbol, "n::twice<int>");
	fresh(&(struct resolver_options){ .full_names = true });
	assert_string_equal(user(&map, ip_of(&map, o.path, spin), false).symbol, "n::S::spin(int)");
	fresh(&(struct resolver_options){ .no_demangle = true });
	assert_string_equal(user(&map, ip_of(&map, o.path, spin), false).symbol, "_ZN1n1S4spinEi");
}

static void
kernel(void **state)
{
	const struct kernel_symbol work = { .start = 0xffffffff81000000,
					    .name = "do_work",
					    .dso = "[ext4]" };
	struct frame f;

	assert_int_equal(resolver_kernel(r, 0xffffffff81000010, false, NULL, &f), 0);
	assert_int_equal(f.miss, RESOLVE_NO_KSYM);
	assert_string_equal(f.dso, "[kernel.kallsyms]");
	assert_true(f.kernel);
	assert_int_equal(resolver_kernel(r, 0xffffffff81000010, true, &work, &f), 0);
	assert_int_equal(f.miss, RESOLVE_OK);
	assert_string_equal(f.symbol, "do_work");
	assert_int_equal(f.symbol_offset, 0x10);
	assert_int_equal(f.ip, 0xffffffff81000010);
	assert_string_equal(f.dso, "[ext4]");
	/* A frame at a function's start is no return address into what is before it. */
	assert_int_equal(resolver_kernel(r, 0xffffffff81000000, true, &work, &f), 0);
	assert_string_equal(f.symbol, "do_work");
	assert_int_equal(f.symbol_offset, 0);
	/* Strings are the resolver's own: equal ones are one pointer. */
	assert_ptr_equal(f.symbol, resolver_intern(r, "do_work"));
	assert_ptr_equal(f.dso, resolver_intern(r, "[ext4]"));
}

/* Any address of an object is of the symbol that the table says. */
static void
every_address(void **state)
{
	const char *path = lab_build("cached", lab_program, 0, "-static");
	struct symtab *t = lab_symtab(path, NULL);
	struct map_object o;
	struct task_map map;

	lab_map(path, START, &o, &map);
	for (uint64_t i = 0; i < 60000; i++) {
		struct frame f = user(&map, START + i * 7, i & 1);
		struct symbol s;
		bool found = symtab_find(t, f.vaddr - (i & 1), &s);

		if (f.miss == RESOLVE_OK && strstr(f.symbol, "@plt") == NULL) {
			assert_true(found);
			assert_int_equal(f.vaddr - f.symbol_offset, s.start);
		}
	}
	symtab_free(t);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(no_map),
		T(every_layout),
		T(as_addr2line_has_it),
		T(return_addresses),
		T(no_name_from_a_wrong_build),
		T(padded_build_ids),
		T(padded_build_id_in_a_cache),
		T(signal_returns),
		T(build_id_comes_late),
		T(without_a_build_id),
		T(doubts),
		T(paths),
		T(no_file_stands_behind),
		T(moved_within_a_segment),
		T(separate_symbols),
		T(separate_symbols_by_checksum),
		T(long_files_by_checksum),
		T(stripped_files_blame_nobody),
		T(stripped_twin),
		T(stripped_copies),
		T(many_paths),
		T(a_living_process),
		T(debug_file_alone),
		T(surrogate),
		T(vdso),
		T(vdso_of_32_bits),
		T(vsyscall),
		T(equal_strings_are_one_pointer),
		T(an_index_is_used_again),
		T(one_look_at_a_file),
		T(cxx_names),
		T(kernel),
		T(every_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
