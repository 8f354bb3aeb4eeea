/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes of functions: of files whose symbols lie, of a vmlinux that lay elsewhere, and of kcore. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <elf.h>

#include "symbolizer/code/function_code.h"
#include "symbolizer/object/object_store.h"
#include "tests/lab/elf_lab.h"

#define TEXT UINT64_C(0xffffffff81000000)
#define MOVED UINT64_C(0x14000000)

static const struct resolver_options keep = { .keep_code = true };

/* A sampled function of the file, by its name. */
static void
function_in(struct resolver *r, struct object *object, const char *name,
	    struct annotation_function *ret)
{
	static struct annotation_hit hit;
	struct lab_symbol *list;
	size_t n = lab_nm(lab_path("lies"), "", &list);

	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0)
			hit = (struct annotation_hit){ list[i].address, { 1, 1 } };
	free(list);
	*ret = (struct annotation_function){
		.start = hit.address, .weight = { 1, 1 }, .hits = &hit, .nr_hits = 1
	};
	assert_int_equal(resolver_address(r, object, hit.address, &ret->frame), 0);
	assert_string_equal(ret->frame.symbol, name);
}

static void
sizes_that_lie(void **state)
{
	static const char source[] = "asm(\".globl huge\\n.type huge,@function\\nhuge: nop; ret\\n"
				     ".size huge, 0x7fffffffffffffff\\n\");"
				     "int main(void) { return 0; }";
	struct resolver *r = resolver_new(&keep);
	struct annotation_function f;
	struct function_code c;
	struct object *object;

	lab_build("lies", source, 0, "");
	assert_int_equal(resolver_file(r, lab_path("lies"), &object), 0);
	function_in(r, object, "huge", &f);
	assert_int_equal(function_code_read(NULL, &f, &c), 0);
	assert_null(c.why);
	assert_int_equal(c.end - c.start, INT64_MAX);
	assert_in_range(c.len, 2, FUNCTION_CODE_MAX);
	assert_int_equal(c.bytes[0], 0x90);
	function_code_done(&c);
	/* The file is cut, while its symbols are known. */
	lab_run("truncate -s 100 lies");
	assert_int_equal(function_code_read(NULL, &f, &c), 0);
	assert_non_null(c.why);
	assert_null(c.bytes);
	function_code_done(&c);
	resolver_free(r);
}

static void
symbols_alone(void **state)
{
	struct resolver *r = resolver_new(&keep);
	struct annotation_function f;
	struct function_code c;
	struct object *object;

	lab_build("lies", lab_program, 0, "-g");
	lab_run("objcopy --only-keep-debug lies symbols");
	assert_int_equal(resolver_file(r, lab_path("symbols"), &object), 0);
	function_in(r, object, "main", &f);
	assert_int_equal(function_code_read(NULL, &f, &c), 0);
	assert_string_equal(c.why, "the file that is here has symbols and no code");
	assert_true(c.end > c.start);
	function_code_done(&c);
	resolver_free(r);
}

static void
no_bytes(void **state)
{
	const struct annotation_hit hit = { 0x7f0000001000, { 1, 1 } };
	const struct annotation_function jit = { .start = hit.address, .hits = &hit, .nr_hits = 1 };
	struct function_code c;

	assert_int_equal(function_code_read(NULL, &jit, &c), 0);
	assert_string_equal(c.why, "it was made at run time, and its bytes were not recorded");
	assert_int_equal(c.end, 0);
	function_code_done(&c);
}

/* --- the kernel ---------------------------------------------------------------------------- */

/* A sample one byte behind the function's start. */
static struct annotation_hit kernel_hit = { TEXT + MOVED + 0x1001, { 1, 1 } };
static struct annotation_function
kernel_function(const char *name)
{
	const uint64_t at = kernel_hit.address;

	return (struct annotation_function){
		.frame = { .ip = at,
			   .vaddr = at,
			   .symbol = name,
			   .symbol_offset = 1,
			   .dso = KERNEL_DSO,
			   .dso_path = KERNEL_DSO,
			   .kernel = true },
		.start = at - 1,
		.weight = { 1, 1 },
		.hits = &kernel_hit,
		.nr_hits = 1,
	};
}

/* As a MMAP record of the kernel tells where this symbol of it is. */
static void
place_kernel(struct resolver *r, const char *symbol)
{
	struct perf_mmap map = { .addr = TEXT + MOVED, .len = 0x100000, .pgoff = TEXT + MOVED };
	char name[64];

	snprintf(name, sizeof(name), KERNEL_DSO "%s", symbol);
	map.filename = name;
	assert_int_equal(resolver_kernel_map(r, &map), 0);
}

