/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * otlp: a profile as OpenTelemetry has it: a ProfilesData message (bytes for bytes an
 * ExportProfilesServiceRequest, too), not packed.
 * Source: github.com/open-telemetry/opentelemetry-proto 1.10.0, opentelemetry/proto/profiles/v1development;
 * 1.11.0 has the same fields. Those before 1.10 number the values of a sample otherwise.
 *
 * Each event is a Profile: of how many samples, or by period. A mapping is an object in its own addresses,
 * with its build-id; a location has the calls that were inlined there. Whose a sample is stands in
 * attributes, as the semantic conventions name them, as far as the profile keeps them apart.
 */
#ifndef SYMBOLIZER_EXPORT_OTLP_H
#define SYMBOLIZER_EXPORT_OTLP_H

#include "symbolizer/export/stack_export.h"

/* The profile is by address and by line. Of all events. */
stack_export_fn otlp_write;

#endif
