/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbol_address: where a variable or function is in memory.
 */
#ifndef SYMBOLIZER_OBJECT_SYMBOL_ADDRESS_H
#define SYMBOLIZER_OBJECT_SYMBOL_ADDRESS_H

#include <stdint.h>
#include <sys/types.h>

enum symbol_address_result {
	SYMBOL_ADDRESS_FOUND,
	SYMBOL_ADDRESS_NO_FILE, /* none that can be read */
	SYMBOL_ADDRESS_NO_ELF,	/* neither a program nor a library */
	SYMBOL_ADDRESS_UNKNOWN, /* neither a function nor a variable: not in the file, nor in its debug file */
	SYMBOL_ADDRESS_SEVERAL,
	SYMBOL_ADDRESS_MOVED,	   /* the file is loaded anywhere: a process tells where */
	SYMBOL_ADDRESS_NO_MAPS,	   /* that of the process cannot be read; errno says why */
	SYMBOL_ADDRESS_NOT_MAPPED, /* the process has not mapped the file */
	SYMBOL_ADDRESS_HIDDEN,	   /* the kernel shows no addresses */
	SYMBOL_ADDRESS_EACH_CPU, /* each CPU has its own; which is where, the kernel does not list */
};

/*
 * Of a program or library, by its path as the kernel tells it. pid: the process that it is asked of; 0: of none, which
 * is enough for a program that is loaded at a fixed address.
 */
enum symbol_address_result symbol_address_find(const char *path, const char *name, pid_t pid,
					       uint64_t *ret_address);

/* Of the running kernel, by a file such as /proc/kallsyms. */
enum symbol_address_result symbol_address_kernel(const char *kallsyms, const char *name,
						 uint64_t *ret_address);

#endif
