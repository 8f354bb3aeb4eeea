/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "format/bytes/kallsyms.h"
#include "format/bytes/time_text.h"
#include "recorder/ground/small_file.h"

#define CLOCK_TRIES 5
#define VDSO_BYTES 4096				 /* its first page has its notes */
#define FIRST_PID_NAMESPACE UINT64_C(0xeffffffc) /* <linux/nsfs.h> of Linux 6.18: PID_NS_INIT_INO */

static uint64_t
clock_ns(clockid_t id)
{
	struct timespec ts = { 0, 0 };

	(void)clock_gettime(id, &ts);
	return (uint64_t)time_text_ns(&ts);
}

uint64_t
host_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t
host_thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void
host_clocks(struct clock_triple *ret)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t before = clock_ns(CLOCK_MONOTONIC), realtime, boottime, after;

		realtime = clock_ns(CLOCK_REALTIME);
		boottime = clock_ns(CLOCK_BOOTTIME);
		after = clock_ns(CLOCK_MONOTONIC);
		if (after - before >= best)
			continue;
		best = after - before;
		*ret = (struct clock_triple){ .realtime = realtime,
					      .monotonic = before + best / 2,
					      .boottime = boottime };
	}
}

static void
read_id(const char *path, uint8_t ret[16])
{
	char text[64];

	if (small_file_read(AT_FDCWD, path, text, sizeof(text)) > 0)
		recording_meta_parse_id(text, ret);
}

void
host_boot_id(uint8_t ret[16])
{
	read_id("/proc/sys/kernel/random/boot_id", ret);
}

int
host_buildid_vdso(struct buildid *ret)
{
	const void *image = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct io_source *source;
	struct buildid id;
	int r;

	if (!image)
		return -ENOENT;
	source = io_source_memory(image, VDSO_BYTES);
	if (!source)
		return -ENOMEM;
	r = buildid_read(source, &id);
	source->close(source);
	if (r < 0 || id.kind != BUILDID_GNU)
		return -ENODATA;
	*ret = id;
	return 0;
}

int
host_buildid_module(const char *name, struct buildid *ret)
{
	char path[256];

	if (!*name || *name == '.' || strchr(name, '/'))
		return -EINVAL;
	if ((size_t)snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name) >=
	    sizeof(path))
		return -ENAMETOOLONG;
	return buildid_of_notes_file(path, ret);
}

/* Without /proc neither is known, and reading it says so. */
int
host_pid_namespace(uint64_t *ret)
{
	struct stat st;
	char self[16];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

	if (n > 0)
		self[n] = '\0';
	if ((n < 0 && errno == ENOENT && access("/proc/uptime", F_OK) == 0) ||
	    (n > 0 && strtoul(self, NULL, 10) != (unsigned long)getpid()))
		return -EXDEV;
	*ret = 0;
	if (stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != FIRST_PID_NAMESPACE)
		*ret = st.st_ino;
	return 0;
}

int
host_describe_again(struct recording_meta *meta)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	meta->cpus_online = n > 0 ? (uint32_t)n : 0;
	host_clocks(&meta->start);
	if (getrandom(meta->file_id, sizeof(meta->file_id), 0) != sizeof(meta->file_id))
		return errno ? -errno : -EIO;
	return 0;
}

int
host_describe(struct recording_meta *meta, const struct kallsyms *kernel)
{
	struct utsname u;
	long n;
	int rc = 0;

	rc = host_describe_again(meta);
	if (rc < 0)
		return rc;
	read_id("/etc/machine-id", meta->machine_id);
	host_boot_id(meta->boot_id);
	meta->clockid = CLOCK_MONOTONIC;
	n = sysconf(_SC_PAGESIZE);
	meta->page_size = n > 0 ? (uint32_t)n : 0;
	n = sysconf(_SC_NPROCESSORS_CONF);
	meta->cpus_possible = n > 0 ? (uint32_t)n : 0;
	if (uname(&u) == 0) {
		rc |= recording_meta_set(&meta->hostname, u.nodename);
		rc |= recording_meta_set(&meta->release, u.release);
		rc |= recording_meta_set(&meta->arch, u.machine);
	}
	(void)host_pid_namespace(&meta->pid_namespace);
	(void)buildid_of_notes_file("/sys/kernel/notes", &meta->kernel_build_id);
	if (kernel) {
		meta->kernel_text = kallsyms_address(kernel, "_text");
		if (!meta->kernel_text)
			meta->kernel_text = kallsyms_address(kernel, "_stext");
	}
	return rc ? -ENOMEM : 0;
}
