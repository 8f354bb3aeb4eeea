/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_name: the events that every kernel knows by number, by the names perf gives them.
 */
#ifndef RECORDER_EVENT_EVENT_NAME_H
#define RECORDER_EVENT_EVENT_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* "cycles", "cpu-clock", "LLC-load-misses"; case matters not. */
bool event_name_find(const char *name, uint32_t *ret_type, uint64_t *ret_config);

/* All of them as perf prints them, alias "" for none, until see() returns false, which is returned. */
bool event_name_each(bool (*see)(void *arg, const char *name, const char *alias, uint32_t type),
		     void *arg);

#endif
