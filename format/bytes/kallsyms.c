/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/io.h"
#include "format/bytes/slots.h"

#define KALLSYMS_MAX (1u << 22) /* a kernel has 1e5 to 3e5 */
#define NAMES_MAX (256u << 20)
#define MODULES_MAX 65536
#define READ_BYTES (1u << 18)
#define GROUP 64   /* rows; of each group the first address is in tops as well */
#define PAGE 4096u /* perf's measure of the last symbol before a gap, on any machine */

/* Which symbols say where the kernel is. */
static const char *const bounds[] = { "_text", "_stext", "_etext", "_edata" };
#define NR_BOUNDS (sizeof(bounds) / sizeof(bounds[0]))
#define BOUND_LEN_MAX (sizeof("_stext") - 1)

struct row {
	uint64_t addr;
	uint32_t name; /* offset in names; NO_CODE: something else begins here, which has no name */
	uint16_t module; /* number of the module, 0 the kernel */
};

#define NO_CODE UINT32_MAX

struct module {
	uint32_t name;	/* offset in names */
	uint32_t range; /* 1 + index in ranges; 0: it is in none */
};

struct kallsyms {
	struct row *rows;
	size_t nr, cap;
	/*
	 * To find an address is to miss the caches, and done for samples by the thousand. These few
	 * kilobytes stay in them.
	 */
	uint64_t *tops;
	char *names;
	size_t names_len, names_cap;
	struct module *modules; /* [0] is the kernel, "" */
	size_t nr_modules, cap_modules;
	struct kallsyms_module *ranges; /* that were given, by start */
	size_t nr_ranges;
	struct slots module_slots;
	uint64_t bound[NR_BOUNDS];
	bool sorted, any_symbol, any_address, any_code;
};

/* Adds a NUL-terminated string; its offset, or -FMT_E_NOMEM, -FMT_E_TOO_BIG. */
static int64_t
names_add(struct kallsyms *k, const char *s, size_t len)
{
	char *p;

	if (k->names_len + len >= NAMES_MAX)
		return -FMT_E_TOO_BIG;
	if (array_reserve(k->names, k->names_len, k->names_cap, len + 1) < 0)
		return -FMT_E_NOMEM;
	p = k->names + k->names_len;
	memcpy(p, s, len);
	p[len] = '\0';
	k->names_len += len + 1;
	return p - k->names;
}

struct module_key {
	const char *s; /* no NUL in it */
	size_t len;
};

static bool
is_module(const void *owner, uint32_t number, const void *arg)
{
	const struct kallsyms *k = owner;
	const struct module_key *key = arg;
	const char *known = k->names + k->modules[number].name;

	return strncmp(known, key->s, key->len) == 0 && !known[key->len];
}

/* 1 + index; 0: none. Asked once for each module. */
static uint32_t
range_by_name(const struct kallsyms *k, const struct module_key *key)
{
	for (size_t i = 0; i < k->nr_ranges; i++)
		if (strncmp(k->ranges[i].name, key->s, key->len) == 0 &&
		    !k->ranges[i].name[key->len])
			return (uint32_t)i + 1;
	return 0;
}

/* Number of a module; those of one stand together in the file of a kernel. */
static int
module_number(struct kallsyms *k, const char *s, size_t len)
{
	const struct module_key key = { s, strnlen(s, len) };
	const uint32_t hash = (uint32_t)slots_mix_bytes(0, key.s, key.len);
	uint32_t number;
	int64_t name;

	if (k->nr_modules && is_module(k, (uint32_t)k->nr_modules - 1, &key))
		return (int)k->nr_modules - 1;
	number = slots_find(&k->module_slots, hash, is_module, k, &key);
	if (number != SLOTS_NONE)
		return (int)number;
	if (k->nr_modules >= MODULES_MAX)
		return -FMT_E_TOO_BIG;
	name = names_add(k, key.s, key.len);
	if (name < 0)
		return (int)name;
	if (array_reserve(k->modules, k->nr_modules, k->cap_modules, 1) < 0 ||
	    slots_add(&k->module_slots, hash, k->nr_modules) < 0)
		return -FMT_E_NOMEM;
	k->modules[k->nr_modules] = (struct module){ (uint32_t)name, range_by_name(k, &key) };
	return (int)k->nr_modules++;
}

