/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/code/kernel_code.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/kallsyms.h"

#define KCORE_SEGMENTS_MAX 4096

struct kernel_code {
	struct resolver *resolver;
	const struct kernel_code_facts *facts;
	int kcore; /* -1: not open */
	struct kallsyms *kallsyms;
	const char *why; /* nothing of kcore can be had; NULL: it was not tried, or can */
};

void
kernel_code_note(struct kernel_code_facts *facts, const struct recording_meta *meta)
{
	if (facts->any) {
		facts->several |= memcmp(facts->boot_id, meta->boot_id, sizeof(meta->boot_id)) != 0;
		return;
	}
	facts->any = true;
	memcpy(facts->boot_id, meta->boot_id, sizeof(facts->boot_id));
}

struct kernel_code *
kernel_code_new(struct resolver *resolver, const struct kernel_code_facts *facts)
{
	struct kernel_code *k = calloc(1, sizeof(*k));

	if (k) {
		k->resolver = resolver;
		k->facts = facts;
		k->kcore = -1;
	}
	return k;
}

void
kernel_code_free(struct kernel_code *k)
{
	if (!k)
		return;
	if (k->kcore >= 0)
		close(k->kcore);
	kallsyms_free(k->kallsyms);
	free(k);
}

const struct kernel_code_facts *
kernel_code_facts(const struct kernel_code *k)
{
	return k->facts;
}

/* --- vmlinux ------------------------------------------------------------------------------ */

int
kernel_code_object(struct kernel_code *k, const struct frame *f, struct object **ret,
		   uint64_t *ret_moved)
{
	*ret = NULL;
	/* Modules have files of their own. */
	if (k->facts->several || strcmp(f->dso, KERNEL_DSO) != 0)
		return 0;
	return resolver_kernel_code(k->resolver, ret, ret_moved);
}

/* --- the running kernel ------------------------------------------------------------------- */

/* Up to size bytes at an address, by the program headers of kcore. */
static int
read_kcore(const struct kernel_code *k, uint64_t address, uint64_t size, struct elf_bytes *ret)
{
	Elf64_Ehdr head;
	struct elf_bytes b = { .vaddr = address };
	ssize_t n = 0;

	if (pread(k->kcore, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > KCORE_SEGMENTS_MAX)
		return -FMT_E_CORRUPT;
	for (uint64_t i = 0; i < head.e_phnum && !b.p; i++) {
		Elf64_Phdr p;

		if (pread(k->kcore, &p, sizeof(p), (off_t)(head.e_phoff + i * sizeof(p))) !=
		    sizeof(p))
			return -FMT_E_CORRUPT;
		if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
			continue;
		if (size > p.p_filesz - (address - p.p_vaddr))
			size = p.p_filesz - (address - p.p_vaddr);
		b.p = malloc(size ? (size_t)size : 1);
		if (!b.p)
			return -FMT_E_NOMEM;
		n = pread(k->kcore, b.p, (size_t)size, (off_t)(p.p_offset + (address - p.p_vaddr)));
	}
	if (n <= 0) {
		free(b.p);
		return -FMT_E_EMPTY;
	}
	b.len = (size_t)n;
	*ret = b;
	return 0;
}

/* 0 with k->why: it cannot be read, or must not be. */
static int
open_live(struct kernel_code *k)
{
	int error;

	if (k->why || k->kcore >= 0)
		return 0;
	if (!resolver_is_this_boot(k->facts->boot_id)) {
		k->why =
			"the recording is not of this boot, and there is no vmlinux of its kernel: "
			"give --vmlinux";
		return 0;
	}
	k->kcore = open(k->facts->kcore, O_RDONLY | O_CLOEXEC);
	if (k->kcore < 0) {
		k->why = "there is no vmlinux of its kernel, and this user, or this kernel, has no "
			 "/proc/kcore to be read: annotate as root, or give --vmlinux";
		return 0;
	}
	error = kallsyms_open(k->facts->kallsyms, NULL, 0, &k->kallsyms);
	if (error)
		k->why = "/proc/kallsyms, which tells where it ends, cannot be read or hides "
			 "addresses";
	return error == -FMT_E_NOMEM ? error : 0;
}

int
kernel_code_live(struct kernel_code *k, const struct frame *f, uint64_t size, struct elf_bytes *ret,
		 uint64_t *ret_end, const char **ret_why)
{
	const uint64_t start = f->vaddr - f->symbol_offset;
	struct kallsyms_symbol s;
	ssize_t at;
	int error;

	*ret_why = k->facts->several
		? "the recordings are of several boots, each with a kernel of its own: choose one "
		  "with --since and --until"
		: NULL;
	if (*ret_why)
		return 0;
	error = open_live(k);
	*ret_why = k->why;
	if (error || k->why)
		return error;
	at = kallsyms_find(k->kallsyms, start);
	s = at < 0 ? (struct kallsyms_symbol){ 0 } : kallsyms_at(k->kallsyms, (size_t)at);
	/* A module that was unloaded, a BPF program. */
	if (at < 0 || s.start != start || strcmp(s.name, f->symbol) != 0) {
		*ret_why = "the running kernel has another function there, or none";
		return 0;
	}
	*ret_end = s.end;
	error = read_kcore(k, start, size < s.end - start ? size : s.end - start, ret);
	if (error && error != -FMT_E_NOMEM)
		*ret_why = "/proc/kcore does not have it";
	return error == -FMT_E_NOMEM ? error : 0;
}
