/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/code/function_code.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_bytes.h"

#define INSTRUCTION_MAX 16 /* bytes; of x86 it is 15 */

/* The kernel's own, which has no ELF file here. */
#if defined(__x86_64__)
#define MACHINE_HERE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE_HERE EM_AARCH64
#else
#define MACHINE_HERE EM_NONE
#endif

static const char *
why_of(int error)
{
	switch (error) {
	case -FMT_E_EMPTY:
		return "the file that is here has symbols and no code";
	case -FMT_E_IO:
		return "its file cannot be read";
	default:
		return "its file is damaged: its code is not where the symbol says";
	}
}

static bool
has_function(const struct symtab *t, uint64_t sampled, uint64_t start, struct symbol *ret)
{
	return t && symtab_find(t, sampled, ret) && ret->start == start;
}

/* By a sample in it: two symbols may begin where it does. */
static bool
find_end(const struct annotation_function *f, struct function_code *c)
{
	const uint64_t start = c->start - c->moved, sampled = f->hits[0].address - c->moved;
	const struct object *o = c->object;
	struct symbol s;

	if (f->unnamed) {
		c->end = f->end;
		return f->end > 0;
	}
	if (!has_function(o->symbols, sampled, start, &s) &&
	    !has_function(o->stubs, sampled, start, &s) &&
	    !has_function(o->functions, sampled, start, &s))
		return false;
	c->end = s.end + c->moved;
	return true;
}

static int
read_object(const struct annotation_function *f, struct function_code *c)
{
	struct elf_object *elf = NULL;
	struct elf_bytes b = { 0 };
	uint64_t size;
	int fd, error;

	/* A vmlinux may have no symbol where kallsyms has one. */
	size = find_end(f, c) ? c->end - c->start
			      : f->hits[f->nr_hits - 1].address + INSTRUCTION_MAX - c->start;
	fd = fcntl(c->object->code_fd, F_DUPFD_CLOEXEC, 0);
	error = fd < 0 ? -FMT_E_IO : elf_object_open(fd, &elf);
	if (!error)
		error = elf_bytes_at(elf, c->start - c->moved,
				     size < FUNCTION_CODE_MAX ? size : FUNCTION_CODE_MAX, &b);
	if (!error) {
		c->machine = elf_object_code_machine(elf, &c->is64);
		c->bytes = b.p;
		c->len = b.len;
	}
	elf_object_close(elf);
	if (error == -FMT_E_NOMEM)
		return error;
	c->why = error ? why_of(error) : NULL;
	return 0;
}

/* Of what the kernel wrote over it, that which was there when samples were taken. */
static int
patch(const struct kernel_code_facts *facts, struct function_code *c)
{
	struct code_pokes *p = facts->pokes;
	const uint64_t from = facts->first_ns, until = facts->last_ns;

	if (!p || c->len == 0)
		return 0;
	c->patches_known = true;
	c->patches = code_pokes_count(p, from, until, c->start, c->len, NULL);
	if (c->patches > 0) {
		c->patched = calloc(c->len, sizeof(*c->patched));
		c->first = malloc(c->len);
		if (!c->patched || !c->first)
			return -FMT_E_NOMEM;
		(void)code_pokes_count(p, from, until, c->start, c->len, c->patched);
		memcpy(c->first, c->bytes, c->len);
		if (code_pokes_apply(p, from, c->start, c->first, c->len) != 0)
			return -FMT_E_NOMEM;
	}
	return code_pokes_apply(p, until, c->start, c->bytes, c->len);
}

static int
read_kernel(struct kernel_code *kernel, const struct annotation_function *f,
	    struct function_code *c)
{
	struct elf_bytes b = { 0 };
	int error = kernel_code_object(kernel, &f->frame, &c->object, &c->moved);

	if (error)
		return error;
	if (c->object && c->object->code_fd >= 0) {
		error = read_object(f, c);
		if (error || !c->why)
			return error ? error : patch(kernel_code_facts(kernel), c);
	}
	error = kernel_code_live(kernel, &f->frame, FUNCTION_CODE_MAX, &b, &c->end, &c->why);
	c->bytes = b.p;
	c->len = b.len;
	c->machine = MACHINE_HERE;
	c->is64 = true;
	return error ? error : patch(kernel_code_facts(kernel), c);
}

int
function_code_read(struct kernel_code *kernel, const struct annotation_function *f,
		   struct function_code *ret)
{
	*ret = (struct function_code){ .start = f->start };
	if (f->frame.kernel)
		return read_kernel(kernel, f, ret);
	ret->object = f->frame.object;
	if (!ret->object) {
		ret->why = "it was made at run time, and its bytes were not recorded";
		return 0;
	}
	if (ret->object->code_fd >= 0)
		return read_object(f, ret);
	(void)find_end(f, ret);
	ret->why =
		why_of(ret->object->separate || ret->object->codeless ? -FMT_E_EMPTY : -FMT_E_IO);
	return 0;
}

void
function_code_done(struct function_code *c)
{
	free(c->bytes);
	free(c->patched);
	free(c->first);
	c->bytes = c->first = NULL;
	c->patched = NULL;
}