/* name NULL: no code. */
static int
row_add(struct kallsyms *k, uint64_t addr, const char *name, size_t len, int module)
{
	int64_t offset;

	if (k->nr >= KALLSYMS_MAX)
		return -FMT_E_TOO_BIG;
	if (array_reserve(k->rows, k->nr, k->cap, 1) < 0)
		return -FMT_E_NOMEM;
	offset = name ? names_add(k, name, len) : NO_CODE;
	if (offset < 0)
		return (int)offset;
	if (k->nr && addr < k->rows[k->nr - 1].addr)
		k->sorted = false;
	k->any_code |= name != NULL;
	k->rows[k->nr++] = (struct row){ addr, (uint32_t)offset, (uint16_t)module };
	return 0;
}

/*
 * Two million digits at each start: comparing them would mispredict every other one. 1 + the
 * value, 0: no digit.
 */
static const uint8_t hex_digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static void
bound_note(struct kallsyms *k, uint64_t addr, const char *name, size_t len)
{
	if (len > BOUND_LEN_MAX)
		return;
	for (size_t i = 0; i < NR_BOUNDS; i++)
		if (!k->bound[i] && strlen(bounds[i]) == len && memcmp(name, bounds[i], len) == 0)
			k->bound[i] = addr;
}

/* Types in upper case. */
static bool
is_code(char type)
{
	return type == 'T' || type == 'W';
}

/* It tells where code ends. */
static bool
is_data(char type)
{
	return type == 'D' || type == 'B' || type == 'R' || type == 'V';
}

