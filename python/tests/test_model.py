# SPDX-License-Identifier: Apache-2.0
"""Scores that NumPy computes from a saved model alone are those that the program lists, for every recommender."""

import csv
import tempfile
import unittest
from pathlib import Path

import numpy as np

import dpframe
from dpframe import _program

ITEMS, USERS = 60, 400
IMPLICIT = {"data.feedback": "implicit", "data.column.rating": "none"}
FILE = {"data.format": "csv", "data.header": "yes", "model.users": USERS, "model.items": ITEMS}


def generated(path, users=USERS):
    _program.call(["generate", "-O", path, f"users={users}", f"items={ITEMS}", f"ratings={20 * users}", "min-per-user=3"])
    return path


def records_of(path, model, values):
    """{user: (rows of items in ascending order, values)}"""
    row = {name: i for i, name in enumerate(model.item_ids)}
    records = {}
    with open(path, newline="", encoding="utf-8") as stream:
        for user, item, *rest in list(csv.reader(stream))[1:]:
            if item in row:
                records.setdefault(user, []).append((row[item], float(rest[0])))
    for user, pairs in records.items():
        rows, rated = zip(*sorted(pairs))
        records[user] = (rows, rated if values else None)
    return records


class Models(unittest.TestCase):
    def compare(self, model, listed, scores_of, least):
        """Each listed score, and the order of each list, where scores differ by more than rounding."""
        row = {name: i for i, name in enumerate(model.item_ids)}
        clip = model.index.get("range", (-np.inf, np.inf))
        by_user = {}
        for line in listed:
            by_user.setdefault(line.user, []).append(line)
        self.assertGreaterEqual(len(by_user), least)
        for user, lines in by_user.items():
            expected = scores_of(user)
            for line in lines:
                self.assertAlmostEqual(line.score, np.clip(expected[row[line.item]], *clip), delta=2e-5)
            own = np.array([expected[row[line.item]] for line in lines])
            self.assertTrue(np.all(np.diff(own) < 2e-5))

    def trained(self, name, directory, settings):
        """Of the component's example, on a file."""
        config = Path("plugins/recommender") / name / f"{name}.ini"
        data = generated(Path(directory) / "records.csv")
        return dpframe.run(config, {**FILE, "data.path": data, **settings}, output=Path(directory) / "run")

    def check_own_records(self, name, formula, settings):
        with tempfile.TemporaryDirectory() as directory:
            run = self.trained(name, directory, settings)
            model = dpframe.Model(run.directory / "release" / "model")
            self.assertEqual(model.formula, formula)
            self.assertNotIn(str(USERS), (model.directory / "index.json").read_text())
            others = generated(Path(directory) / "others.csv", 50)
            records = records_of(others, model, settings.get("data.feedback") != "implicit")
            listed = dpframe.recommend(run, n=ITEMS, data=others)
            self.compare(model, listed, lambda user: model.scores(*records[user]), 45)
            return {name: array.shape for name, array in model.arrays.items()}

    def test_private_gram(self):
        self.check_own_records("private-gram", "ease/1", {**IMPLICIT, "model.recommender.items": 40})

    def test_private_gram_by_one_inverse(self):
        """Factors are the columns themselves, and not in the file; twenty items have no column."""
        exact = {"form": "gram", "items": 40, "ridge": 4}
        settings = {f"model.recommender.{key}": value for key, value in exact.items()}
        shapes = self.check_own_records("private-gram", "ease/1", {**IMPLICIT, **settings, "privacy.total-epsilon": 1000000})
        self.assertEqual((shapes["in"], shapes["out"]), ((40, shapes["span"][0]), (40, 40)))

    def test_private_gram_of_ratings(self):
        settings = {"data.feedback": "explicit", "data.value-min": 1, "data.value-max": 5, "evaluate.metrics": "ndcg"}
        self.check_own_records("private-gram", "ease/1", settings)

    def test_private_ratings(self):
        self.check_own_records("private-ratings", "ridge/1", {"data.value-min": 1, "data.value-max": 5})

    def test_private_als(self):
        self.check_own_records("private-als", "ridge/1", {"data.value-min": 1, "data.value-max": 5})

    def test_private_biases(self):
        self.check_own_records("private-biases", "ridge/1", {"data.value-min": 1, "data.value-max": 5})

    def test_private_popularity(self):
        self.check_own_records("private-popularity", "base/1", IMPLICIT)

    def test_dplcf(self):
        self.check_own_records("dplcf", "neighbours/1", IMPLICIT)

    def test_ldpicf_whose_server_has_reports(self):
        with tempfile.TemporaryDirectory() as directory:
            run = self.trained("ldpicf", directory, IMPLICIT)
            index = {name: i for i, name in enumerate(run.user_ids)}
            listed = dpframe.recommend(run, n=ITEMS)
            self.compare(run.model, listed, lambda user: run.model.scores(user=index[user]), 300)

    def test_a_factorization(self):
        with tempfile.TemporaryDirectory() as directory:
            data = generated(Path(directory) / "records.csv")
            run = dpframe.run("configs/quickstart.ini", {**FILE, **IMPLICIT, "data.path": data, "run.rounds": 2})
            model = run.model
            self.assertEqual(model.formula, "rows/1")
            self.assertNotIn("users", model.arrays)  # private, so that a released index does not tell of them
            factors = run.user_factors
            index = {name: i for i, name in enumerate(run.user_ids)}

            def scores_of(user):
                return model.scalars["offset"] + model.arrays["items"].astype("f8") @ factors[index[user]]

            self.compare(model, dpframe.recommend(run, n=ITEMS), scores_of, 300)
            self.assertEqual(run.item_factors.shape[0], len(run.item_ids))


if __name__ == "__main__":
    unittest.main()
