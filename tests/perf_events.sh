#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/perf_events.sh [ROOT [HEADER]...]: docs/perf-events.md has a row for each constant PERF_* of the kernel's
# header (that of this machine, and what format/uapi adds, or HEADERs), for each field of its structures, and for
# each sysctl kernel.perf_* of this machine; a row has a state, and what goes with it; files that it names exist. What a
# row says is used stands in the code of its files and tests, comments apart, and what it says is not used stands in
# no code: see the page.
set -u
cd "${1:-.}" || exit 2
shift
[ $# -gt 0 ] || set -- /usr/include/linux/perf_event.h format/uapi/linux/perf_event.h
doc=docs/perf-events.md

bad=0
complain()
{
	echo "perf_events: $*" >&2
	bad=1
}

code_of() # HEADER: without comments
{
	perl -0pe 's,/\*.*?\*/,,gs; s/^\s*#\s*(?!define).*//mg' "$1"
}

constants_of() # HEADER
{
	# PERF_MEM_ and PERF_SAMPLE_ are pieces that macros paste, __PERF_ is the kernel's own.
	code_of "$1" | grep -oE '\bPERF_[A-Z0-9_]*[A-Z0-9]\b'
}

# Members of a struct or union, those of the nameless ones within as well; not what is reserved.
fields_of() # HEADER TYPE PREFIX
{
	code_of "$1" | PREFIX=$3 perl -0ne '
		/^(?:struct|union) '"$2"' \{(.*?)^\};/ms or exit;
		($_ = $1) =~ s/\b(?:struct|union)\b\s*\{|\}//g;
		for (split /[;,]/) {
			s/\[.*|:.*//s;
			print "$ENV{PREFIX}.$1\n" if /(\w+)\s*$/ && $1 !~ /^__reserved|^reserved$|_rsvd$/;
		}'
}

wanted()
{
	for header; do
		constants_of "$header"
		fields_of "$header" perf_event_attr attr
		fields_of "$header" perf_event_mmap_page page
		fields_of "$header" perf_mem_data_src mem
		fields_of "$header" perf_branch_entry branch
		fields_of "$header" perf_sample_weight weight
		fields_of "$header" perf_event_query_bpf query_bpf
	done | sort -u
}

rows()
{
	grep -E '^\|' "$doc" | grep -vE '^\|(---| name )'
}

for file in "$doc" "$@"; do
	[ -r "$file" ] || { echo "perf_events: $file cannot be read" >&2; exit 2; }
done

told=$(rows | cut -d '|' -f 2 | grep -oE '`[A-Za-z0-9_.]+`' | tr -d '`' | sort)
while read -r name; do
	complain "$name has no row in $doc"
done < <(comm -13 <(printf '%s\n' "$told" | uniq) <(wanted "$@"))
while read -r name; do
	complain "$name has two rows in $doc"
done < <(printf '%s\n' "$told" | uniq -d)
for sysctl in /proc/sys/kernel/perf_*; do
	name=kernel.${sysctl##*/}
	[ ! -e "$sysctl" ] || rows | cut -d '|' -f 2 | grep -qE "(^|[ ,])${name//./\\.}([ ,]|\$)" || complain "$name has no row in $doc"
done

while IFS='|' read -r _ names state why where tested _; do
	state=${state// /}
	case $state in
	always | option | carried)
		[ "$where" != ' - ' ] || complain "$names: $state, but where is not said"
		[ "$tested" != ' - ' ] || complain "$names: $state, but no test is named"
		;;
	no | notyet)
		[ -n "${why// /}" ] || complain "$names: why not is not said"
		;;
	*) complain "$names: '$state' is no state" ;;
	esac
done < <(rows)

while read -r path; do
	[ -e "$path" ] || complain "$doc names $path, which is not there"
done < <(grep -oE '`(format|recorder|symbolizer|daemon|tests)/[A-Za-z0-9_./-]+`' "$doc" | tr -d '`' | sort -u)

# Names end in what tables and macros of ours paste: HW(INSTRUCTIONS), "L2 MHB".
used()
{
	find format/ recorder/ daemon/ symbolizer/ -name '*.[ch]' ! -path '*/uapi/*' | DOC=$doc perl -e '
		my (%code, $rows);
		chomp(my @ours = <STDIN>);
		sub code { my $f = shift; $code{$f} //= do { local (@ARGV, $/) = $f; my $t = -f $f ? <> : "";
			$t =~ s,/\*.*?\*/, ,gs if $f =~ /\.[ch]$/; $t } }
		my $kinds = join "|", qw(COUNT_HW_CACHE_RESULT COUNT_HW_CACHE_OP COUNT_HW_CACHE COUNT_HW COUNT_SW SAMPLE_BRANCH
			SAMPLE_REGS_ABI SAMPLE MEM_LVLNUM MEM_LVL MEM_SNOOPX MEM_SNOOP MEM_REMOTE MEM_LOCK MEM_TLB MEM_BLK MEM_HOPS
			MEM_OP BR_NEW BR_SPEC BR_PRIV BR_ARM64 BR TXN FORMAT RECORD_MISC RECORD_KSYMBOL RECORD AUX_FLAG BPF_EVENT);
		open $rows, "<", $ENV{DOC} or die;
		while (<$rows>) {
			/^\|/ && !/^\|(?:---| name )/ or next;
			my ($names, $state, $why, $where, $tested) = split / \| /;
			my (@files, @words);
			for ($where =~ /`([^`]+)`/g) { if (m,^(?:format|recorder|daemon|symbolizer)/,) { push @files, $_ } else { push @words, $_ } }
			my @tests = $tested =~ m,`(tests/[^`]+)`,g;
			for my $w (@words) {
				print "$names: \"$w\" stands in none of its files\n" unless grep { index(code($_), $w) >= 0 } @files;
			}
			for my $name ($names =~ /`(PERF_\w+|(?:attr|page|mem|branch|weight)\.\w+)`/g) {
				my ($struct, $n) = $name =~ /^(?:(\w+)\.)?(\w+)$/;
				if ($state eq "no" || $state eq "not yet") {
					my $what = !$struct ? qr/\b$n\b/ : $struct eq "page" ? qr/\bpage->$n\b/ : next;
					for my $f (@ours) {
						next if grep { $_ eq $f } @files;
						print "$name: not used, it says, and $f uses it\n" if code($f) =~ $what;
					}
					next;
				}
				next if @words;
				my $end = $n =~ s/^PERF_(?:$kinds)_//r;
				my $any = join "|", map { s/_/[-_]/gr } $n, $end, $n =~ s/^PERF_RECORD_/REC_/r;
				print "$name: used, it says, and it stands neither in its files nor in its tests\n"
					unless grep { code($_) =~ /\b(?:$any)\b/i } @files, @tests;
			}
		}'
}
while read -r line; do
	complain "$line"
done < <(used)
exit $bad
