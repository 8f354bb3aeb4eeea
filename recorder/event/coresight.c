/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/coresight.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "format/block/aux_trace.h"
#include "recorder/event/pmu.h"

/* Bits of attr.config, whatever unit there is: they are those of ETMv3's control register. */
#define OPT_CONTEXT_ID (UINT64_C(1) << 14)  /* CONTEXTIDR_EL1 */
#define OPT_CONTEXT_ID2 (UINT64_C(1) << 15) /* CONTEXTIDR_EL2, as that of a virtual machine */
#define OPT_TIMESTAMP (UINT64_C(1) << 28)

#define SINK_BITS UINT64_C(0xffffffff) /* of config2 */

#define VERSION_FIXED_IDS 1 /* of what is told: the IDs in it are right */
#define VERSION 2
#define ID_UNUSED (UINT64_C(1) << 31) /* unless no record tells another one */
#define IDS 48			      /* from there on a number is that of no trace */

#define MAGIC_ETM3 UINT64_C(0x3030303030303030)
#define MAGIC_ETM4 UINT64_C(0x4040404040404040)
#define MAGIC_ETE UINT64_C(0x5050505050505050)
#define ETE_ARCH 0x5a13 /* of TRCDEVARCH, architecture 0xa13 in version 5 */

/* --- the sink --------------------------------------------------------------------------- */

int
coresight_sink(const char *sysfs, const char *name, struct perf_event_attr *attr)
{
	uint64_t id;
	int r = pmu_number(sysfs, CORESIGHT_PMU, "sinks/", name, 16, &id);

	if (r == 0 && (!id || id & ~SINK_BITS))
		r = -EINVAL;
	if (r == 0 && !(attr->config2 & SINK_BITS))
		attr->config2 |= id;
	return r;
}

/* --- registers -------------------------------------------------------------------------- */

struct unit {
	const char *sysfs;
	uint32_t cpu;
	uint64_t magic;
	struct session_error *error;
};

static int
find_register(const struct unit *u, const char *dir, const char *name, int base, uint64_t *ret)
{
	char path[48];

	(void)snprintf(path, sizeof(path), "cpu%u/%s", u->cpu, dir);
	return pmu_number(u->sysfs, CORESIGHT_PMU, path, name, base, ret);
}

static int
read_register(const struct unit *u, const char *dir, const char *name, uint64_t *ret)
{
	int r = find_register(u, dir, name, 16, ret);

	if (r == 0)
		return 0;
	return session_fail(u->error, r,
			    CORESIGHT_PMU ": cannot read %s/bus/event_source/devices/" CORESIGHT_PMU
					  "/cpu%u/%s%s, which decoders need: %s",
			    u->sysfs, u->cpu, dir, name, strerror(-r));
}

/* Which kind of unit a CPU has, by the registers that it has; false: none. */
static bool
find_unit(struct unit *u)
{
	uint64_t value;

	u->magic = 0;
	if (find_register(u, "trcidr/", "trcidr0", 16, &value) == 0) {
		u->magic = MAGIC_ETM4;
		if (find_register(u, "mgmt/", "trcdevarch", 16, &value) == 0 &&
		    (value & 0xffff) == ETE_ARCH)
			u->magic = MAGIC_ETE;
	} else if (find_register(u, "mgmt/", "etmidr", 16, &value) == 0) {
		u->magic = MAGIC_ETM3;
	}
	return u->magic;
}

/* --- can it be done? -------------------------------------------------------------------- */

static int
lacks(const struct unit *u, const char *what, const char *term)
{
	return session_fail(u->error, -EOPNOTSUPP,
			    CORESIGHT_PMU
			    ": the trace unit of CPU %u cannot trace %s: ask for none "
			    "by the term %s=0",
			    u->cpu, what, term);
}

/* The kernel opens what a unit cannot do, and traces without it, or nothing. */
static int
check_unit(const struct unit *u, uint64_t config)
{
	uint64_t id0 = 0, id2 = 0;
	int r = 0;

	if (u->magic != MAGIC_ETM3) {
		r = read_register(u, "trcidr/", "trcidr0", &id0);
		if (r == 0)
			r = read_register(u, "trcidr/", "trcidr2", &id2);
	}
	if (r < 0)
		return r;
	/* TSSIZE; CIDSIZE, of 32 bits; VMIDOPT, and VMIDSIZE of 32 bits or more. */
	if (config & OPT_TIMESTAMP && !(id0 >> 24 & 0x1f))
		return lacks(u, "timestamps", "timestamp");
	if (config & OPT_CONTEXT_ID && (id2 >> 5 & 0x1f) != 4)
		return lacks(u, "context IDs", "contextid");
	if (config & OPT_CONTEXT_ID2 && (!(id2 >> 29 & 3) || (id2 >> 10 & 0x1f) < 4))
		return lacks(u, "context IDs of EL2", "contextid2");
	return 0;
}

