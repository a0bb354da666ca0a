"""Tests of queries.py."""

import unittest

import queries


def dashboard(*expressions):
    return {"uid": "boats", "panels": [{"title": "Speed", "targets": [{"expr": e} for e in expressions]}, {"title": "a row"}]}


class Queries(unittest.TestCase):
    def test_variables_are_filled_in(self):
        found = list(queries.queries(dashboard("up", 'increase(a{job=~"$job"}[$__range])', "rate(a[$__rate_interval])")))
        self.assertEqual(found, ["up", 'increase(a{job=~".*"}[6h])', "rate(a[5m])"])

    def test_a_variable_that_nobody_knows_is_refused(self):
        with self.assertRaisesRegex(ValueError, 'panel "Speed".*\\$boat'):
            list(queries.queries(dashboard("a{b=\"$boat\"}")))

    def test_queries_of_panels_in_a_row_count(self):
        nested = {"uid": "boats", "panels": [{"title": "a row", "panels": [{"title": "Speed", "targets": [{"expr": "up"}]}]}]}
        self.assertEqual(list(queries.queries(nested)), ["up"])

    def test_each_query_is_a_rule(self):
        self.assertEqual(queries.rules([dashboard("up", "down")]), {"groups": [
            {"name": "boats", "rules": [{"record": "query:0", "expr": "up"}, {"record": "query:1", "expr": "down"}]}]})


if __name__ == "__main__":
    unittest.main()
