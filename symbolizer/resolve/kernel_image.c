/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/resolve/kernel_image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/io.h"
#include "format/bytes/kallsyms.h"
#include "symbolizer/object/elf_object.h"

#define NOTES "/sys/kernel/notes"
#define RUNNING "/proc/kallsyms"
#define MODULES_MAX 65536

enum state {
	NOT_OPENED,
	READY,
	UNREADABLE,
	HIDDEN,
	OTHER_BUILD,   /* than the running kernel, or the vmlinux given */
	UNKNOWN_BUILD, /* the recording does not tell which kernel it was */
	UNKNOWN_PLACE, /* nor where it lay */
};

struct module {
	uint64_t start, end;
	const char *name; /* interned, without directory and ".ko" */
};

struct kernel_image {
	struct kernel_image_options options;
	struct intern *strings;
	const char *kernel_dso;
	enum state state;
	enum resolve_doubt doubt;
	bool this_boot, same_release;
	struct buildid recorded;
	/* The recording's map of the kernel: the address of a symbol; "": there is none. */
	char reference[16];
	uint64_t reference_at;
	uint64_t moved; /* recorded address - address here */
	struct module *modules;
	size_t nr_modules, cap_modules;
	struct kallsyms *kallsyms;
	struct symtab *symtab;
	struct kernel_place vmlinux_at;
};

static const char *const references[] = { "_text", "_stext" };

struct kernel_image *
kernel_image_new(const struct kernel_image_options *options, struct intern *strings)
{
	struct kernel_image *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->options = *options;
	k->strings = strings;
	k->kernel_dso = intern_string(strings, KERNEL_DSO);
	if (k->kernel_dso != NULL)
		return k;
	free(k);
	return NULL;
}

void
kernel_image_free(struct kernel_image *k)
{
	if (k == NULL)
		return;
	kallsyms_free(k->kallsyms);
	symtab_free(k->symtab);
	free(k->modules);
	free(k);
}

void
kernel_image_next(struct kernel_image *k, const struct buildid *kernel, const char *release,
		  bool this_boot)
{
	struct utsname running;

	k->recorded = *kernel;
	k->this_boot = this_boot;
	k->same_release = release != NULL && uname(&running) == 0 &&
		strcmp(running.release, release) == 0;
	k->reference[0] = '\0';
	k->nr_modules = 0;
	/* What was opened may be the wrong one for this recording, or the right one at last. */
	kallsyms_free(k->kallsyms);
	symtab_free(k->symtab);
	k->kallsyms = NULL;
	k->symtab = NULL;
	k->state = NOT_OPENED;
	k->doubt = RESOLVE_SURE;
}

/* --- maps ---------------------------------------------------------------------------------- */

/* "[snd]" and "/lib/modules/6.1/kernel/sound/snd.ko.xz" are snd. */
static const char *
module_name(struct kernel_image *k, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t len;

	base = base ? base + 1 : path;
	base += *base == '[';
	len = strcspn(base, "].");
	return intern_add(k->strings, base, len);
}

bool
kernel_image_moved(const struct kernel_image *k, const struct kernel_place *there, uint64_t *ret)
{
	const uint64_t at[] = { there->text, there->stext };

	for (size_t i = 0; i < 2; i++)
		if (at[i] != 0 && strcmp(k->reference, references[i]) == 0) {
			*ret = k->reference_at - at[i];
			return true;
		}
	return false;
}

/* How far the kernel has moved. */
static enum state
find_move(struct kernel_image *k)
{
	struct kernel_place here = k->vmlinux_at;

	if (k->kallsyms) {
		here.text = kallsyms_address(k->kallsyms, references[0]);
		here.stext = kallsyms_address(k->kallsyms, references[1]);
	}
	if (kernel_image_moved(k, &here, &k->moved))
		return READY;
	k->moved = 0;
	return k->this_boot && !k->options.vmlinux ? READY : UNKNOWN_PLACE;
}

