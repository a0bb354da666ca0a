#!/usr/bin/env python3
"""Finds scripts in the end-to-end suites in which only the last line can fail.

Chainsaw runs a script with "sh -c", which continues after a failed command.
So a script of more than one line has to begin with "set -eu", and a container
that runs one needs the corresponding shell options.

It reads lines instead of YAML, because Python has no YAML parser in its library,
and rejects what it cannot read.

Usage: lint_scripts.py FOLDER...
"""

import re
import sys

import suites

CONTENT = re.compile(r"^(?P<indent> *(?:- +)*)content:(?: +&\S+)? *(?P<value>.*?) *$")
INLINE_CONTENT = re.compile(r"[{,] *content:")
BLOCK = re.compile(r"^[|>][-+0-9]*$")
# In a list on one line, and as the first of several lines.
SHELL_LIST = re.compile(r"\[ *(?:/\S+/)?(?:ba|da)?sh *,(?P<options>[^\]]*?) *-(?P<last>[a-z]*)c *,")
SHELL_ITEM = re.compile(r"^(?P<indent> *)- +(?:/\S+/)?(?:ba|da)?sh *$")
# Within a script, such as that of kubectl exec.
INNER = re.compile(r"\b(?:ba|da)?sh -c(?: |\\\n)+(?P<quote>['\"])(?P<script>.*?)(?P=quote)", re.DOTALL)
START = "set -eu"


def several(command):
    """Reports whether there is more than one command, so that a failure could go unnoticed."""
    return "\n" in command.strip() or ";" in command or re.search(r"(?<![&>])&(?![&>0-9])", command) is not None


def block_below(lines, index, indent):
    """Returns the lines of the block that belongs to the key in line index."""
    block = []
    for line in lines[index + 1:]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        block.append(line.strip())
    return [line for line in block if line]


def content_fault(lines, index):
    found = CONTENT.match(lines[index])
    if not found:
        if INLINE_CONTENT.search(lines[index]):
            return "give the script a line of its own"
        return None
    value = found["value"]
    block = block_below(lines, index, len(found["indent"]))
    if BLOCK.match(value):
        if value.startswith(">") or block[:1] != [START]:
            return f"begin the script with {START!r} on a line of its own"
    elif block:
        return "write a script of several lines with |"
    elif not value.startswith("*") and several(value):
        return f"write it with | and begin with {START!r}"
    return None


def strict(options):
    letters = "".join(re.findall(r"(?<![\w-])-([a-z]+)", options))
    return "e" in letters and "u" in letters


def shell_fault(lines, index):
    found = SHELL_LIST.search(lines[index])
    if found:
        options = f"{found['options']} -{found['last']}"
    else:
        item = SHELL_ITEM.match(lines[index])
        if not item:
            return None
        start = f"{item['indent']}- "
        options = ""
        for line in lines[index + 1:]:
            if not line.startswith(start + "-"):
                if not line.startswith(start) or re.fullmatch(r"[a-z]+", line[len(start):].strip()) is None:
                    break
                continue
            options += " " + line[len(start):].strip()
    return None if strict(options) else "tell the shell -eu"


def faults(text):
    """Returns the lines, counted from one, of scripts that hide a failure, and the remedies."""
    lines = text.splitlines()
    found = []
    for index in range(len(lines)):
        for fault in (content_fault(lines, index), shell_fault(lines, index)):
            if fault:
                found.append((index + 1, fault))
    for inner in INNER.finditer(text):
        if several(inner["script"]) and not inner["script"].lstrip().startswith(START):
            found.append((text.count("\n", 0, inner.start()) + 1, f"begin the inner script with {START!r}"))
    return sorted(found)


def described(text):
    return [(line, f"the script continues after a failed command: {fault}") for line, fault in faults(text)]


def main(folders):
    return suites.lint(folders, described)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