static int
module_cmp(const void *a, const void *b)
{
	const struct kallsyms_module *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

size_t
kallsyms_settle_modules(struct kallsyms_module *modules, size_t nr)
{
	size_t n = 0;

	if (nr)
		qsort(modules, nr, sizeof(*modules), module_cmp);
	for (size_t i = 0; i < nr; i++) {
		if (n && modules[n - 1].start == modules[i].start)
			n--;
		if (n && modules[n - 1].end > modules[i].start)
			modules[n - 1].end = modules[i].start;
		modules[n++] = modules[i];
	}
	return n;
}

const struct kallsyms_module *
kallsyms_module_at(const struct kallsyms_module *modules, size_t nr, uint64_t addr)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (modules[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr < modules[lo - 1].end ? &modules[lo - 1] : NULL;
}

static const struct kallsyms_module *
range_at(const struct kallsyms *k, uint64_t addr)
{
	return kallsyms_module_at(k->ranges, k->nr_ranges, addr);
}

/*
 * A kernel may list what a module had for its start alone, and has given back: another one has that
 * place, or none. While a module starts, that code lies outside its range.
 */
static bool
is_at_home(const struct kallsyms *k, uint64_t addr, int module)
{
	const uint32_t own = k->modules[module].range;
	const struct kallsyms_module *at = own ? range_at(k, addr) : NULL;

	return !own || (at ? at == &k->ranges[own - 1] : k->ranges[own - 1].starting);
}

/* "ffffffff81000000 T name\t[module]"; a line that is none of that is passed over. */
static int
line_parse(struct kallsyms *k, const char *p, const char *end)
{
	const char *digits = p, *name, *tab;
	uint64_t addr = 0;
	int module = 0;
	uint8_t digit;
	char type;

	for (; p < end && (digit = hex_digits[(uint8_t)*p]); p++)
		addr = addr << 4 | (uint64_t)(digit - 1);
	if (p == digits || end - p < 4 || p[0] != ' ' || p[2] != ' ' || !p[3])
		return 0;
	type = p[1] & ~0x20;
	name = p + 3;
	tab = memchr(name, '\t', (size_t)(end - name));
	if (!tab)
		tab = end;
	k->any_symbol = true;
	if (addr)
		k->any_address = true;
	if (*name == '_' && tab == end)
		bound_note(k, addr, name, (size_t)(tab - name));
	/* '$': mapping symbols of ARM. Address 0: per-CPU offsets on some kernels, hidden ones. */
	if (!(is_code(type) || is_data(type)) || *name == '$' || tab == name || addr == 0)
		return 0;
	if (end - tab > 3 && tab[1] == '[' && end[-1] == ']') {
		module = module_number(k, tab + 2, (size_t)(end - tab) - 3);
		if (module < 0)
			return module;
	}
	if (!is_at_home(k, addr, module))
		return 0;
	return row_add(k, addr, is_code(type) ? name : NULL, (size_t)(tab - name), module);
}

static int
file_parse(struct kallsyms *k, struct io_source *file, char *buffer)
{
	uint64_t offset = 0;
	size_t have = 0;
	const char *p, *nl;
	ssize_t n;
	int rc;

	for (;;) {
		n = file->read(file, offset, buffer + have, READ_BYTES - have);
		if (n < 0)
			return -FMT_E_IO;
		offset += (uint64_t)n;
		have += (size_t)n;
		p = buffer;
		while ((nl = memchr(p, '\n', have - (size_t)(p - buffer)))) {
			rc = line_parse(k, p, nl);
			if (rc)
				return rc;
			p = nl + 1;
		}
		if (n == 0)
			return line_parse(k, p, buffer + have);
		/* A line longer than the buffer is no symbol. */
		if (p == buffer && have == READ_BYTES)
			p += have;
		have -= (size_t)(p - buffer);
		memmove(buffer, p, have);
	}
}

static int
row_cmp(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	/* The names are in the order of the file. Code is behind what else begins there. */
	if ((x->name == NO_CODE) != (y->name == NO_CODE))
		return x->name == NO_CODE ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int
tops_make(struct kallsyms *k)
{
	k->tops = reallocarray(NULL, k->nr / GROUP + 1, sizeof(*k->tops));
	if (!k->tops)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < k->nr; i += GROUP)
		k->tops[i / GROUP] = k->rows[i].addr;
	return 0;
}

/* In order of the file, but for code that has something else behind it at its address. */
static bool
is_sorted(const struct kallsyms *k)
{
	for (size_t i = 1; k->sorted && i < k->nr; i++)
		if (row_cmp(&k->rows[i - 1], &k->rows[i]) > 0)
			return false;
	return k->sorted;
}

/* Sorts, and of the symbols at one address keeps the last. */
static void
rows_finish(struct kallsyms *k)
{
	struct row *rows;
	size_t n = 0;
	char *names;

	if (!is_sorted(k))
		qsort(k->rows, k->nr, sizeof(*k->rows), row_cmp);
	for (size_t i = 0; i < k->nr; i++)
		if (i + 1 == k->nr || k->rows[i + 1].addr != k->rows[i].addr)
			k->rows[n++] = k->rows[i];
	k->nr = n;
	rows = n ? reallocarray(k->rows, n, sizeof(*rows)) : NULL;
	if (rows) {
		k->rows = rows;
		k->cap = n;
	}
	names = realloc(k->names, k->names_len);
	if (names) {
		k->names = names;
		k->names_cap = k->names_len;
	}
}

static bool
same_ranges(const struct kallsyms *a, const struct kallsyms *b)
{
	if (a->nr_ranges != b->nr_ranges)
		return false;
	for (size_t i = 0; i < a->nr_ranges; i++)
		if (a->ranges[i].start != b->ranges[i].start ||
		    a->ranges[i].end != b->ranges[i].end ||
		    strcmp(a->ranges[i].name, b->ranges[i].name) != 0)
			return false;
	return true;
}

bool
kallsyms_same(const struct kallsyms *a, const struct kallsyms *b)
{
	if (a->nr != b->nr || a->names_len != b->names_len || a->nr_modules != b->nr_modules ||
	    memcmp(a->names, b->names, a->names_len) != 0 ||
	    memcmp(a->modules, b->modules, a->nr_modules * sizeof(*a->modules)) != 0 ||
	    !same_ranges(a, b) || memcmp(a->bound, b->bound, sizeof(a->bound)) != 0)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (a->rows[i].addr != b->rows[i].addr || a->rows[i].name != b->rows[i].name ||
		    a->rows[i].module != b->rows[i].module)
			return false;
	return true;
}

void
kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->rows);
	free(k->tops);
	free(k->names);
	free(k->modules);
	free(k->ranges);
	slots_done(&k->module_slots);
	free(k);
}

