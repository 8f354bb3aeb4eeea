/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_lab: makes ELF files of all kinds at test time, and asks other tools what is in them.
 */
#ifndef TESTS_LAB_ELF_LAB_H
#define TESTS_LAB_ELF_LAB_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/model/task_model.h"
#include "symbolizer/object/elf_object.h"

/* A directory of this program, removed at exit. */
const char *lab_dir(void);
/* A shell command, in that directory; the test fails when it does. */
void lab_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What a command writes; pclose() it. */
FILE *lab_output(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Path of lab_dir()/name; static. */
const char *lab_path(const char *name);
/* A copy for the rest of the program's life. */
const char *lab_keep(const char *s);
/* Compiles source text to lab_dir()/name with flags; C++ when cxx. Returns its path. */
const char *lab_build(const char *name, const char *source, int cxx, const char *flags);
void *lab_read(const char *path, size_t *ret_size);
void elf_lab_write(const char *path, const void *bytes, size_t size);

struct lab_symbol {
	uint64_t address, size; /* size 0: nm gave none */
	char type;
	char name[1024];
};

/* `nm FLAGS`, code symbols only; the caller frees. */
size_t lab_nm(const char *path, const char *flags, struct lab_symbol **ret);

struct elf_object *elf_lab_open(const char *path);
/* The symbols of an object, likewise; it stays open. */
struct symtab *lab_symtab_of(struct elf_object *o, struct symtab **ret_stubs);
/* The symbols of path with its PLT in a table of their own (ret_stubs may be NULL). */
struct symtab *lab_symtab(const char *path, struct symtab **ret_stubs);
/* The map that a loader would make of path's first executable segment, at start. */
void lab_map(const char *path, uint64_t start, struct map_object *ret_object,
	     struct task_map *ret_map);

/* A program with a bit of everything. */
extern const char lab_program[];

#endif
