/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/resolve/resolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_signal.h"
#include "symbolizer/object/live_files.h"
#include "symbolizer/object/object_debug.h"
#include "symbolizer/object/object_store.h"
#include "symbolizer/object/object_split.h"
#include "symbolizer/object/object_vdso.h"
#include "symbolizer/object/packed_objects.h"
#include "symbolizer/resolve/kernel_debug.h"
#include "symbolizer/resolve/kernel_image.h"
#include "symbolizer/resolve/kernel_symbols.h"
#include "symbolizer/resolve/mapped_objects.h"
#include "symbolizer/resolve/name_room.h"
#include "symbolizer/text/intern.h"

struct resolver {
	struct object_places places;
	struct object_debug_sums debug_sums;
	struct object_room others;
	struct name_room names;
	struct intern *strings; /* those of names */
	struct kernel_image *kernel_image;
	bool ask_image; /* for what the recording has no kernel symbol of */
	struct kernel_debug *kernel_debug;
	const char *vmlinux; /* given; NULL: none */
	/* Of this recording; until kernel_lines is set, nobody asks for them. */
	struct buildid kernel_id;
	const char *kernel_release, *kernel_build_id; /* interned; NULL: not known */
	bool kernel_lines, kernel_looked;
	struct object *kernel_object; /* NULL: there are no lines */
	uint64_t kernel_moved;	      /* recorded address - that in it */
	bool image_given;
	struct mapped_objects mapped;
	const char *unknown, *kernel_dso;
};

static const char *const default_debug_dirs[] = { "/usr/lib/debug", NULL };

static struct kernel_image *
new_image(const struct resolver_options *o, struct intern *strings)
{
	return kernel_image_new(&(struct kernel_image_options){ .kallsyms = o->kallsyms,
								.vmlinux = o->vmlinux,
								.force = o->force },
				strings);
}

struct resolver *
resolver_new(const struct resolver_options *options)
{
	static const struct resolver_options none;
	struct resolver *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	if (options == NULL)
		options = &none;
	object_debug_sums_init(&r->debug_sums);
	r->others.left = RESOLVER_OTHERS_SYMBOLS_MAX;
	r->places = (struct object_places){
		.symfs = options->symfs,
		.debug_dirs = options->debug_dirs ? options->debug_dirs : default_debug_dirs,
		.debug_cache = options->debug_cache,
		.debuginfod_cache = options->debuginfod_cache,
		.fetch = options->fetch,
		.live = live_files_new(),
		.force = options->force,
		.keep_code = options->keep_code,
		.data = options->data,
		.sums = &r->debug_sums,
		.others = &r->others,
	};
	r->image_given = r->ask_image = options->kallsyms || options->vmlinux;
	r->vmlinux = options->vmlinux;
	r->kernel_debug = kernel_debug_new();
	if (name_room_init(&r->names, options->no_demangle,
			   options->full_names ? DEMANGLE_FULL : DEMANGLE_SHORT)) {
		r->strings = r->names.strings;
		r->kernel_image = new_image(options, r->strings);
		r->unknown = intern_string(r->strings, MAPPED_OBJECTS_UNKNOWN);
		r->kernel_dso = intern_string(r->strings, KERNEL_DSO);
		mapped_objects_init(&r->mapped, &r->places, r->strings, &r->names.label_bytes);
	}
	if (r->places.live == NULL || r->kernel_debug == NULL || r->kernel_image == NULL ||
	    r->unknown == NULL || r->kernel_dso == NULL) {
		resolver_free(r);
		return NULL;
	}
	return r;
}

void
resolver_free(struct resolver *r)
{
	if (r == NULL)
		return;
	mapped_objects_done(&r->mapped);
	packed_objects_free(r->places.packed);
	live_files_free(r->places.live);
	kernel_image_free(r->kernel_image);
	kernel_debug_free(r->kernel_debug);
	name_room_done(&r->names);
	object_debug_sums_done(&r->debug_sums);
	free(r);
}

const char *
resolver_intern(struct resolver *r, const char *s)
{
	return name_room_label(&r->names, s);
}

uint64_t
resolver_left_out(const struct resolver *r)
{
	return intern_left_out(r->strings) + r->others.refused;
}