int
kernel_image_map(struct kernel_image *k, const struct perf_mmap *m)
{
	const char *name = m->filename;
	struct module new;
	int error;

	if (strncmp(name, KERNEL_DSO, strlen(KERNEL_DSO)) == 0) {
		name += strlen(KERNEL_DSO);
		if (strlen(name) >= sizeof(k->reference) || *name == '\0')
			return 0;
		memcpy(k->reference, name, strlen(name) + 1);
		k->reference_at = m->pgoff;
		if (k->state == UNKNOWN_PLACE)
			k->state = find_move(k);
		return 0;
	}
	if (k->nr_modules == MODULES_MAX)
		return 0;
	new = (struct module){ m->addr, m->addr + m->len, module_name(k, name) };
	if (new.name == NULL)
		return -FMT_E_NOMEM;
	error = array_reserve(k->modules, k->nr_modules, k->cap_modules, 1);
	if (!error)
		k->modules[k->nr_modules++] = new;
	return error;
}

/* kallsyms writes '_' where the name of a file has '-'. */
static bool
same_module(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !(*a == '-' && *b == '_') && !(*a == '_' && *b == '-'))
			return false;
	return *a == *b;
}

static bool
maps_module(const struct kernel_image *k, uint64_t address, const char *name)
{
	for (size_t i = 0; i < k->nr_modules; i++)
		if (address >= k->modules[i].start && address < k->modules[i].end)
			return same_module(k->modules[i].name, name);
	return false;
}

/* --- files --------------------------------------------------------------------------------- */

static enum state
running_is_recorded(struct kernel_image *k)
{
	struct buildid running;

	if (k->recorded.size == 0) {
		k->doubt = RESOLVE_UNVERIFIED;
		return k->same_release ? READY : UNKNOWN_BUILD;
	}
	if (buildid_of_notes_file(NOTES, &running) < 0)
		return UNREADABLE;
	return buildid_same(&running, &k->recorded) ? READY : OTHER_BUILD;
}

/* The recording's modules, by place; kallsyms has '_' where the name of a file has '-'. NULL: out of memory. */
static struct kallsyms_module *
recorded_modules(const struct kernel_image *k, size_t *ret_nr)
{
	struct kallsyms_module *all = calloc(k->nr_modules + 1, sizeof(*all)), *m = all;

	for (size_t i = 0; all && i < k->nr_modules; i++) {
		if (strlen(k->modules[i].name) >= sizeof(m->name) ||
		    k->modules[i].end <= k->modules[i].start)
			continue;
		m->start = k->modules[i].start;
		m->end = k->modules[i].end;
		memcpy(m->name, k->modules[i].name, strlen(k->modules[i].name) + 1);
		for (char *p = m->name; (p = strchr(p, '-'));)
			*p = '_';
		m++;
	}
	*ret_nr = all ? kallsyms_settle_modules(all, (size_t)(m - all)) : 0;
	return all;
}

static int
open_kallsyms(struct kernel_image *k, const char *path)
{
	size_t nr;
	struct kallsyms_module *modules = recorded_modules(k, &nr);
	int error = modules ? kallsyms_open(path, modules, nr, &k->kallsyms) : -FMT_E_NOMEM;

	free(modules);
	if (error == 0)
		k->state = READY;
	else
		k->state = error == -FMT_E_HIDDEN ? HIDDEN : UNREADABLE;
	return error == -FMT_E_NOMEM ? error : 0;
}

static int
load_vmlinux(struct kernel_image *k, struct elf_object *elf)
{
	struct symtab_builder *b = symtab_builder_new();
	int error;

	if (b == NULL)
		return -FMT_E_NOMEM;
	k->vmlinux_at.text = elf_object_address(elf, references[0]);
	k->vmlinux_at.stext = elf_object_address(elf, references[1]);
	error = elf_object_symbols(elf, 0, b);
	if (error) {
		symtab_builder_free(b);
		return error;
	}
	error = symtab_build(b, &k->symtab);
	/* Without its symbols it says nothing of where it lies either. */
	if (!error && (k->vmlinux_at.text || k->vmlinux_at.stext))
		k->state = READY;
	return error;
}

static int
open_vmlinux(struct kernel_image *k)
{
	int fd = io_open(AT_FDCWD, k->options.vmlinux, 0), error;
	struct elf_object *elf;
	struct buildid id;
	bool same;

	k->state = UNREADABLE;
	if (fd < 0)
		return 0;
	error = elf_object_open(fd, &elf);
	if (error)
		return error == -FMT_E_NOMEM ? error : 0;
	same = k->recorded.size != 0 && elf_object_recorded_id(elf, &id) == 0 &&
		buildid_same(&id, &k->recorded);
	if (!same)
		k->doubt = RESOLVE_FORCED;
	if (same || k->options.force)
		error = load_vmlinux(k, elf);
	else
		k->state = k->recorded.size ? OTHER_BUILD : UNKNOWN_BUILD;
	elf_object_close(elf);
	return error == -FMT_E_NOMEM ? error : 0;
}

