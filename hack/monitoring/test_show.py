"""Tests of show.py."""

import unittest

import show


def speed(**fields):
    return {"type": "timeseries", "title": "Speed", "description": "How fast.", "targets": [{"expr": 'speed{harbour=~"$namespace"}'}], **fields}


def boats(*panels):
    return {"title": "Boats", "panels": [{"type": "row", "title": "Is it slow?"}, *panels]}


def answer(*series):
    return lambda query: [{"metric": labels, "value": [0, value]} for labels, value in series]


class Page(unittest.TestCase):
    def test_a_panel_is_shown_with_its_query_and_the_answer(self):
        page = show.described([boats(speed())], answer(({"name": "Anna", "pod": "x", "job": "y"}, "3.14159")))
        self.assertIn("## Boats\n\n**Is it slow?**\n\n### Speed\n\nHow fast.\n\n", page)
        self.assertIn('```promql\nspeed{harbour=~"$namespace"}\n```\n\n| Series | Value |\n|---|---|\n| name=Anna | 3.14 |\n', page)

    def test_variables_are_filled_in_before_it_is_asked(self):
        asked = []
        show.described([boats(speed())], lambda query: asked.append(query) or [])
        self.assertEqual(asked, ['speed{harbour=~".*"}'])

    def test_an_empty_answer_is_told(self):
        self.assertIn("No series", show.described([boats(speed())], answer()))

    def test_of_many_series_the_first_are_shown(self):
        page = show.described([boats(speed())], answer(*[({"name": f"boat-{i}"}, "1") for i in range(9)]))
        self.assertIn("| name=boat-5 | 1 |\n| and 3 more | |\n", page)

    def test_a_changed_panel_is_missed(self):
        page = show.described([boats(speed())], answer())
        self.assertEqual(show.missing(page, [boats(speed())]), [])
        for change in ({"title": "Pace"}, {"description": "How slow."}, {"targets": [{"expr": "pace"}]}):
            self.assertEqual(len(show.missing(page, [boats(speed(**change))])), 1, change)
        self.assertEqual(show.missing("# A page without boats\n", [boats(speed())]), [])


class Values(unittest.TestCase):
    def test_a_value_has_the_unit_of_its_panel(self):
        for value, unit, want in [
            ("0.04", "s", "0.04 s"), ("90", "s", "1.5 min"), ("172800", "s", "2.0 d"), ("52428800", "bytes", "50.0 MiB"),
            ("1000", "dateTimeAsIso", "1970-01-01 00:00 UTC"), ("NaN", "s", "no data"), ("2", "reqps", "2 requests/s"), ("1", "short", "1"),
        ]:
            self.assertEqual(show.worded(value, unit), want)


if __name__ == "__main__":
    unittest.main()