const char *
resolver_left_out_of(const struct resolver *r)
{
	if (r->names.lost[0])
		return r->names.lost;
	return r->others.first[0] ? r->others.first : NULL;
}

bool
resolver_crowded(const struct resolver *r)
{
	return intern_bytes(r->strings) > INTERN_BYTES_MAX / 2 || intern_left_out(r->strings) > 0;
}

uint64_t
resolver_debug_left_out(struct resolver *r)
{
	return object_debug_sums_left_out(&r->debug_sums);
}

uint64_t
resolver_debug_misfits(struct resolver *r, char ret_first[PATH_MAX])
{
	return object_debug_sums_misfits(&r->debug_sums, ret_first);
}

const char *
frame_label(const struct frame *f)
{
	static const char mismatch[] = "[build-id mismatch]";

	return !f->symbol && f->miss == RESOLVE_MISMATCH ? mismatch : f->symbol;
}

bool
frame_is_named(const struct frame *f)
{
	return f->symbol && f->miss != RESOLVE_NO_NAME;
}

/* --- one recording after another --- */

bool
resolver_is_this_boot(const uint8_t *boot_id)
{
	static const uint8_t unknown[16];
	uint8_t here[16] = { 0 };
	char text[64];
	FILE *f;

	if (boot_id == NULL)
		return false;
	f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (f != NULL && fgets(text, sizeof(text), f) != NULL)
		recording_meta_parse_id(text, here);
	if (f != NULL)
		fclose(f);
	return memcmp(here, unknown, sizeof(here)) != 0 && memcmp(here, boot_id, sizeof(here)) == 0;
}

/* What is believed of its files. */
static void
resolver_believe(struct object_places *p, const struct resolver_recording *recording)
{
	p->stored = recording->stored;
	p->packed = recording->packed;
	p->start_realtime_ns = recording->start_realtime_ns;
	p->this_boot = resolver_is_this_boot(recording->boot_id);
	p->doubtful_until_ns = recording->perfdata_realtime_ns;
}

void
resolver_places(const struct resolver *r, const struct resolver_recording *recording,
		struct object_places *ret)
{
	*ret = r->places;
	ret->live = NULL;
	ret->others = NULL;
	resolver_believe(ret, recording);
}

static int
kernel_begin(struct resolver *r, const struct resolver_recording *recording)
{
	const char *release = recording->kernel_release;

	r->kernel_id = recording->kernel_build_id;
	r->kernel_release = release ? intern_string(r->strings, release) : NULL;
	r->kernel_looked = false;
	r->kernel_object = NULL;
	if (release && !r->kernel_release)
		return -FMT_E_NOMEM;
	return mapped_objects_build_id(r->strings, NULL, &r->kernel_id, &r->kernel_build_id);
}

int
resolver_split(const struct resolver *r, const struct object *object, const char *dir,
	       const char *name)
{
	return object_split_open(&r->places, object, dir, name);
}

int
resolver_begin(struct resolver *r, const struct resolver_recording *recording)
{
	int error = mapped_objects_begin(&r->mapped);

	if (error)
		return error;
	packed_objects_free(r->places.packed);
	resolver_believe(&r->places, recording);
	/* Names may be asked for when the recording is closed. */
	(void)packed_objects_ref(r->places.packed);
	if (recording->stored) {
		r->places.stored = intern_string(r->strings, recording->stored);
		if (r->places.stored == NULL)
			return -FMT_E_NOMEM;
	}
	r->ask_image = true;
	error = kernel_begin(r, recording);
	if (error)
		return error;
	kernel_image_next(r->kernel_image, &recording->kernel_build_id, recording->kernel_release,
			  r->places.this_boot);
	return 0;
}

/* --- names --- */

int
resolver_name(struct resolver *r, struct object *of, const char *raw, const char **ret)
{
	return name_room_symbol(&r->names, of, raw, ret);
}

const char *
resolver_text(struct resolver *r, struct object *of, const char *text)
{
	return name_room_text(&r->names, of, text);
}

