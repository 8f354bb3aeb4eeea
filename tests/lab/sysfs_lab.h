/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysfs_lab: a made sysfs, of one file after another. */
#ifndef TESTS_LAB_SYSFS_LAB_H
#define TESTS_LAB_SYSFS_LAB_H

/* A directory of the test's own, which is removed at its end. */
const char *sysfs_lab_root(void);
/* Removes it now: the next one is another, and empty. */
void sysfs_lab_clear(void);

/* Writes a file by its path below the root, or below the directory of a PMU: the text as a line. */
void sysfs_lab_file(const char *path, const char *text);
void sysfs_lab_pmu_file(const char *pmu, const char *path, const char *text);

#endif
