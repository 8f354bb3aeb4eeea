/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_vdso: code of processes that the kernel brings along, and no file.
 */
#ifndef SYMBOLIZER_OBJECT_OBJECT_VDSO_H
#define SYMBOLIZER_OBJECT_OBJECT_VDSO_H

#include "symbolizer/object/object_store.h"

/* This process's own vDSO, from where the kernel mapped it. 0, as elf_object_open(), -FMT_E_IO: there is none. */
int object_vdso_open(struct elf_object **ret);

/*
 * The page of legacy system calls: the same at the same place in every x86-64 kernel. Fills in the
 * segments and symbols of an object that has none. 0, -FMT_E_NOMEM.
 */
int object_vsyscall_load(struct object *o);

#endif