/* Each is made once: finding a long name among all takes longer than finding the symbol. */
static int
symbol_text(struct resolver *r, struct object *o, const struct symtab *t, const struct symbol *s,
	    const char ***names, const char **ret)
{
	int error = 0;

	if (!*names)
		*names = calloc(symtab_count(t), sizeof(**names));
	if (!*names)
		return -FMT_E_NOMEM;
	if (!(*names)[s->index])
		error = name_room_symbol(&r->names, o, s->name, &(*names)[s->index]);
	*ret = (*names)[s->index];
	return error;
}

/* Does a signal handler return to this address? It is the first byte of code that made no call. */
static bool
is_signal_return(const struct object *o, uint64_t vaddr)
{
	struct symbol symbol;

	return symtab_find(o->symbols, vaddr, &symbol) && symbol.start == vaddr &&
		elf_signal_is_name(symbol.name);
}

/*
 * Of a function without a name, by where it begins in the file: that is the same in each recording of the build. An
 * object that no process mapped is not called anything (spoor symbolize).
 */
static int
look_up_place(struct resolver *r, struct object *o, uint64_t vaddr, struct frame *ret)
{
	char place[NAME_MAX + sizeof("[0x0123456789abcdef]")];
	struct symbol symbol;
	uint64_t offset;

	if (o->functions == NULL || ret->dso == r->unknown ||
	    !symtab_find(o->functions, vaddr, &symbol) ||
	    !elf_segments_offset(o->segments, o->nr_segments, symbol.start, true, &offset))
		return 0;
	(void)snprintf(place, sizeof(place), "%.*s[%#" PRIx64 "]", NAME_MAX, ret->dso, offset);
	ret->symbol = name_room_text(&r->names, o, place);
	ret->symbol_offset = ret->vaddr - symbol.start;
	ret->miss = RESOLVE_NO_NAME;
	return ret->symbol ? 0 : -FMT_E_NOMEM;
}

/* By an address of the ELF file. */
static int
look_up(struct resolver *r, struct object *o, uint64_t vaddr, bool is_return, struct frame *ret)
{
	struct symbol symbol;
	int error;

	ret->vaddr = vaddr + is_return;
	ret->miss = RESOLVE_NO_SYMBOL;
	ret->object = o;
	if (is_return && is_signal_return(o, vaddr + 1))
		vaddr++;
	ret->looked_up = vaddr;
	ret->has_dwarf = o->debug_fd >= 0;
	if (symtab_find(o->symbols, vaddr, &symbol))
		error = symbol_text(r, o, o->symbols, &symbol, &o->names, &ret->symbol);
	else if (o->stubs != NULL && symtab_find(o->stubs, vaddr, &symbol))
		error = symbol_text(r, o, o->stubs, &symbol, &o->stub_names, &ret->symbol);
	else
		return look_up_place(r, o, vaddr, ret);
	if (error)
		return error;
	ret->symbol_offset = ret->vaddr - symbol.start;
	ret->miss = RESOLVE_OK;
	return 0;
}

static int
look_up_offset(struct resolver *r, struct object *o, uint64_t file_offset, bool exec,
	       bool is_return, struct frame *ret)
{
	uint64_t vaddr;

	ret->vaddr = file_offset;
	ret->miss = RESOLVE_NO_SYMBOL;
	if (is_return && file_offset == 0)
		return 0;
	if (!elf_segments_vaddr(o->segments, o->nr_segments, file_offset - is_return, exec, &vaddr))
		return 0;
	return look_up(r, o, vaddr, is_return, ret);
}

int
resolver_file(struct resolver *r, const char *path, struct object **ret)
{
	struct object *object;
	int error = object_store_file(&r->places, path, &object);

	if (error)
		return error;
	error = mapped_objects_keep(&r->mapped, object);
	if (error)
		object_free(object);
	else
		*ret = object;
	return error;
}

int
resolver_address(struct resolver *r, struct object *object, uint64_t vaddr, struct frame *ret)
{
	*ret = (struct frame){ .ip = vaddr, .dso = r->unknown, .dso_path = r->unknown };
	return look_up(r, object, vaddr, false, ret);
}

static void
unmapped(const struct resolver *r, uint64_t ip, struct frame *ret)
{
	*ret = (struct frame){
		.ip = ip,
		.vaddr = ip,
		.dso = r->unknown,
		.dso_path = r->unknown,
		.miss = RESOLVE_NO_MAP,
	};
}

