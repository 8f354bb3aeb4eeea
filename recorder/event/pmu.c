/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/pmu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "recorder/ground/small_file.h"

/* One line of a file below the PMUs; -ENOENT also for names that would leave the directory. */
static int
read_line(const char *sysfs, const char *pmu, const char *dir, const char *file, char *ret,
	  size_t ret_bytes)
{
	char path[512];
	ssize_t n;

	if (strchr(pmu, '/') || strchr(file, '/') || *pmu == '.' || *file == '.' || !*file)
		return -ENOENT;
	if ((size_t)snprintf(path, sizeof(path), "%s/" PMU_DEVICES "/%s/%s%s", sysfs, pmu, dir,
			     file) >= sizeof(path))
		return -ENAMETOOLONG;
	n = small_file_read(AT_FDCWD, path, ret, ret_bytes);
	if (n < 0)
		return (int)n;
	ret[strcspn(ret, "\n")] = '\0';
	return 0;
}

int
pmu_type(const char *sysfs, const char *pmu, uint32_t *ret)
{
	char text[32], *end;
	unsigned long type;
	int r = read_line(sysfs, pmu, "", "type", text, sizeof(text));

	if (r < 0)
		return r;
	type = strtoul(text, &end, 10);
	if (end == text || *end || type > UINT32_MAX)
		return -EINVAL;
	*ret = (uint32_t)type;
	return 0;
}

int
pmu_number(const char *sysfs, const char *pmu, const char *dir, const char *file, int base,
	   uint64_t *ret)
{
	char text[32], *end;
	int r = read_line(sysfs, pmu, dir, file, text, sizeof(text));
	uint64_t n;

	if (r < 0)
		return r;
	n = strtoull(text, &end, base);
	if (end == text || *end)
		return -EINVAL;
	*ret = n;
	return 0;
}

static __u64 *
config_word(struct perf_event_attr *attr, const char *name)
{
	if (strcmp(name, "config") == 0)
		return &attr->config;
	if (strcmp(name, "config1") == 0)
		return &attr->config1;
	if (strcmp(name, "config2") == 0)
		return &attr->config2;
	if (strcmp(name, "config3") == 0)
		return &attr->config3;
	if (strcmp(name, "config4") == 0)
		return &attr->config4;
	return NULL;
}

/* Spreads value over bits such as "0-7,32-35", the lowest bits of value first. */
static int
deposit(const char *bits, uint64_t value, __u64 *word)
{
	while (*bits) {
		char *end;
		unsigned long lo = strtoul(bits, &end, 10), hi = lo;

		if (end == bits)
			return -EINVAL;
		if (*end == '-') {
			bits = end + 1;
			hi = strtoul(bits, &end, 10);
			if (end == bits)
				return -EINVAL;
		}
		if (hi > 63 || lo > hi)
			return -EINVAL;
		for (unsigned long b = lo; b <= hi; b++, value >>= 1) {
			*word &= ~(UINT64_C(1) << b);
			*word |= (uint64_t)(value & 1) << b;
		}
		bits = *end == ',' ? end + 1 : end;
		if (bits == end && *end)
			return -EINVAL;
	}
	return value ? -ERANGE : 0;
}

int
pmu_term(const char *sysfs, const char *pmu, const char *term, unsigned long long value,
	 struct perf_event_attr *attr)
{
	__u64 *word = config_word(attr, term);
	char text[128], *colon;
	int r;

	if (word) {
		*word = value;
		return 0;
	}
	r = pmu_format(sysfs, pmu, term, text, sizeof(text));
	if (r < 0)
		return r;
	colon = strchr(text, ':');
	if (!colon)
		return -EINVAL;
	*colon = '\0';
	word = config_word(attr, text);
	return word ? deposit(colon + 1, value, word) : -EOPNOTSUPP;
}

int
pmu_format(const char *sysfs, const char *pmu, const char *term, char *ret, size_t ret_bytes)
{
	return read_line(sysfs, pmu, "format/", term, ret, ret_bytes);
}

int
pmu_alias(const char *sysfs, const char *pmu, const char *event, char *ret, size_t ret_bytes)
{
	return read_line(sysfs, pmu, "events/", event, ret, ret_bytes);
}

