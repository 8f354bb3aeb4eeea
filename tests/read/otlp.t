#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# spoor export -f otlp, decoded by protoc from OpenTelemetry's own definitions: its tables are as their
# comments demand, and its samples are those of the folded export and of spoor report.
. "$(dirname "$0")/../lib.sh"
need_command protoc python3 jq
# Debian's package is of Debian's python3.
for python in python3 /usr/bin/python3 ''; do
	[ -n "$python" ] || skip_all "python3-protobuf is not installed"
	! $python -c 'import google.protobuf' 2>/dev/null || break
done
need_recordings compiler events hostile

protos=opentelemetry/proto
ok "the definitions compile" protoc -I "$TOP/tests/otlp" --python_out=. $protos/common/v1/common.proto \
	$protos/resource/v1/resource.proto $protos/profiles/v1development/profiles.proto

cat >otlp.py <<'PY'
import collections, sys
sys.path.insert(0, ".")
from opentelemetry.proto.profiles.v1development import profiles_pb2 as pb
data = pb.ProfilesData()
raw = open(sys.argv[1], "rb").read()
data.ParseFromString(raw)
assert len(data.SerializeToString()) <= len(raw)
d = data.dictionary
assert len(data.resource_profiles) == 1 and len(data.resource_profiles[0].scope_profiles) == 1
rp = data.resource_profiles[0]
assert [a.key for a in rp.resource.attributes] in ([], ["host.name"])
# Element 0 of each table is the zero value; nothing is in a table twice, or refers to what is not there.
for table, zero in ((d.mapping_table, pb.Mapping()), (d.location_table, pb.Location()), (d.function_table, pb.Function()),
                    (d.link_table, pb.Link()), (d.attribute_table, pb.KeyValueAndUnit()), (d.stack_table, pb.Stack())):
    assert table[0] == zero
    rows = [m.SerializeToString(deterministic=True) for m in table]
    assert len(set(rows)) == len(rows) or table is d.function_table or table is d.attribute_table
assert d.string_table[0] == ""
strings = d.string_table
for f in d.function_table:
    strings[f.name_strindex], strings[f.filename_strindex]
def attributes(indices):
    pairs = [(strings[d.attribute_table[i].key_strindex], d.attribute_table[i].value) for i in indices]
    assert len(dict(pairs)) == len(pairs) and all(k for k, v in pairs)
    return {k: getattr(v, v.WhichOneof("value")) for k, v in pairs}
def names(location):
    l = d.location_table[location]
    m = d.mapping_table[l.mapping_index]
    assert m.memory_start <= l.address <= m.memory_limit or l.mapping_index == 0
    attributes(m.attribute_indices)
    assert attributes(l.attribute_indices)["profile.frame.type"] in ("kernel", "native")
    if l.lines:
        return [strings[d.function_table[line.function_index].name_strindex].replace(";", ":") for line in l.lines]
    dso = strings[m.filename_strindex].rsplit("/", 1)[-1] or "[unknown]"
    return [dso if dso[0] == "[" else "[" + dso + "]"]
stacks = [";".join(reversed([n for i in s.location_indices for n in names(i)])) for s in d.stack_table]
folded, threads, comments = collections.Counter(), collections.Counter(), ""
for p in rp.scope_profiles[0].profiles:
    comments = attributes(p.attribute_indices)["spoor.comments"]
    assert p.time_unix_nano > 1600000000 * 10**9 and p.period > 0
    for s in p.samples:
        a = attributes(s.attribute_indices)
        assert s.stack_index > 0 and len(s.values) == 1 and not s.timestamps_unix_nano
        folded[a["thread.name"] + ";" + stacks[s.stack_index]] += s.values[0]
        threads[(a.get("process.pid"), a.get("thread.id"))] += s.values[0]
    print("type", strings[p.sample_type.type_strindex], strings[p.sample_type.unit_strindex], file=sys.stderr)
    print("comments", comments, file=sys.stderr)
with open("threads.got", "w") as out:
    for (pid, tid), n in sorted(threads.items(), key=str):
        print(pid, tid, n, file=out)
for line, n in sorted(folded.items()):
    print(line, n)
PY

for weight in samples period; do
	"$SPOOR" export -f otlp --weight $weight -o x.otlp compiler.spoor
	$python otlp.py x.otlp >got 2>said || diag_file said
	"$SPOOR" export -f folded --weight $weight compiler.spoor 2>err |
		awk '{ n = $NF; sub(/ [0-9]*$/, ""); sub(/\[[^;]*\] \[build-id mismatch\]/, "[build-id mismatch]"); sum[$0] += n }
			END { for (s in sum) printf "%s %.0f\n", s, sum[s] }' | LC_ALL=C sort >wanted
	LC_ALL=C sort got >sorted
	same "by $weight: the stacks of folded" sorted wanted
	cp threads.got threads.$weight
done
like "$(cat said)" '^type cpu nanoseconds$' "a clock's periods are nanoseconds"
"$SPOOR" report --json -s pid,tid compiler.spoor 2>err | jq -r '.rows[] | "\(.pid) \(.tid) \(.samples)"' | sort >tids
sort threads.samples >got
same "each thread has its samples" got tids
"$SPOOR" export -f otlp --labels cpu -o cpu.otlp compiler.spoor
protoc -I "$TOP/tests/otlp" --decode opentelemetry.proto.profiles.v1development.ProfilesData \
	$protos/profiles/v1development/profiles.proto <cpu.otlp >cpu.txt
like "$(cat cpu.txt)" '"cpu.logical_number"' "--labels cpu"
unlike "$(cat cpu.txt)" '"process.pid"' "... and nothing else"

"$SPOOR" export -f otlp -o events.otlp events.spoor
$python otlp.py events.otlp >/dev/null 2>said
is "$(grep -c '^type samples count' said)" 2 "two events are two profiles"

total=$("$SPOOR" report --json compiler.spoor 2>err | jq .samples)
most=$(($(wc -c <x.otlp) / 2))
exits 0 "--max-size" "$SPOOR" export -f otlp --max-size $most -o cut.otlp compiler.spoor
ok "... is kept" [ "$(wc -c <cut.otlp)" -le $most ]
left=$(sed -n "s/.*with \([0-9]*\) of $total samples.*/\1/p" err)
is "$($python otlp.py cut.otlp 2>said | awk '{ n += $NF } END { print n }')" "$((total - left))" "... and told"
like "$(cat said)" "^comments .*left out $left of $total samples" "... in the profile, too"

"$SPOOR" export -f otlp -o hostile.otlp hostile.spoor
$python otlp.py hostile.otlp >got 2>said
is "$(grep -c '<;' got | sed 's/^[1-9].*/some/')" some "a hostile name is there"
is "$(LC_ALL=C grep -ca $'[\e\x81]' got)" 0 "... escaped"

done_testing
