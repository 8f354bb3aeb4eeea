/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_breakpoint.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "symbolizer/record/record_symbol.h"
#include "symbolizer/object/symbol_address.h"

static const char *const address_words[] = {
	[SYMBOL_ADDRESS_NO_FILE] = "no file that can be read",
	[SYMBOL_ADDRESS_NO_ELF] = "neither a program nor a library",
	[SYMBOL_ADDRESS_UNKNOWN] =
		"neither a function nor a variable has that name there, nor in a debug file (one of "
		"each thread has no address)",
	[SYMBOL_ADDRESS_SEVERAL] = "several have that name: give the address of one, mem:0xADDRESS",
	[SYMBOL_ADDRESS_MOVED] =
		"the file is loaded at another address each time, which a process tells that runs "
		"already: -p PID, of one",
	[SYMBOL_ADDRESS_NO_MAPS] = "the maps of the process (-p) cannot be read",
	[SYMBOL_ADDRESS_NOT_MAPPED] = "the process (-p) has not mapped this file",
};

static const char *const kernel_words[] = {
	[SYMBOL_ADDRESS_NO_FILE] = "/proc/kallsyms cannot be read: give an address, mem:0xADDRESS",
	[SYMBOL_ADDRESS_UNKNOWN] =
		"no symbol of the kernel has that name in /proc/kallsyms (one of a program is "
		"PATH:SYMBOL, where PATH begins with / or .)",
	[SYMBOL_ADDRESS_SEVERAL] =
		"several symbols of the kernel have that name: give the address of one, "
		"mem:0xADDRESS",
	[SYMBOL_ADDRESS_HIDDEN] =
		"/proc/kallsyms shows no addresses: that needs root and kernel.kptr_restrict below 2",
	[SYMBOL_ADDRESS_EACH_CPU] =
		"each CPU has its own, at an address that /proc/kallsyms does not tell: give that "
		"of one, mem:0xADDRESS",
};

/* path: NULL: of the kernel. */
static const char *
find_address(const char *path, char *name, pid_t pid, uint64_t *ret)
{
	enum symbol_address_result result;
	uint64_t offset;
	bool good;

	(void)record_symbol_cut(name, &offset, &good);
	if (!good)
		return "not an offset such as 0x10";
	result = path ? symbol_address_find(path, name, pid, ret)
		      : symbol_address_kernel("/proc/kallsyms", name, ret);
	if (result == SYMBOL_ADDRESS_FOUND)
		return __builtin_add_overflow(*ret, offset, ret) ? "the offset is too large" : NULL;
	return path ? address_words[result] : kernel_words[result];
}

const char *
record_breakpoint_resolve(const char *event, size_t n, pid_t pid, struct buf *out,
			  const char **ret_where)
{
	const bool file = n && (*event == '/' || *event == '.');
	const char *colon = file ? memchr(event, ':', n) : NULL, *end = event + n;
	const char *symbol = colon ? colon + 1 : event, *rest, *problem;
	char path[PATH_MAX], *name;
	uint64_t address = 0;

	*ret_where = event;
	if (!n || isdigit((unsigned char)*event) || memchr(symbol, '=', (size_t)(end - symbol))) {
		buf_append(out, event, n);
		return NULL;
	}
	if (file) {
		if (!colon)
			return "a breakpoint in a program is PATH:SYMBOL[+OFFSET]";
		if (!record_symbol_path(event, (size_t)(colon - event), path))
			return strerror(errno);
		buf_append(out, path, strlen(path));
		buf_u8(out, ':');
	}
	for (rest = symbol; rest < end && *rest != ':' && *rest != '/';)
		rest++;
	name = strndup(symbol, (size_t)(rest - symbol));
	if (!name)
		return "out of memory";
	*ret_where = symbol;
	problem = find_address(file ? path : NULL, name, pid, &address);
	free(name);
	record_symbol_put(out, symbol, (size_t)(rest - symbol), address);
	buf_append(out, rest, (size_t)(end - rest));
	return problem;
}
