/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_vdso: code of processes that the kernel brings along, and no file.
 */
#ifndef SYMBOLIZER_OBJECT_OBJECT_VDSO_H
#define SYMBOLIZER_OBJECT_OBJECT_VDSO_H

#include "symbolizer/object/object_store.h"

#define OBJECT_VDSO "[vdso]"
#define OBJECT_VDSO32                                                                              \
	"[vdso32]" /* that of 32-bit processes, which the kernel's records call "[vdso]", too */

/* Is the map of a 32-bit process's vDSO? */
bool object_vdso_is_narrow(const struct task_map *map);

/*
 * This process's own vDSO, from where the kernel mapped it; narrow: the one that a 32-bit process on this kernel has,
 * by making such a process for a moment. 0, as elf_object_open(), -FMT_E_IO: there is none.
 */
int object_vdso_open(bool narrow, struct elf_object **ret);

/*
 * The page of legacy system calls: the same at the same place in every x86-64 kernel. Fills in the
 * segments and symbols of an object that has none. 0, -FMT_E_NOMEM.
 */
int object_vsyscall_load(struct object *o);

#endif