int
resolver_user(struct resolver *r, const struct task_map *map, uint64_t ip, bool is_return,
	      struct frame *ret)
{
	struct mapped_object *s;
	uint64_t offset;
	int error;

	if (map == NULL) {
		unmapped(r, ip, ret);
		return 0;
	}
	error = mapped_objects_find(&r->mapped, map, &s);
	if (error)
		return error;
	*ret = (struct frame){
		.ip = ip, .dso = s->dso, .dso_path = s->path, .build_id = s->build_id
	};
	offset = ip - map->start + (s->relative ? 0 : map->pgoff);
	if (s->object == NULL) {
		ret->vaddr = s->miss == RESOLVE_NOT_FILE ? ip : offset;
		ret->miss = s->miss;
		return 0;
	}
	if (object_vdso_is_narrow(map) ||
	    (s->object->separate && !object_address(s->object, map, ip, &offset))) {
		ret->vaddr = offset;
		ret->miss = RESOLVE_NO_FILE;
		return 0;
	}
	error = look_up_offset(r, s->object, offset, map->prot & 4 /* PROT_EXEC */, is_return, ret);
	if (error)
		return error;
	ret->doubt = s->object->doubt;
	return 0;
}

/*
 * Where data is, by the segment that the map is of. Its memory is longer than its part of the file, and
 * what follows that in the file is something else.
 */
static bool
data_vaddr(const struct object *o, const struct task_map *map, uint64_t ip, uint64_t *ret)
{
	const uint64_t from = map->pgoff, to = from + (map->end - map->start);
	const uint64_t offset = from + (ip - map->start);
	bool found = false;

	if (o->separate)
		return object_address(o, map, ip, ret);
	for (size_t i = 0; i < o->nr_segments && !found; i++) {
		const struct elf_segment *s = &o->segments[i];

		found = !s->exec && s->offset < to && s->offset + s->filesz > from &&
			offset >= s->offset && offset - s->offset < s->memsz;
		if (found)
			*ret = s->vaddr + (offset - s->offset);
	}
	return found || elf_segments_vaddr(o->segments, o->nr_segments, offset, false, ret);
}

/* Code is data to what reads it, a fault of the page that holds it for one. */
static int
look_up_data(struct resolver *r, struct object *o, uint64_t vaddr, struct frame *ret)
{
	struct symbol symbol;
	int error = 0;

	ret->vaddr = vaddr;
	ret->miss = RESOLVE_NO_SYMBOL;
	if (o->data && symtab_find(o->data, vaddr, &symbol))
		error = symbol_text(r, o, o->data, &symbol, &o->data_names, &ret->symbol);
	else if (symtab_find(o->symbols, vaddr, &symbol))
		error = symbol_text(r, o, o->symbols, &symbol, &o->names, &ret->symbol);
	else
		return 0;
	if (error)
		return error;
	ret->symbol_offset = vaddr - symbol.start;
	ret->miss = RESOLVE_OK;
	ret->doubt = o->doubt;
	return 0;
}

int
resolver_data(struct resolver *r, const struct task_map *map, uint64_t ip, struct frame *ret)
{
	struct mapped_object *s;
	uint64_t vaddr;
	int error = map ? mapped_objects_find(&r->mapped, map, &s) : 0;

	unmapped(r, ip, ret);
	if (error || !map)
		return error;
	if (!s->object || data_vaddr(s->object, map, ip, &vaddr)) {
		ret->dso = s->dso;
		ret->dso_path = s->path;
		ret->build_id = s->build_id;
		ret->miss = s->miss;
	}
	if (!s->object && s->miss != RESOLVE_NOT_FILE)
		ret->vaddr = ip - map->start + map->pgoff;
	return s->object && ret->dso != r->unknown ? look_up_data(r, s->object, vaddr, ret) : 0;
}

