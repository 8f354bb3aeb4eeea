#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""symbolize_damage.py SPOOR FILE[:OTHER:PATH]...: copies of the files with their debug sections damaged. `spoor
symbolize` has to end well and soon: with an answer to each address, and with at most the sentence
that the debug information could not be read. With OTHER a copy of that is damaged, and put at PATH, where FILE has
a part of its debug information."""
import random
import re
import subprocess
import sys

ADDRESSES = 300
DAMAGED = re.compile(r'spoor: \S+: (its debug information (is damaged|took too long to read)|there was no memory to read its'
                     r' debug information|the process that read its debug information crashed)\n')
LACKING = re.compile(r'spoor: \S+: no inlined functions of \d+ or more compilation units: .*\n')


def sections(path):
    text = subprocess.run(['readelf', '-SW', path], capture_output=True, text=True, check=True).stdout
    return [(name, int(offset, 16), int(size, 16)) for name, offset, size in
            re.findall(r'\] (\.z?debug_\S+)\s+PROGBITS\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)', text)]


def damage(content, chosen, pick):
    name, offset, size = chosen
    start = offset + pick.randrange(size)
    how = pick.randrange(3)
    if how == 0:  # a few bytes
        for _ in range(pick.randrange(1, 20)):
            content[offset + pick.randrange(size)] = pick.choice((0, 1, 0x7f, 0x80, 0xff, pick.randrange(256)))
    else:  # a stretch: of one byte, or of bytes from elsewhere
        end = min(offset + size, start + pick.randrange(1, 200))
        content[start:end] = (pick.randbytes(1) if how == 1 else pick.randbytes(end - start)) * (end - start if how == 1 else 1)
    return f'{name} {how}'


def main():
    spoor, *paths = sys.argv[1:]
    pick = random.Random(11)
    tried, told = 0, 0
    for argument in paths:
        path, other, target = argument.split(':') if ':' in argument else (argument, argument, 'damaged')
        asked_of = path if other != path else 'damaged'
        with open(other, 'rb') as f:
            whole = f.read()
        text = subprocess.run(['nm', '--defined-only', path], capture_output=True, text=True, check=True).stdout
        code = [int(x, 16) for x in re.findall(r'^([0-9a-f]+) [tTwW] ', text, flags=re.M)]
        asked = ''.join(f'{pick.choice(code) + pick.randrange(64):x}\n' for _ in range(ADDRESSES))
        for _ in range(60):
            content = bytearray(whole)
            how = damage(content, pick.choice(sections(other)), pick)
            with open(target, 'wb') as f:
                f.write(content)
            done = subprocess.run([spoor, 'symbolize', '--no-cache', '--obj', asked_of], input=asked, capture_output=True, text=True,
                                  errors='replace', timeout=100, check=False)
            tried += 1
            told += bool(done.stderr)
            said = done.stderr if other == path else LACKING.sub('', done.stderr)
            if done.returncode or done.stdout.count('\n\n') != ADDRESSES or (said and not DAMAGED.fullmatch(said)):
                sys.exit(f'{argument}, {how}: exit {done.returncode}, {done.stdout.count(chr(10) * 2)} answers: {done.stderr}')
    print(f'{tried} files, {told} of them told to be damaged')


if __name__ == '__main__':
    main()
