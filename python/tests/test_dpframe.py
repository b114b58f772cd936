# SPDX-License-Identifier: Apache-2.0
"""Runs with the program in $DPFRAME, from the root of the tree."""

import tempfile
import unittest
from pathlib import Path

import dpframe

QUICKSTART = Path("configs/quickstart.ini")
SMALL = {
    "data.synthetic.users": 300,
    "data.synthetic.items": 40,
    "data.synthetic.ratings": 4500,
    "model.users": 300,
}


class Runs(unittest.TestCase):
    def test_a_run_has_metrics_statement_and_factors(self):
        run = dpframe.run(QUICKSTART, SMALL)
        self.assertIn("hr@10", run.metrics)
        self.assertIn("popularity", run.baselines)
        self.assertEqual(run.item_factors.shape[0], len(run.item_ids))
        self.assertEqual(run.user_factors.shape[0], 300)
        self.assertEqual(run.config["model"]["users"], "300")
        self.assertTrue(run.guarantee.holds)
        self.assertEqual(run.guarantee.failing, [])
        self.assertEqual(list(run.to_frame().index), ["this run", "non-private", "popularity"])

    def test_recommendations_are_unseen_and_in_order(self):
        run = dpframe.run(QUICKSTART, SMALL)
        listed = run.recommend(run.user_ids[0], n=7)
        self.assertEqual(len(listed), 7)
        self.assertEqual(len({item for item, _ in listed}), 7)
        scores = [score for _, score in listed]
        self.assertEqual(scores, sorted(scores, reverse=True))

    def test_a_saved_run_is_read_again(self):
        with tempfile.TemporaryDirectory() as directory:
            run = dpframe.run(QUICKSTART, SMALL, output=Path(directory) / "run")
            self.assertEqual(dpframe.load(Path(directory) / "run").metrics, run.metrics)

    def test_temporary_results_go_with_the_run(self):
        run = dpframe.run(QUICKSTART, SMALL)
        directory = run.directory
        self.assertTrue(directory.exists())
        del run
        self.assertFalse(directory.exists())


class Statements(unittest.TestCase):
    def test_account_says_what_the_run_will_prove(self):
        promise = dpframe.account(QUICKSTART, SMALL)
        run = dpframe.run(QUICKSTART, SMALL)
        self.assertEqual(promise.epsilon, run.guarantee.epsilon)
        self.assertEqual(promise.unit, "user")
        more = dpframe.account(QUICKSTART, {**SMALL, "items.mechanism.noise-multiplier": 1})
        self.assertGreater(more.epsilon, promise.epsilon)

    def test_a_published_method_without_a_proof_has_no_epsilon(self):
        statement = dpframe.account("configs/papers/gaussian-rdp.ini")
        self.assertIsNone(statement.epsilon)
        self.assertIn("C2", [condition.id for condition in statement.failing])


class Sweeps(unittest.TestCase):
    def test_a_sweep_is_a_frame(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "sweep.ini"
            path.write_text(
                f"include = {QUICKSTART.resolve()}\n[sweep]\nitems.mechanism.noise-multiplier = 1, 4\n",
                encoding="utf-8",
            )
            frame = dpframe.sweep(path, {**SMALL, "run.compare": ""})
        self.assertGreaterEqual(len(frame), 2)


class Mistakes(unittest.TestCase):
    def test_a_wrong_value_names_key_and_value(self):
        with self.assertRaises(dpframe.ConfigurationError) as caught:
            dpframe.run(QUICKSTART, {"items.mechanism.noise-multiplier": -1})
        self.assertEqual(caught.exception.key, "items.mechanism.noise-multiplier")
        self.assertEqual(caught.exception.value, "-1")
        self.assertTrue(caught.exception.remedy.startswith("must "))
        self.assertEqual(caught.exception.exit_code, 2)

    def test_a_wrong_line_names_file_and_line(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "wrong.ini"
            path.write_text("[run]\nrounds = many\n", encoding="utf-8")
            with self.assertRaises(dpframe.ConfigurationError) as caught:
                dpframe.check(path)
        self.assertTrue(caught.exception.file.endswith("wrong.ini"))
        self.assertEqual(caught.exception.line, 2)

    def test_wrong_data_is_told_apart(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "ratings.csv"
            path.write_text("user,item\n1\n", encoding="utf-8")
            with self.assertRaises(dpframe.DataError):
                dpframe.run(QUICKSTART, {"data.format": "csv", "data.path": path})

    def test_a_missing_program_says_what_to_do(self):
        import os
        from unittest import mock

        with mock.patch.dict(os.environ, {"PATH": "", "DPFRAME": ""}):
            with self.assertRaisesRegex(dpframe.RunError, "DPFRAME"):
                dpframe.account(QUICKSTART)


class Frames(unittest.TestCase):
    def test_missing_values_are_refused(self):
        import pandas

        frame = pandas.DataFrame({"user": [1, 2], "item": [3, None]})
        with self.assertRaisesRegex(ValueError, "missing"):
            dpframe.write_csv(frame, "unused.csv")

    def test_a_frame_is_data(self):
        import pandas

        frame = pandas.DataFrame(
            [(f"u{u}", f"i{(u * 7 + k) % 20}") for u in range(50) for k in range(6)], columns=["user", "item"]
        )
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "records.csv"
            dpframe.write_csv(frame, path)
            run = dpframe.run(
                QUICKSTART,
                {"data.format": "csv", "data.header": True, "data.path": path, "model.users": 50, "split.by": "random"},
            )
        self.assertEqual(run.data["ratings"], 300)


if __name__ == "__main__":
    unittest.main()
