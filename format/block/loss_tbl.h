/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loss_tbl: every way in which a sample can be missing, once. Whoever includes this defines
 * LOSS_ROW(number on disk, name in code, key in JSON, unit, text for a person).
 * Numbers are on disk: never reuse one. No include guard on purpose.
 */
LOSS_ROW(0, KERNEL_SAMPLES, "kernel_samples", "samples",
	 "dropped by the kernel: sample ring full (PERF_FORMAT_LOST); larger rings: -m SIZE, or "
	 "ring_pages of spoord")
LOSS_ROW(1, KERNEL_SIDEBAND, "kernel_sideband", "records",
	 "side-band records dropped by the kernel: names may be wrong")
LOSS_ROW(2, LOST_SAMPLES, "lost_samples", "samples", "dropped by the hardware (LOST_SAMPLES)")
LOSS_ROW(3, THROTTLED, "throttled", "times", "sampling throttled by the kernel")
LOSS_ROW(4, QUEUE_FULL, "queue_full", "times",
	 "rings were left unread, because the writer thread was behind: what the kernel dropped "
	 "meanwhile is in kernel_samples")
LOSS_ROW(5, CORRUPT, "corrupt", "bytes", "bytes in a ring that were not a record")
LOSS_ROW(6, CPU_OFFLINE, "cpu_offline", "ns", "time a CPU was offline")
LOSS_ROW(7, STALL, "stall", "ns", "time the recorder itself was not running")
LOSS_ROW(8, DISK_FULL, "disk_full", "ns", "time nothing could be written: no space")
LOSS_ROW(9, DROPPED, "dropped", "samples", "dropped by the recorder while nothing could be written")
LOSS_ROW(10, UNANSWERED, "unanswered", "times",
	 "processes and files that did not answer in time: names may be missing")
LOSS_ROW(11, REMOVED, "removed", "samples",
	 "recorded, but in a file that was then removed from the archive")
LOSS_ROW(12, PAUSED, "paused", "ns",
	 "time sampling was paused: asked for (by -D, by --control), or it took more than "
	 "capture_cpu of spoord")
LOSS_ROW(13, SIDEBAND_BUDGET, "sideband_budget", "records",
	 "side-band records over the budget of a user or process: names may be wrong")
LOSS_ROW(14, AUX_TRUNCATED, "aux_truncated", "times",
	 "a trace stopped: its AUX area was full (TRUNCATED); larger ones: -m N,AUX")
LOSS_ROW(15, AUX_PARTIAL, "aux_partial", "times",
	 "AUX data with holes: the tracer was kept from it, as by a hypervisor (PARTIAL)")
LOSS_ROW(16, AUX_COLLISION, "aux_collision", "times", "AUX samples met others (COLLISION)")
LOSS_ROW(17, AUX_DROPPED, "aux_dropped", "bytes", "of AUX data that could not be written")
