"""How tests have ended, as people and programs read it."""

import collections
import textwrap

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
# result is how a test has ended: "text" is the error or the reason.
Result = collections.namedtuple("Result", "test result text seconds")

# A termination message may have 4096 bytes.
MAX_FAILURES = 20


def show(result):
    """Prints a result. Only its line is not indented, so that programs can count these lines."""
    why = " (%s)" % " ".join(result.text.split()) if result.result == SKIPPED else ""
    print("%s %s %.1f s%s" % (result.result, result.test, result.seconds, why), flush=True)
    if result.result == FAILED:
        print(textwrap.indent(result.text.strip(), "    "), flush=True)


def summarise(ended, excluded, seconds):
    """Prints which tests have failed and the summary, and returns the latter."""
    failed = [result for result in ended if result.result == FAILED]
    count = {kind: sum(result.result == kind for result in ended) for kind in (PASSED, FAILED, SKIPPED)}
    summary = {**count, "excluded": excluded, "seconds": round(seconds)}
    print("".join("\n  failed: %s" % result.test for result in failed))
    print("in total: " + ", ".join("%s %d" % item for item in summary.items()), flush=True)
    return {**summary, "failures": [result.test for result in failed[:MAX_FAILURES]]}
