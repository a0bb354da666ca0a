"""Tests of summary.py."""

import unittest
import xml.etree.ElementTree

import summary

REPORT = """\
<testsuites name="e2e" tests="3" failures="1">
  <testsuite name="slow" tests="1" failures="0" time="20.04"><testcase name="a" time="20"></testcase></testsuite>
  <testsuite name="broken" tests="2" failures="1" time="3.5">
    <testcase name="it starts" time="1"></testcase>
    <testcase name="it answers" time="2"><failure message="assertion failed">{lines}</failure></testcase>
  </testsuite>
</testsuites>
"""


class Summary(unittest.TestCase):
    def lines(self, text):
        return summary.summary(xml.etree.ElementTree.fromstring(REPORT.format(lines=text)), 21)

    def test_the_slowest_is_last_and_a_failure_is_marked(self):
        self.assertEqual(self.lines("")[1:4], [
            "     3.5 s  broken  FAILED",
            "    20.0 s  slow",
            "    23.5 s  2 suites one after the other, 1 failed; 21 s as they ran",
        ])

    def test_what_failed_comes_last_with_its_step(self):
        self.assertEqual(self.lines("status: 1")[5:], [
            "=== broken failed",
            "  it answers: assertion failed",
            "  status: 1",
        ])

    def test_a_long_text_is_cut(self):
        self.assertEqual(len(self.lines("\n".join("x" * 100))), 6 + summary.LINES)

    def test_a_run_without_a_failure_ends_with_the_sum(self):
        root = xml.etree.ElementTree.fromstring('<testsuites><testsuite name="one" time="1"/></testsuites>')
        self.assertEqual(summary.summary(root, 1)[-1], "     1.0 s  1 suites one after the other, 0 failed; 1 s as they ran")


if __name__ == "__main__":
    unittest.main()