int
resolver_jit(struct resolver *r, uint64_t ip, uint64_t start, const char *symbol,
	     const char *object, struct frame *ret)
{
	const char *digits = object + strcspn(object, "0123456789");
	char dso[32];

	snprintf(dso, sizeof(dso), "[JIT] tid %.*s", (int)strspn(digits, "0123456789"), digits);
	*ret = (struct frame){
		.ip = ip,
		.vaddr = ip,
		.symbol_offset = ip - start,
		.dso = intern_string(r->strings, dso),
		.dso_path = intern_string(r->strings, object),
	};
	if (ret->dso_path)
		ret->symbol = name_room_made(&r->names, ret->dso_path, symbol);
	return ret->symbol && ret->dso && ret->dso_path ? 0 : -FMT_E_NOMEM;
}

/* --- the kernel --- */

void
resolver_kernel_known(struct resolver *r)
{
	r->ask_image = r->image_given;
}

int
resolver_kernel_map(struct resolver *r, const struct perf_mmap *map)
{
	return kernel_image_map(r->kernel_image, map);
}

const char *
resolver_kernel_trouble(const struct resolver *r)
{
	return kernel_image_trouble(r->kernel_image);
}

int
resolver_kernel_lines(struct resolver *r, const struct resolver_recording *recording, bool *ret)
{
	const struct kernel_debug_asked asked = { .id = recording->kernel_build_id,
						  .release = recording->kernel_release };
	const struct kernel_debug_file *file;
	int error = kernel_debug_find(r->kernel_debug, &r->places, r->vmlinux, &asked, &file);

	r->kernel_lines = true;
	*ret = file || (object_fetch_lines(r->places.fetch) && recording->kernel_build_id.size > 0);
	return error;
}

/* Of the recorded kernel, where it is known how far that was moved. */
static int
kernel_look(struct resolver *r, enum kernel_debug_want want, struct object **ret,
	    uint64_t *ret_moved)
{
	const struct kernel_debug_asked asked = {
		.id = r->kernel_id, .release = r->kernel_release, .want = want, .fetch = true
	};
	const struct kernel_debug_file *file;
	int error = kernel_debug_find(r->kernel_debug, &r->places, r->vmlinux, &asked, &file);

	*ret = file && kernel_image_moved(r->kernel_image, &file->at, ret_moved) ? file->of[want]
										 : NULL;
	return error;
}

int
resolver_kernel_code(struct resolver *r, struct object **ret, uint64_t *ret_moved)
{
	return kernel_look(r, KERNEL_CODE, ret, ret_moved);
}

/* What is in no module, nor in code that was made at run time, is in vmlinux. */
static int
kernel_source(struct resolver *r, bool is_return, struct frame *f)
{
	int error = 0;

	if (r->kernel_lines && !r->kernel_looked) {
		r->kernel_looked = true;
		error = kernel_look(r, KERNEL_LINES, &r->kernel_object, &r->kernel_moved);
	}
	f->build_id = r->kernel_build_id;
	if (r->kernel_object == NULL)
		return error;
	f->has_dwarf = true;
	f->object = r->kernel_object;
	f->looked_up = f->ip - is_return - r->kernel_moved;
	return error;
}

int
resolver_kernel(struct resolver *r, uint64_t ip, bool is_return, const struct kernel_symbol *known,
		struct frame *ret)
{
	struct kernel_symbol symbol;
	int found = known != NULL;

	*ret = (struct frame){
		.ip = ip,
		.vaddr = ip,
		.dso = r->kernel_dso,
		.dso_path = r->kernel_dso,
		.kernel = true,
		.miss = RESOLVE_NO_KSYM,
	};
	if (known)
		symbol = *known;
	else if (r->ask_image)
		found = kernel_image_find_frame(r->kernel_image, ip, is_return, &symbol);
	if (found <= 0)
		return found;
	/* No call ends where its function begins. */
	is_return = is_return && symbol.start != ip;
	ret->symbol = intern_string(r->strings, symbol.name);
	ret->dso = ret->dso_path = intern_string(r->strings, symbol.dso);
	ret->symbol_offset = ip - symbol.start;
	ret->miss = RESOLVE_OK;
	ret->doubt = known ? RESOLVE_SURE : kernel_image_doubt(r->kernel_image);
	if (!ret->symbol || !ret->dso)
		return -FMT_E_NOMEM;
	return ret->dso == r->kernel_dso ? kernel_source(r, is_return, ret) : 0;
}
