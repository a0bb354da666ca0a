"""What the scripts of Jobs about identity backends have in common: how they end."""

import json
import sys

UNFIT = 3
SAID = "/dev/termination-log"


class Unfit(Exception):
    """What the user has to change."""


class Unready(Exception):
    """What may change by itself."""


def execute(run, doing):
    """Calls run with the argument of the script. Returns the exit code: 0, after writing what run returns, if anything, to
    the termination message; 3 if no retry can change what is wrong; otherwise 1. Of what is wrong it prints one line. Of
    an unexpected error that has only the type, since its text may hold anything.
    """
    wanted = json.loads(sys.argv[1])
    try:
        said = run(wanted)
    except Unfit as reason:
        print(reason, file=sys.stderr)
        return UNFIT
    except Unready as reason:
        print(reason, file=sys.stderr)
        return 1
    except Exception as error:
        print("%s failed (%s)" % (doing, type(error).__name__), file=sys.stderr)
        return 1
    if said:
        with open(SAID, "w", encoding="utf-8") as message:
            message.write(said)
    return 0