/* --- what is told ----------------------------------------------------------------------- */

/* What TRCCONFIGR has when the attr has that. */
static uint64_t
configr(uint64_t config)
{
	static const struct {
		uint64_t option, bits;
	} of_options[] = {
		{ UINT64_C(1) << 8, 1 << 3 },	       /* branch_broadcast */
		{ UINT64_C(1) << 12, 1 << 4 },	       /* cycacc */
		{ OPT_CONTEXT_ID, 1 << 6 },	       /* contextid1 */
		{ OPT_CONTEXT_ID2, 1 << 7 | 1 << 15 }, /* contextid2 */
		{ OPT_TIMESTAMP, 1 << 11 },	       /* timestamp */
		{ UINT64_C(1) << 29, 1 << 12 },	       /* retstack */
	};
	uint64_t bits = 0;

	for (size_t i = 0; i < sizeof(of_options) / sizeof(of_options[0]); i++)
		if (config & of_options[i].option)
			bits |= of_options[i].bits;
	return bits;
}

bool
coresight_ids_are_fixed(const char *release)
{
	unsigned major, minor;

	return sscanf(release, "%u.%u", &major, &minor) == 2 &&
		(major < 6 || (major == 6 && minor < 4));
}

static uint64_t
trace_id(uint32_t cpu, bool fixed_ids)
{
	return fixed_ids ? 0x10 + 2 * (uint64_t)cpu : (0x10 + 2 * (cpu % IDS)) | ID_UNUSED;
}

struct reg {
	const char *dir, *name;
};

static const struct reg etm3_regs[] = { { "mgmt/", "etmccer" }, { "mgmt/", "etmidr" } };
static const struct reg etm4_regs[] = {
	{ "trcidr/", "trcidr0" }, { "trcidr/", "trcidr1" },	{ "trcidr/", "trcidr2" },
	{ "trcidr/", "trcidr8" }, { "mgmt/", "trcauthstatus" }, { "mgmt/", "trcdevarch" }
}; /* ETE alone tells the last one */

static int
put_unit(const struct unit *u, uint64_t config, bool fixed_ids, struct buf *out)
{
	const bool etm3 = u->magic == MAGIC_ETM3;
	const struct reg *regs = etm3 ? etm3_regs : etm4_regs;
	size_t nr = etm3 ? 2 : u->magic == MAGIC_ETE ? 6 : 5;
	uint64_t value = 0;
	int r = 0;

	buf_u64(out, u->magic);
	buf_u64(out, u->cpu);
	buf_u64(out, 2 + nr + !etm3); /* words that follow */
	buf_u64(out, etm3 ? config : configr(config));
	buf_u64(out, trace_id(u->cpu, fixed_ids));
	for (size_t i = 0; r == 0 && i < nr; i++) {
		r = read_register(u, regs[i].dir, regs[i].name, &value);
		buf_u64(out, value);
	}
	/* What its timestamps are of: kernels before 5.19 do not tell. */
	if (find_register(u, "", "ts_source", 10, &value) < 0)
		value = UINT64_MAX;
	if (!etm3)
		buf_u64(out, value);
	return r;
}

int
coresight_words(const char *sysfs, const struct cpu_list *cpus, const struct perf_event_attr *attr,
		bool fixed_ids, bool snapshot, struct buf *out, struct session_error *error)
{
	struct unit u = { .sysfs = sysfs, .error = error };
	const size_t at = out->len + 8;
	uint64_t nr = 0;
	int r = 0;

	buf_u64(out, fixed_ids ? VERSION_FIXED_IDS : VERSION);
	buf_u64(out, 0);
	buf_u64(out, snapshot);
	for (size_t i = 0; r == 0 && i < cpus->nr; i++) {
		u.cpu = cpus->cpus[i];
		if (!find_unit(&u))
			continue;
		nr++;
		r = check_unit(&u, attr->config);
		if (r == 0)
			r = put_unit(&u, attr->config, fixed_ids, out);
	}
	if (r < 0)
		return r;
	if (!nr)
		return session_fail(error, -ENODEV,
				    CORESIGHT_PMU
				    ": no CPU that is to be traced has a trace unit: "
				    "none is in %s/bus/event_source/devices/" CORESIGHT_PMU,
				    sysfs);
	if (buf_failed(out))
		return session_fail(error, -ENOMEM, "out of memory");
	if (out->len / 8 > AUX_TRACE_WORDS_MAX)
		return session_fail(error, -E2BIG,
				    CORESIGHT_PMU
				    ": %llu trace units are more than decoders can be "
				    "told of: trace fewer CPUs (-C)",
				    (unsigned long long)nr);
	le64enc(out->p + at, (uint64_t)attr->type << 32 | nr);
	return 0;
}