/* The line of events/EVENT.WHAT. False: there is none that is as short as that. */
static bool
beside_event(const char *sysfs, const char *pmu, const char *event, const char *what, char *ret,
	     size_t ret_bytes)
{
	char file[256];

	return (size_t)snprintf(file, sizeof(file), "%s.%s", event, what) < sizeof(file) &&
		pmu_alias(sysfs, pmu, file, ret, ret_bytes) == 0 && strlen(ret) + 1 < ret_bytes;
}

void
pmu_unit(const char *sysfs, const char *pmu, const char *event, struct count_unit *ret)
{
	char text[128];

	*ret = (struct count_unit){ 0 };
	if (beside_event(sysfs, pmu, event, "scale", text, sizeof(text)))
		(void)count_unit_scale_parse(text, &ret->scale);
	if (beside_event(sysfs, pmu, event, "unit", text, sizeof(text)) &&
	    strlen(text) < sizeof(ret->name))
		(void)strlcpy(ret->name, text, sizeof(ret->name));
	ret->snapshot = beside_event(sysfs, pmu, event, "snapshot", text, sizeof(text)) &&
		strcmp(text, "1") == 0;
	ret->per_pkg = beside_event(sysfs, pmu, event, "per-pkg", text, sizeof(text)) &&
		strcmp(text, "1") == 0;
}

/* --- by name --------------------------------------------------------------------------- */

static int
compare_names(const void *a, const void *b)
{
	return strverscmp(a, b);
}

/* "imc" is that of imc_0, imc_1... */
static bool
is_numbered(const char *name, const char *base)
{
	size_t n = strlen(base);

	return n && strncmp(name, base, n) == 0 && name[n] == '_' && name[n + 1] &&
		name[n + 1 + strspn(name + n + 1, "0123456789")] == '\0';
}

static int
add_name(struct pmu_names *names, const char *name)
{
	char(*more)[PMU_NAME_BYTES] = reallocarray(names->names, names->nr + 1, PMU_NAME_BYTES);

	if (!more)
		return -ENOMEM;
	names->names = more;
	if (strlcpy(more[names->nr], name, PMU_NAME_BYTES) < PMU_NAME_BYTES)
		names->nr++;
	return 0;
}

int
pmu_matching(const char *sysfs, const char *name, const char *event, struct pmu_names *ret)
{
	struct pmu_names found = { 0 };
	char path[512], line[256];
	struct dirent *d;
	uint32_t type;
	int r = 0;
	DIR *dir;

	if (name && pmu_type(sysfs, name, &type) == 0 &&
	    (!event || pmu_alias(sysfs, name, event, line, sizeof(line)) == 0)) {
		r = add_name(&found, name);
		goto out;
	}
	(void)snprintf(path, sizeof(path), "%s/" PMU_DEVICES, sysfs);
	dir = opendir(path);
	if (!dir)
		r = errno == ENOENT ? -ENODEV : -errno;
	while (r == 0 && (d = readdir(dir))) {
		if (*d->d_name == '.' ||
		    (name && fnmatch(name, d->d_name, 0) != 0 && !is_numbered(d->d_name, name)))
			continue;
		if (!event || pmu_alias(sysfs, d->d_name, event, line, sizeof(line)) == 0)
			r = add_name(&found, d->d_name);
	}
	if (dir)
		closedir(dir);
	if (found.nr > 1)
		qsort(found.names, found.nr, sizeof(*found.names), compare_names);
out:
	if (r == 0 && !found.nr)
		r = -ENOENT;
	if (r < 0)
		pmu_names_done(&found);
	else
		*ret = found;
	return r;
}

void
pmu_names_done(struct pmu_names *names)
{
	free(names->names);
	*names = (struct pmu_names){ 0 };
}

bool
pmu_is_core(const char *sysfs, const char *pmu, uint32_t *ret_type)
{
	char text[8];

	*ret_type = 0;
	if (strcmp(pmu, "cpu") == 0)
		return true;
	/* The list itself may be longer. */
	return read_line(sysfs, pmu, "", "cpus", text, sizeof(text)) != -ENOENT &&
		pmu_type(sysfs, pmu, ret_type) == 0;
}

