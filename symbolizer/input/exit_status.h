/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit_status: what spoor ends with; see spoor(1), EXIT STATUS. `record` besides with what its
 * command ended with.
 */
#ifndef SYMBOLIZER_INPUT_EXIT_STATUS_H
#define SYMBOLIZER_INPUT_EXIT_STATUS_H

#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define EXIT_DAMAGED 3 /* verify: damaged but readable */

#endif