static void
of_vmlinux(void **state)
{
	struct kernel_code_facts facts = { .any = true };
	const struct annotation_function f = kernel_function("busy");
	struct resolver_options options = keep;
	struct resolver_recording recording = { .start_realtime_ns = 1 };
	struct resolver *r;
	struct kernel_code *k;
	struct function_code c;
	uint8_t id[] = { 0xab, 0xcd, 0xef, 0x01, 0x23 };

	lab_run("printf '.globl _text\\n_text: nop\\n.skip 0xfff\\n.globl busy\\n.type busy,@function\\n"
		"busy: nop\\nret\\n.size busy,.-busy\\n' | gcc -x assembler -c - -o vmlinux.o &&"
		"ld -Ttext=0x%llx --build-id=0xabcdef0123 -o vmlinux vmlinux.o",
		(unsigned long long)TEXT);
	options.vmlinux = lab_keep(lab_path("vmlinux"));
	r = resolver_new(&options);
	recording.kernel_build_id = buildid_of(BUILDID_GNU, id, sizeof(id));
	assert_int_equal(resolver_begin(r, &recording), 0);
	place_kernel(r, "_text");
	k = kernel_code_new(r, &facts);
	assert_int_equal(function_code_read(k, &f, &c), 0);
	assert_null(c.why);
	assert_int_equal(c.start, TEXT + MOVED + 0x1000);
	assert_int_equal(c.end, TEXT + MOVED + 0x1002);
	assert_int_equal(c.moved, MOVED);
	assert_int_equal(c.len, 2);
	assert_memory_equal(c.bytes, "\x90\xc3", 2);
	function_code_done(&c);
	kernel_code_free(k);

	/* Another build, one of two, or one that lay nobody knows where. */
	for (int i = 0; i < 3; i++) {
		struct kernel_code_facts bad = facts;
		struct resolver_recording another = recording;

		bad.kcore = bad.kallsyms = "/nonexistent";
		if (i == 0)
			another.kernel_build_id.bytes[0]++;
		bad.several = i == 1;
		assert_int_equal(resolver_begin(r, &another), 0);
		place_kernel(r, i == 2 ? "_stext" : "_text");
		k = kernel_code_new(r, &bad);
		assert_int_equal(function_code_read(k, &f, &c), 0);
		assert_non_null(c.why);
		assert_null(c.bytes);
		function_code_done(&c);
		kernel_code_free(k);
	}
	resolver_free(r);
}

/* A core file with one segment. */
static void
write_kcore(uint64_t vaddr, const void *bytes, size_t len)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment;
		uint8_t bytes[16];
	} core = { .head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			     .e_type = ET_CORE,
			     .e_phoff = sizeof(core.head),
			     .e_phentsize = sizeof(core.segment),
			     .e_phnum = 1 },
		   .segment = { .p_type = PT_LOAD,
				.p_vaddr = vaddr,
				.p_offset = offsetof(__typeof__(core), bytes),
				.p_filesz = len,
				.p_memsz = len } };

	memcpy(core.bytes, bytes, len);
	elf_lab_write(lab_path("kcore"), &core, sizeof(core));
}

static void
read_boot_id(uint8_t ret[16])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char text[64];

	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	recording_meta_parse_id(text, ret);
}

static void
of_kcore(void **state)
{
	struct kernel_code_facts facts = { .any = true };
	struct annotation_function f = kernel_function("busy");
	struct resolver *r = resolver_new(&keep);
	struct kernel_code *k;
	struct function_code c;

	read_boot_id(facts.boot_id);
	lab_run("printf '%%x T busy\\n%%x T next\\n' 0x%llx 0x%llx >kallsyms",
		(unsigned long long)f.start, (unsigned long long)f.start + 3);
	write_kcore(f.start - 1, "\xf4\x0f\x1f\x00\xc3", 5);
	facts.kcore = lab_keep(lab_path("kcore"));
	facts.kallsyms = lab_keep(lab_path("kallsyms"));
	k = kernel_code_new(r, &facts);
	assert_int_equal(function_code_read(k, &f, &c), 0);
	assert_null(c.why);
	assert_int_equal(c.end - c.start, 3);
	assert_int_equal(c.len, 3);
	assert_memory_equal(c.bytes, "\x0f\x1f\x00", 3);
	function_code_done(&c);
	/* A name that is not there any more: a module was unloaded. */
	f.frame.symbol = "other";
	assert_int_equal(function_code_read(k, &f, &c), 0);
	assert_string_equal(c.why, "the running kernel has another function there, or none");
	function_code_done(&c);
	kernel_code_free(k);
	/* Another boot. */
	facts.boot_id[3]++;
	f.frame.symbol = "busy";
	k = kernel_code_new(r, &facts);
	assert_int_equal(function_code_read(k, &f, &c), 0);
	assert_non_null(strstr(c.why, "not of this boot"));
	function_code_done(&c);
	kernel_code_free(k);
	resolver_free(r);
}

/* Where the kernel's segments are not the function's, or it is no core file. */
static void
of_bad_kcore(void **state)
{
	struct kernel_code_facts facts = { .any = true };
	const struct annotation_function f = kernel_function("busy");
	struct resolver *r = resolver_new(&keep);

	read_boot_id(facts.boot_id);
	facts.kcore = lab_keep(lab_path("kcore"));
	facts.kallsyms = lab_keep(lab_path("kallsyms"));
	for (int i = 0; i < 3; i++) {
		struct kernel_code *k = kernel_code_new(r, &facts);
		struct function_code c;

		write_kcore(i == 0 ? f.start + 1 : f.start, "\xc3", 1);
		if (i == 1)
			lab_run("truncate -s 100 kcore");
		if (i == 2)
			lab_run("printf x | dd of=kcore conv=notrunc 2>/dev/null");
		assert_int_equal(function_code_read(k, &f, &c), 0);
		assert_string_equal(c.why, "/proc/kcore does not have it");
		function_code_done(&c);
		kernel_code_free(k);
	}
	resolver_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_that_lie), cmocka_unit_test(symbols_alone),
		cmocka_unit_test(no_bytes),	  cmocka_unit_test(of_vmlinux),
		cmocka_unit_test(of_kcore),	  cmocka_unit_test(of_bad_kcore),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