/* --- CPUs ------------------------------------------------------------------------------ */

static int
read_cpus(const char *sysfs, const char *pmu, const char *file, struct cpu_list *ret)
{
	char text[4096];
	int r = read_line(sysfs, pmu, "", file, text, sizeof(text));

	return r < 0 ? r : cpu_list_parse(text, ret);
}

int
pmu_cpus(const char *sysfs, const char *pmu, struct cpu_list *ret, bool *ret_for_all)
{
	int r = read_cpus(sysfs, pmu, "cpus", ret);

	*ret_for_all = r == -ENOENT;
	if (r == -ENOENT)
		r = read_cpus(sysfs, pmu, "cpumask", ret);
	if (r < 0)
		*ret_for_all = false;
	return r;
}

/* A number of /sys/devices/system/cpu/cpuN/topology; -1: it is not told. */
static long
topology(const char *sysfs, uint32_t cpu, const char *file)
{
	char path[512], text[32];

	(void)snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%" PRIu32 "/topology/%s",
		       sysfs, cpu, file);
	return small_file_read(AT_FDCWD, path, text, sizeof(text)) > 0 ? strtol(text, NULL, 10)
								       : -1;
}

static int
online_cpus(const char *sysfs, struct cpu_list *ret)
{
	char path[512], text[4096];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/devices/system/cpu/online", sysfs);
	n = small_file_read(AT_FDCWD, path, text, sizeof(text));
	return n < 0 ? (int)n : cpu_list_parse(text, ret);
}

int
pmu_package_cpus(const char *sysfs, const char *pmu, struct cpu_list *ret)
{
	struct {
		long package, die;
	} * seen;
	struct cpu_list cpus;
	size_t nr = 0;
	bool for_all;
	int r = pmu_cpus(sysfs, pmu, &cpus, &for_all);

	if (r == -ENOENT)
		r = online_cpus(sysfs, &cpus);
	if (r < 0)
		return r;
	seen = calloc(cpus.nr, sizeof(*seen));
	for (size_t i = 0, k; seen && i < cpus.nr; i++) {
		seen[nr].package = topology(sysfs, cpus.cpus[i], "physical_package_id");
		seen[nr].die = topology(sysfs, cpus.cpus[i], "die_id");
		for (k = 0; k < nr; k++)
			if (seen[k].package == seen[nr].package && seen[k].die == seen[nr].die)
				break;
		if (k == nr)
			cpus.cpus[nr++] = cpus.cpus[i];
	}
	if (!seen) {
		cpu_list_done(&cpus);
		return -ENOMEM;
	}
	free(seen);
	cpus.nr = nr;
	*ret = cpus;
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct pmu_core *)a)->name, ((const struct pmu_core *)b)->name);
}

static int
add_core(const char *sysfs, const char *name, struct pmu_core **cores, size_t *nr)
{
	struct pmu_core core, *more;
	int r;

	if (strlcpy(core.name, name, sizeof(core.name)) >= sizeof(core.name) ||
	    pmu_type(sysfs, name, &core.type) < 0)
		return 0;
	r = read_cpus(sysfs, name, "cpus", &core.cpus);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	more = reallocarray(*cores, *nr + 1, sizeof(*more));
	if (!more) {
		cpu_list_done(&core.cpus);
		return -ENOMEM;
	}
	*cores = more;
	more[(*nr)++] = core;
	return 0;
}

int
pmu_cores(const char *sysfs, struct pmu_core **ret, size_t *ret_nr)
{
	struct dirent *d;
	char path[512];
	DIR *dir;
	int r = 0;

	*ret = NULL;
	*ret_nr = 0;
	(void)snprintf(path, sizeof(path), "%s/" PMU_DEVICES, sysfs);
	dir = opendir(path);
	while (r == 0 && dir && (d = readdir(dir)))
		r = add_core(sysfs, d->d_name, ret, ret_nr);
	if (dir)
		closedir(dir);
	if (*ret_nr)
		qsort(*ret, *ret_nr, sizeof(**ret), by_name);
	return r;
}

void
pmu_cores_free(struct pmu_core *cores, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		cpu_list_done(&cores[i].cpus);
	free(cores);
}
