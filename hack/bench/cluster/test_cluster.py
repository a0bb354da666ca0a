import base64
import unittest
from types import SimpleNamespace
from unittest.mock import DEFAULT, MagicMock, patch

import api
import idle
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


def summary(second, node, **pods):
    """Returns a summary of the kubelet, with nanoseconds for the node and for each pod, named namespace__name."""

    def figure(used):
        return {"time": f"2026-01-01T00:00:{second:02}Z", "usageCoreNanoSeconds": used}

    refs = {key: dict(zip(("namespace", "name"), key.split("__")), uid=key) for key in pods}
    return {"node": {"cpu": figure(node)}, "pods": [{"podRef": refs[key], "cpu": figure(used)} for key, used in pods.items()]}


class IdleTest(unittest.TestCase):
    def test_a_rate_is_the_growth_between_the_times_of_the_kubelet(self):
        before, after = summary(5, 3_000_000_000, bench__a=0), summary(15, 5_000_000_000, bench__a=50_000_000)
        self.assertEqual(idle.rates(before, after), (200, {"bench/a": 5}))

    def test_a_pod_that_does_not_run_all_the_time_has_no_rate(self):
        before = summary(5, 0, bench__ended=1, bench__replaced=9, bench__old=1, bench__silent=1)
        after = summary(15, 0, bench__new=1, bench__replaced=1, bench__old=1, bench__silent=1)
        _, replaced, old, silent = after["pods"]
        replaced["podRef"]["uid"] = "another"
        old["cpu"]["time"] = before["node"]["cpu"]["time"]
        del silent["cpu"]
        self.assertEqual(idle.rates(before, after), (0, {}))

    def test_pods_are_the_rows_that_they_belong_to(self):
        without = (100, {"kube-system/etcd-node": 20})
        pods = {"bench/keystone-1": 3, "bench/keystone-2": 5, "kube-system/etcd-node": 24}
        others = {"external-secrets/webhook-1": 1, "external-secrets/controller-1": 2, "openstack/keystone-1": 9}
        found = {(row, size): figures for row, size, figures in idle.rows(without, (150, {**pods, **others}), 1, 2)}
        self.assertEqual(
            {row: figures[idle.MCPU] for row, figures in found.items()},
            {
                ("etcd", 0): 20, ("rest of the node", 0): 80, ("etcd", 1): 24, ("External Secrets", 1): 3, ("rest of the node", 1): 106,
                ("idle pod", 1): 25,
            },
        )
        self.assertEqual(found["idle pod", 1], {idle.MCPU: 25, idle.INSIDE: 4, idle.OUTSIDE: 21, idle.DAY: 2160})

    def test_a_cronjob_counts_from_a_minute_before(self):
        def ran(**status):
            return idle.ran({"status": status}, "2026-01-01T00:01:30Z")

        self.assertFalse(ran())
        self.assertFalse(ran(lastScheduleTime="2026-01-01T00:00:00Z"))
        self.assertTrue(ran(lastScheduleTime="2026-01-01T00:01:00Z"))
        self.assertTrue(ran(lastScheduleTime="2026-01-01T00:02:00Z"))

    def test_a_measurement_that_a_cronjob_disturbs_is_repeated(self):
        options = SimpleNamespace(settle_seconds=1, idle_seconds=60)
        busy = {"items": [{"status": {"lastScheduleTime": "2026-01-01T00:00:10Z"}}]}
        summaries = [summary(second, second**2 * 10**9) for second in (0, 20, 30, 50, 51, 59)]

        def measured(answers):
            stubs = {"summary": summaries, "get": answers}
            with patch.multiple(idle, time=DEFAULT, **{name: MagicMock(side_effect=values) for name, values in stubs.items()}):
                return idle.window(options)

        self.assertEqual(measured([busy, {"items": []}]), (80_000, {}))
        self.assertRaises(SystemExit, measured, [busy] * idle.ATTEMPTS)


if __name__ == "__main__":
    unittest.main()
