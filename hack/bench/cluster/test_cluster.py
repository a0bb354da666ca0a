import base64
import unittest
from types import SimpleNamespace
from unittest.mock import DEFAULT, MagicMock, patch

import api
import keystone
import main as program
import ready


class Runs:
    """A part whose figures differ from run to run."""

    NAME = "cluster-part"
    COLUMNS = {"Ready": 1, "Failed": 0}
    SCENARIOS = ["first", "second"]

    def __init__(self):
        self.runs = 0

    def measure(self, _options):
        self.runs += 1
        yield "first", 1, {"Ready": 7.5 + self.runs, "Failed": 0}
        if self.runs == 2:
            yield "second", 3, {"Ready": 2}


class TableTest(unittest.TestCase):
    def test_a_row_has_a_sample_of_each_run(self):
        table = program.table(Runs(), SimpleNamespace(runs=2))
        self.assertEqual(
            table["rows"],
            [
                {"scenario": "first", "size": 1, "samples": {"Ready": [8.5, 9.5], "Failed": [0, 0]}},
                {"scenario": "second", "size": 3, "samples": {"Ready": [2]}},
            ],
        )

    def test_each_part_names_what_it_measures_once(self):
        names = [part.NAME for part in program.PARTS.values()]
        self.assertEqual(len(names), len(set(names)))
        for part in program.PARTS.values():
            self.assertTrue(part.COLUMNS and part.SCENARIOS and part.__doc__, part)


class SettingsTest(unittest.TestCase):
    def test_a_setting_resets_what_the_one_before_has_set(self):
        first, second = api.merged(api.SETTINGS["no token cache"]), api.merged(api.SETTINGS["4 threads"])
        self.assertIsNone(second["extraConfig"])
        self.assertEqual(second["uwsgi"], {"processes": 2, "threads": 4, "httpKeepAlive": True})
        self.assertEqual(first["uwsgi"], api.BASIS["uwsgi"])
        self.assertEqual(second["resources"], api.UNLIMITED)


class FernetKeysTest(unittest.TestCase):
    def test_keys_have_the_format_of_fernet_and_the_numbers_of_keystone(self):
        keys = keystone.fernet_keys(10)["stringData"]
        self.assertEqual(list(keys), [str(number) for number in range(10)])
        self.assertEqual({len(base64.urlsafe_b64decode(key)) for key in keys.values()}, {32})
        self.assertEqual(len(set(keys.values())), 10)

    def test_a_setting_with_keys_gets_a_keystone_of_its_own(self):
        stubs = {"Database": MagicMock(), "figures": lambda _seconds: {}, "wait": DEFAULT, "change": DEFAULT, "apply": DEFAULT}
        with patch.multiple(api, **stubs) as calls:
            rows = list(api.measure(SimpleNamespace(settings=["no CPU limit", "10 Fernet keys, no token cache"], seconds=1)))
        self.assertEqual([name for name, _, _ in rows], ["no CPU limit", "10 Fernet keys, no token cache"])
        calls["change"].assert_called_once_with(**api.BASIS)
        (first,), (keys, second) = (call.args for call in calls["apply"].call_args_list)
        self.assertNotIn("fernet", first["spec"])
        self.assertEqual(second["spec"]["fernet"], {"maxActiveKeys": len(keys["stringData"])})


class UsageTest(unittest.TestCase):
    def test_both_versions_of_control_groups_are_read(self):
        for text in ("2500000000\ntotal_rss 1048576\n", "usage_usec 2500000\nanon 1048576\n"):
            self.assertEqual(keystone.parse_usage(text), (2.5, 1))


class ReadyTest(unittest.TestCase):
    def test_times_are_the_differences_of_timestamps(self):
        self.assertEqual(ready.seconds("2026-01-01T00:01:05Z", "2026-01-01T00:00:58Z"), 7)


if __name__ == "__main__":
    unittest.main()
