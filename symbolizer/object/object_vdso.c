/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/object_vdso.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"

#define VDSO_BYTES_MAX (256u << 10)
#define VSYSCALL_ADDRESS UINT64_C(0xffffffffff600000)
#define VSYSCALL_BYTES 4096

bool
object_vdso_is_narrow(const struct task_map *map)
{
	return map->end <= UINT32_MAX && strcmp(map->object->path, OBJECT_VDSO) == 0;
}

#ifdef __x86_64__

/* --- of a 32-bit process ----------------------------------------------------------------- */

#ifndef MFD_EXEC /* 6.3 */
#define MFD_EXEC 0x0010U
#endif

#define NARROW_ADDRESS 0x08048000
#define NARROW_BYTES 0x10000 /* what the program writes at most; the image has two pages */

/* Writes what AT_SYSINFO_EHDR leads to, up to where nothing is mapped. */
static const uint8_t narrow_code[] = {
	0x58, /*    pop  %eax                   argc */
	0x8d, 0x74, 0x84,
	0x04,			     /*    lea  4(%esp,%eax,4), %esi   the environment */
	0xad,			     /* 1: lodsl */
	0x85, 0xc0,		     /*    test %eax, %eax */
	0x75, 0xfb,		     /*    jne  1b */
	0xad,			     /* 2: lodsl                       the auxiliary vector */
	0x85, 0xc0,		     /*    test %eax, %eax */
	0x74, 0x15,		     /*    je   3f */
	0x83, 0xf8, AT_SYSINFO_EHDR, /*    cmp  $33, %eax */
	0xad,			     /*    lodsl */
	0x75, 0xf5,		     /*    jne  2b */
	0x89, 0xc1,		     /*    mov  %eax, %ecx */
	0x6a, 0x01, 0x5b,	     /*    push $1; pop %ebx */
	0xba, 0x00, 0x00,
	0x01, 0x00,	  /*    mov  $NARROW_BYTES, %edx */
	0x6a, 0x04, 0x58, /*    push $4; pop %eax           write */
	0xcd, 0x80,	  /*    int  $0x80 */
	0x31, 0xdb,	  /* 3: xor  %ebx, %ebx */
	0x6a, 0x01, 0x58, /*    push $1; pop %eax           exit */
	0xcd, 0x80,	  /*    int  $0x80 */
};

/* The program as a file in memory; -1. */
static int
narrow_program(void)
{
	struct {
		Elf32_Ehdr e;
		Elf32_Phdr p[2];
		uint8_t code[sizeof(narrow_code)];
	} file = {
		.e = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
				    EV_CURRENT },
		       .e_type = ET_EXEC,
		       .e_machine = EM_386,
		       .e_version = EV_CURRENT,
		       .e_entry = NARROW_ADDRESS + sizeof(Elf32_Ehdr) + sizeof(file.p),
		       .e_phoff = sizeof(Elf32_Ehdr),
		       .e_ehsize = sizeof(Elf32_Ehdr),
		       .e_phentsize = sizeof(Elf32_Phdr),
		       .e_phnum = 2 },
		.p = { { .p_type = PT_LOAD,
			 .p_vaddr = NARROW_ADDRESS,
			 .p_filesz = sizeof(file),
			 .p_memsz = sizeof(file),
			 .p_flags = PF_R | PF_X,
			 .p_align = 4096 },
		       /* Without it the stack may be executed, and the kernel's log says so. */
		       { .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W } },
	};
	int fd = memfd_create("spoor-vdso32", MFD_CLOEXEC | MFD_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("spoor-vdso32", MFD_CLOEXEC);
	memcpy(file.code, narrow_code, sizeof(narrow_code));
	if (fd >= 0 && write(fd, &file, sizeof(file)) == (ssize_t)sizeof(file))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Runs it with its output in a pipe. The process, or -1. */
static pid_t
narrow_start(int program, int out)
{
	char path[32], *const argv[] = { path, NULL }, *const envp[] = { NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -1;
	if (posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) != 0 ||
	    posix_spawn(&pid, path, &actions, NULL, argv, envp) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

static size_t
narrow_read(int program, uint8_t image[NARROW_BYTES])
{
	int ends[2];
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	pid = narrow_start(program, ends[1]);
	close(ends[1]);
	while (pid > 0 && len < NARROW_BYTES) {
		n = read(ends[0], image + len, NARROW_BYTES - len);
		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return len;
}

static int
narrow_open(struct elf_object **ret)
{
	uint8_t *image = malloc(NARROW_BYTES);
	int program, error = -FMT_E_IO;
	size_t len = 0;

	if (image == NULL)
		return -FMT_E_NOMEM;
	program = narrow_program();
	if (program >= 0) {
		len = narrow_read(program, image);
		close(program);
	}
	if (len > 0)
		error = elf_object_open_memory(image, len, ret);
	free(image);
	return error;
}

#endif

/* --- of this one ------------------------------------------------------------------------- */

int
object_vdso_open(bool narrow, struct elf_object **ret)
{
	unsigned long at = getauxval(AT_SYSINFO_EHDR);
	unsigned long start, end;
	char line[PATH_MAX + 128];
	FILE *f;
	int error = -FMT_E_IO;

#ifdef __x86_64__
	if (narrow)
		return narrow_open(ret);
#endif
	if (narrow && sizeof(void *) > sizeof(uint32_t))
		return -FMT_E_IO;
	if (at == 0)
		return -FMT_E_IO;
	f = fopen("/proc/self/maps", "re");
	if (f == NULL)
		return -FMT_E_IO;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || start != at)
			continue;
		if (end > start && end - start <= VDSO_BYTES_MAX)
			error = elf_object_open_memory((const void *)start, end - start, ret);
		break;
	}
	fclose(f);
	return error;
}

int
object_vsyscall_load(struct object *o)
{
	static const char names[] = "gettimeofday\0time\0getcpu";
	static const uint32_t name_at[] = { 0, 13, 18 };
	struct symtab_builder *b = symtab_builder_new();
	uint32_t base;
	int error = -FMT_E_NOMEM;

	o->segments = calloc(1, sizeof(*o->segments));
	if (b == NULL || o->segments == NULL)
		goto fail;
	o->nr_segments = 1;
	o->segments[0] = (struct elf_segment){
		.vaddr = VSYSCALL_ADDRESS,
		.filesz = VSYSCALL_BYTES,
		.exec = true,
	};
	error = symtab_builder_strings(b, names, sizeof(names), &base);
	for (uint64_t i = 0; i < 3 && !error; i++)
		error = symtab_builder_add(b, VSYSCALL_ADDRESS + i * 0x400, 0x400, 0,
					   base + name_at[i], SYMBOL_GLOBAL);
	if (!error)
		return symtab_build(b, &o->symbols);
fail:
	symtab_builder_free(b);
	return error;
}