static int
table_make(struct kallsyms *k, struct io_source *file, char *buffer)
{
	int rc = module_number(k, "", 0);

	if (rc >= 0)
		rc = file_parse(k, file, buffer);
	if (rc < 0)
		return rc;
	rows_finish(k);
	if (!k->any_code)
		return k->any_symbol && !k->any_address ? -FMT_E_HIDDEN : -FMT_E_EMPTY;
	return tops_make(k);
}

static int
kallsyms_read(struct io_source *file, const struct kallsyms_module *modules, size_t nr,
	      struct kallsyms **ret)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	char *buffer = malloc(READ_BYTES);
	int rc = -FMT_E_NOMEM;

	if (k)
		k->ranges = calloc(nr + 1, sizeof(*k->ranges));
	if (k && k->ranges && buffer) {
		if (nr)
			memcpy(k->ranges, modules, nr * sizeof(*modules));
		k->nr_ranges = nr;
		k->sorted = true;
		rc = table_make(k, file, buffer);
	}
	free(buffer);
	if (rc < 0)
		kallsyms_free(k);
	else
		*ret = k;
	return rc;
}

int
kallsyms_open(const char *path, const struct kallsyms_module *modules, size_t nr,
	      struct kallsyms **ret)
{
	int fd = io_open(AT_FDCWD, path, 0), rc;
	struct io_source *file = fd < 0 ? NULL : io_source_fd(fd);

	if (!file)
		return -FMT_E_IO;
	rc = kallsyms_read(file, modules, nr, ret);
	file->close(file);
	errno = EIO;
	return rc;
}

size_t
kallsyms_count(const struct kallsyms *k)
{
	return k->nr;
}

static uint64_t
row_end(const struct kallsyms *k, size_t i)
{
	const struct row *r = &k->rows[i];
	const struct kallsyms_module *at = r->module ? range_at(k, r->addr) : NULL;
	const bool last = i + 1 == k->nr;
	uint64_t end = (r->addr + PAGE + PAGE - 1) & ~(uint64_t)(PAGE - 1);

	if (at && k->modules[r->module].range == (uint32_t)(at - k->ranges) + 1)
		end = at->end;
	else if (end <= r->addr)
		end = UINT64_MAX;
	else if (!last && r->module == r[1].module)
		return r[1].addr;
	/* Between the kernel and its modules, and between two of these, may lie what is in neither. */
	return last || end < r[1].addr ? end : r[1].addr;
}

size_t
kallsyms_prefix(const char *name)
{
	static const char *const prefixes[] = { "__pfx_", "__cfi_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return strlen(prefixes[i]);
	return 0;
}

ssize_t
kallsyms_find(const struct kallsyms *k, uint64_t addr)
{
	size_t lo = 0, hi = (k->nr + GROUP - 1) / GROUP;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->tops[mid] <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* The first row above addr is in the group before that, or begins the next. */
	hi = lo * GROUP < k->nr ? lo * GROUP : k->nr;
	lo = lo ? (lo - 1) * GROUP + 1 : 0;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->rows[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || k->rows[lo - 1].name == NO_CODE || addr >= row_end(k, lo - 1))
		return -1;
	return (ssize_t)lo - 1;
}

struct kallsyms_symbol
kallsyms_at(const struct kallsyms *k, size_t index)
{
	const struct row *r = &k->rows[index];

	return (struct kallsyms_symbol){ .start = r->addr,
					 .end = row_end(k, index),
					 .name = r->name == NO_CODE ? NULL : k->names + r->name,
					 .module = k->names + k->modules[r->module].name };
}

uint64_t
kallsyms_address(const struct kallsyms *k, const char *name)
{
	for (size_t i = 0; i < NR_BOUNDS; i++)
		if (strcmp(bounds[i], name) == 0)
			return k->bound[i];
	return 0;
}