static int
open_image(struct kernel_image *k)
{
	int error;

	if (k->options.vmlinux) {
		error = open_vmlinux(k);
	} else if (k->options.kallsyms) {
		error = open_kallsyms(k, k->options.kallsyms);
	} else {
		k->state = running_is_recorded(k);
		error = k->state == READY ? open_kallsyms(k, RUNNING) : 0;
	}
	if (!error && k->state == READY)
		k->state = find_move(k);
	return error;
}

/* --- names --------------------------------------------------------------------------------- */

static int
find_in_kallsyms(struct kernel_image *k, uint64_t address, struct kernel_symbol *ret)
{
	ssize_t i = kallsyms_find(k->kallsyms, address - k->moved);
	struct kallsyms_symbol s;

	if (i < 0)
		return 0;
	s = kallsyms_at(k->kallsyms, (size_t)i);
	if (*s.module && (k->moved || !maps_module(k, address, s.module)))
		return 0;
	*ret = (struct kernel_symbol){ .start = s.start + k->moved,
				       .end = s.end + k->moved,
				       .name = intern_string(k->strings, s.name),
				       .dso = k->kernel_dso };
	if (*s.module)
		ret->dso = kernel_symbols_dso(k->strings, s.module, strlen(s.module));
	return ret->name && ret->dso ? 1 : -FMT_E_NOMEM;
}

static int
find_in_vmlinux(struct kernel_image *k, uint64_t address, struct kernel_symbol *ret)
{
	struct symbol s;

	if (!symtab_find(k->symtab, address - k->moved, &s))
		return 0;
	*ret = (struct kernel_symbol){ .start = s.start + k->moved,
				       .end = address + 1,
				       .name = intern_string(k->strings, s.name),
				       .dso = k->kernel_dso };
	return ret->name ? 1 : -FMT_E_NOMEM;
}

int
kernel_image_find(struct kernel_image *k, uint64_t address, struct kernel_symbol *ret)
{
	int error = k->state == NOT_OPENED ? open_image(k) : 0;

	if (error)
		return error;
	if (k->state != READY)
		return 0;
	return k->kallsyms ? find_in_kallsyms(k, address, ret) : find_in_vmlinux(k, address, ret);
}

int
kernel_image_find_frame(struct kernel_image *k, uint64_t ip, bool is_return,
			struct kernel_symbol *ret)
{
	const int found = kernel_image_find(k, ip - is_return, ret);
	struct kernel_symbol behind;
	int error;

	if (found <= 0 || !is_return || !kallsyms_prefix(ret->name))
		return found;
	error = kernel_image_find(k, ip, &behind);
	if (error < 0)
		return error;
	if (error > 0 && behind.start == ip)
		*ret = behind;
	return found;
}

const char *
kernel_image_trouble(const struct kernel_image *k)
{
	bool vmlinux = k->options.vmlinux != NULL;

	switch (k->state) {
	case NOT_OPENED:
	case READY:
		return NULL;
	case UNREADABLE:
		return vmlinux ? "the file given with --vmlinux cannot be read, or has no symbols"
			: k->options.kallsyms
			? "the file given with --kallsyms cannot be read, or has no symbols"
			: "/proc/kallsyms cannot be read";
	case HIDDEN:
		return k->options.kallsyms
			? "the file given with --kallsyms has no addresses: copy "
			  "/proc/kallsyms as root"
			: "this user may not see where the kernel is: report as root, or give "
			  "--kallsyms or --vmlinux";
	case OTHER_BUILD:
		return vmlinux ? "the vmlinux given is of another build (--force takes it)"
			       : "the recorded kernel is not the one that runs here: give its "
				 "--kallsyms or --vmlinux";
	case UNKNOWN_PLACE:
		return "the recording does not tell where the kernel lay: record as root, or with "
		       "kernel.kptr_restrict=0";
	case UNKNOWN_BUILD:
		return vmlinux
			? "which kernel was recorded is not known (--force takes the vmlinux)"
			: "which kernel was recorded is not known: give --kallsyms or "
			  "--vmlinux";
	}
	return NULL;
}

enum resolve_doubt
kernel_image_doubt(const struct kernel_image *k)
{
	return k->doubt;
}
