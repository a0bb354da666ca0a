"""Writes log records as JSON so that nothing comes between the parts of one.

All processes of a container write to one pipe, which keeps a write together up to
PIPE_BUF bytes only, and uWSGI cuts what its workers write at the size of its buffer
(--log-master). A record is therefore one write of at most PIPE_BUF bytes. A longer
one becomes several, each a JSON object in a line of its own.
"""

import json
import logging
import os
import select

LIMIT = select.PIPE_BUF

# What each part of a record keeps before all else.
FIRST = ("name", "levelname", "asctime", "process", "thread")


class LineStreamHandler(logging.StreamHandler):
    """Takes the place of StreamHandler for records that are formatted as JSON objects."""

    def emit(self, record):
        try:
            for line in lines(self.format(record)):
                write(self.stream.fileno(), line)
        except Exception:
            self.handleError(record)


def lines(text):
    """The lines of at most LIMIT bytes in which a JSON object is written."""
    line = text.encode() + b"\n"
    if len(line) <= LIMIT:
        return [line]
    return [json.dumps(part).encode() + b"\n" for part in parts(json.loads(text))]


def parts(record):
    """Cuts a record: each part keeps its short fields, and the message goes through all of them.

    Long fields, such as a traceback, follow the message.
    """
    message = record.pop("message", "")
    kept, rest = {}, [flat(message)]
    for name in sorted(record, key=lambda name: name not in FIRST):
        field = {name: record[name]}
        if size(kept) + size(field) <= LIMIT // 2:
            kept.update(field)
        elif record[name] != message:
            rest.append("%s: %s" % (name, flat(record[name])))
    most = 10**9
    room = LIMIT - size({**kept, "message": "", "part": most, "parts": most}) - len("\n")
    pieces = list(cut("\n".join(rest), room))
    return [{**kept, "message": piece, "part": i, "parts": len(pieces)} for i, piece in enumerate(pieces, 1)]


def flat(value):
    """Text for a value: that of a traceback is a list of lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    return json.dumps(value)


def cut(text, room):
    """The pieces of a text that JSON writes in at most room bytes each."""
    while text:
        length = room
        while size(text[:length]) - len('""') > room:
            length = length * 3 // 4
        yield text[:length]
        text = text[length:]


def size(value):
    return len(json.dumps(value))


def write(descriptor, line):
    while line:
        try:
            line = line[os.write(descriptor, line) :]
        except BlockingIOError:
            # uWSGI's end of its workers' output does not block.
            free = select.poll()
            free.register(descriptor, select.POLLOUT)
            free.poll()
