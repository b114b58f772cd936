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


REPEATABLE = {"privacy.randomness": "reproducible", "privacy.noise-seed": 1}


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
        self.assertEqual(len({row.item for row in listed}), 7)
        self.assertEqual([row.rank for row in listed], list(range(1, 8)))
        scores = [row.score for row in listed]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertEqual(list(listed.to_frame().columns), ["user", "item", "rank", "score", "name"])
        everybody = dpframe.recommend(run.directory, n=7)
        self.assertEqual(list(listed), [row for row in everybody if row.user == run.user_ids[0]])

    def test_a_saved_run_is_read_again(self):
        with tempfile.TemporaryDirectory() as directory:
            run = dpframe.run(QUICKSTART, SMALL, output=Path(directory) / "run")
            self.assertEqual(dpframe.load(Path(directory) / "run").metrics, run.metrics)

    def test_what_is_no_run_is_named(self):
        with tempfile.TemporaryDirectory() as directory:
            with self.assertRaisesRegex(FileNotFoundError, "a run that is complete"):
                dpframe.load(directory)
            (Path(directory) / "sweep.json").write_text("{}", encoding="utf-8")
            with self.assertRaisesRegex(FileNotFoundError, "points"):
                dpframe.load(directory)

    def test_temporary_results_go_with_the_run(self):
        run = dpframe.run(QUICKSTART, SMALL)
        directory = run.directory
        self.assertTrue(directory.exists())
        del run
        self.assertFalse(directory.exists())


def made_up(users=50, items=20, name="i{}"):
    return [(f"u{u}", name.format((u * 7 + k) % items)) for u in range(users) for k in range(6)]


def run_of_records(records, **more):
    settings = {"model.users": 50, "split.by": "random", **REPEATABLE, **more}
    return dpframe.run(QUICKSTART, settings, data=records)


class Saved(unittest.TestCase):
    """What is asked of a finished run, with frames, tuples and files."""

    @classmethod
    def setUpClass(cls):
        import pandas

        cls.frame = pandas.DataFrame(made_up(), columns=["user", "item"])
        cls.run_of_frame = run_of_records(cls.frame)

    def test_a_frame_and_tuples_are_the_same_records(self):
        of_tuples = run_of_records(made_up())
        self.assertEqual(of_tuples.metrics, self.run_of_frame.metrics)
        self.assertEqual(of_tuples.item_ids, self.run_of_frame.item_ids)

    def test_lists_of_other_records(self):
        listed = self.run_of_frame.recommend("new", 3, data=[("new", "i1"), ("new", "i2")], exclude=["i3"])
        self.assertEqual(len(listed), 3)
        self.assertFalse({"i1", "i2", "i3"} & {row.item for row in listed})
        among = dpframe.recommend(self.run_of_frame, "u1", candidates=["i17", "i18"])
        self.assertLessEqual({row.item for row in among}, {"i17", "i18"})

    def test_rows_have_names_of_items(self):
        with tempfile.TemporaryDirectory() as directory:
            names = Path(directory) / "names.csv"
            names.write_text('item,name\ni1,"One, ""first"""\ni2,Zw\u00f6lf\u2028Teile\n', encoding="utf-8")
            run = run_of_records(made_up(), **{"data.item-names": f"{names}:name"})
        shown = dict(zip(run.item_ids, run.item_names))
        self.assertEqual((shown["i1"], shown["i2"], shown["i3"]), ('One, "first"', "Zw\u00f6lf\u2028Teile", ""))
        for row in run.recommend("u1", 20) + run.predict([("u1", "i1"), ("u1", "none")]) + run.similar("i1"):
            known = row.similar if hasattr(row, "similar") else row.item
            self.assertEqual(row.name, shown.get(known, ""))
        self.assertEqual(self.run_of_frame.item_names, [])
        self.assertEqual({row.name for row in self.run_of_frame.recommend("u1")}, {""})

    def test_predictions_are_in_the_order_of_the_pairs(self):
        pairs = self.frame.head(3)
        told = dpframe.predict(self.run_of_frame, pairs)
        self.assertEqual([(row.user, row.item) for row in told], list(pairs.itertuples(index=False, name=None)))
        self.assertEqual(dpframe.predict(self.run_of_frame, made_up()[:3]), told)
        self.assertIsNone(dpframe.predict(self.run_of_frame, [("u1", "unknown")])[0].value)

    def test_neighbours_and_metrics(self):
        near = self.run_of_frame.similar("i1", 4)
        self.assertEqual([row.rank for row in near], [1, 2, 3, 4])
        self.assertNotIn("i1", [row.similar for row in near])
        self.assertEqual(self.run_of_frame.evaluate()["hr@10"], self.run_of_frame.metrics["hr@10"])
        other = dpframe.evaluate(self.run_of_frame, [("u1", "i1"), ("u2", "i5")], {"evaluate.metrics": "hr"})
        self.assertIn("hr@10", other)

    def test_a_run_beside_itself(self):
        rows = dpframe.compare(self.run_of_frame, self.run_of_frame)
        self.assertTrue(all(row["p"] is None and row["why_not"] for row in rows))
        self.assertEqual(len(rows.to_frame()), len(rows))

    def test_its_page_and_what_a_notebook_shows(self):
        page = dpframe.report(self.run_of_frame)
        self.assertIn("<html", page.read_text(encoding="utf-8"))
        shown = self.run_of_frame._repr_html_()
        self.assertIn("<table>", shown)
        self.assertIn("proved" if self.run_of_frame.guarantee.epsilon is None else "Proved", shown)
        self.assertIn(self.run_of_frame.guarantee.unit, self.run_of_frame.statement)

    def test_a_recommender_has_rows_of_items_alone(self):
        with tempfile.TemporaryDirectory() as directory:
            config = Path(directory) / "popularity.ini"
            config.write_text("[model]\nrecommender = private-popularity\n[data]\nfeedback = implicit\n"
                              "[privacy]\nunit = user\nadjacency = replace\nid-lists = public\n", encoding="utf-8")
            run = dpframe.run(config, {"model.users": 50}, data=made_up())
            self.assertEqual(run.item_factors.shape, (20, 1))
            self.assertFalse(hasattr(run, "user_factors"))
            self.assertEqual(len(run.item_ids), 20)
            self.assertEqual(run.page(), run.directory / "release" / "page.html")
            self.assertEqual(run.page(Path(directory) / "own.html").read_bytes(), run.page().read_bytes())


class Forms(unittest.TestCase):
    """Records of two fields are enough, whatever columns the run's own file has."""

    FORMS = {
        "plain": ("{u};{i};4;17\n", "", dict(delimiter="semicolon", header=False, fields=4, user=1, item=2, time=4)),
        "moved": ("x::{i}::17::{u}\n", "", dict(delimiter="double-colon", header=False, fields=4, user=4, item=2, time=3)),
        "named": ('{u},"{i}, a film",4,17\n', "who,title,stars,stamp\n",
                  dict(header=True, user="who", item="title", rating="stars", time="stamp")),
    }

    def test_lists_and_predictions_of_tuples(self):
        for name, (line, header, facts) in self.FORMS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as directory:
                place = Path(directory)
                items = "i{}, a film" if name == "named" else "i{}"
                file = place / "records.csv"
                file.write_text(header + "".join(line.format(u=u, i=i) for u, i in made_up()), encoding="utf-8")
                config = dpframe.start(file, place / "own.ini", feedback="implicit", users=50, items=20, epsilon=8,
                                       format="csv", recipe="private-gram", **facts)
                run = dpframe.run(config, output=place / "run")
                own = [("new", items.format(1)), ("new", items.format(2))]
                listed = run.recommend("new", 18, data=own)
                self.assertEqual(len(listed), 18)
                self.assertFalse({item for _, item in own} & {row.item for row in listed})
                self.assertIsNotNone(run.predict([("u1", items.format(1))])[0].value)
                # The configuration's own delimiter and number of fields do not count for what comes from Python.
                again = dpframe.run(config, {"split.by": "random"}, data=made_up(name=items))
                self.assertEqual(again.item_ids, run.item_ids)

    def test_ratings_are_asked_for_where_they_count(self):
        from dpframe import _frames

        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "records.csv"
            with self.assertRaisesRegex(ValueError, "a record is user, item"):
                _frames.write_like([("u",)], path, {"format": "csv", "feedback": "implicit"}, False)
            with self.assertRaisesRegex(ValueError, "rating"):
                _frames.write_like([("u", "i")], path, {"format": "csv", "feedback": "explicit"}, True)
            _frames.write_like([("u", "i")], path, {"format": "movielens-100k", "feedback": "explicit"}, False)
            self.assertEqual(path.read_text(encoding="utf-8").split("\t")[:2], ["u", "i"])


class Ids(unittest.TestCase):
    def test_only_a_line_feed_ends_an_id(self):
        names = ["a\u2028b", "c\x85d", "e\x0cf", "g\x1ch", 'with "quotes", commas', "\u00e4\u65e5", "null", "NA"]
        records = [(f"u{u}", names[(u * 2 + k) % len(names)] + str(k)) for u in range(50) for k in range(6)]
        run = run_of_records(records)
        self.assertEqual(set(run.item_ids), {item for _, item in records})
        self.assertEqual(run.item_factors.shape[0], len(run.item_ids))
        listed = run.recommend(n=2)
        self.assertLessEqual({row.item for row in listed}, set(run.item_ids))

    def test_ids_do_not_depend_on_the_locale(self):
        import os
        import subprocess
        import sys

        program = (
            "import dpframe; r = dpframe.run('configs/quickstart.ini', {'model.users': 50, 'split.by': 'random'},"
            "data=[(f'\\u00e9{u}', f'i{(u * 7 + k) % 20}') for u in range(50) for k in range(6)]);"
            "print(ascii(r.recommend('\\u00e91', 1)[0].user))"
        )
        env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=False)
        self.assertEqual(done.stdout.decode().strip(), "'\\xe91'", done.stderr.decode())

    def test_whole_floats_are_ids_and_others_are_not(self):
        import pandas

        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "records.csv"
            dpframe.write_csv(pandas.DataFrame({"user": [1.0, 2.0], "item": ["a", "b"], "rating": [1.5, 4]}), path)
            self.assertEqual(path.read_text(encoding="utf-8"), "user,item,rating\n1,a,1.5\n2,b,4\n")
            with self.assertRaisesRegex(ValueError, "no id"):
                dpframe.write_csv(pandas.DataFrame({"user": [1.5], "item": ["a"]}), path)
            with self.assertRaisesRegex(ValueError, "line end"):
                dpframe.write_csv([("a\nb", "c")], path)


class Watched(unittest.TestCase):
    def test_progress_is_told_and_can_end_a_run(self):
        steps = []
        run = dpframe.run(QUICKSTART, {**SMALL, **REPEATABLE}, progress=steps.append)
        last = [step for step in steps if step.what == "round"][-1]
        self.assertEqual((last.done, last.total), (last.total, last.total))
        self.assertEqual(run.metrics, dpframe.run(QUICKSTART, {**SMALL, **REPEATABLE}).metrics)

        class Enough(Exception):
            pass

        def enough(step):
            raise Enough

        with self.assertRaises(Enough):
            dpframe.run(QUICKSTART, SMALL, progress=enough)

    def test_errors_come_through_beside_progress(self):
        with self.assertRaises(dpframe.ConfigurationError) as caught:
            dpframe.run(QUICKSTART, {"items.mechanism.noise-multiplier": -1}, progress=lambda step: None)
        self.assertEqual(caught.exception.key, "items.mechanism.noise-multiplier")


class Missing(unittest.TestCase):
    """What is missing is said in words of Python, and before anything is done."""

    def test_a_sweep_without_pandas_runs_nothing(self):
        from unittest import mock

        with tempfile.TemporaryDirectory() as directory, mock.patch.dict("sys.modules", {"pandas": None}):
            with self.assertRaisesRegex(dpframe.Error, "install it .Debian: python3-pandas") as caught:
                dpframe.sweep(QUICKSTART, output=Path(directory) / "swept")
            self.assertIsInstance(caught.exception, ImportError)
            self.assertFalse((Path(directory) / "swept").exists())

    def test_options_are_called_as_arguments(self):
        run = run_of_records(made_up())
        with self.assertRaisesRegex(dpframe.DataError, "^user \"zzz\".* come with data=$"):
            run.recommend("zzz")


class Started(unittest.TestCase):
    def test_a_configuration_for_a_file(self):
        with tempfile.TemporaryDirectory() as directory:
            records = Path(directory) / "mine.csv"
            dpframe.write_csv(made_up(), records)
            path = dpframe.start(records, Path(directory) / "mine.ini", feedback="implicit", users=50, items=20,
                                 header=True, want="ranking", epsilon=5)
            self.assertEqual(dpframe.account(path).unit, "user")
            with self.assertRaises(dpframe.ConfigurationError):
                dpframe.start(records, Path(directory) / "other.ini", feedback="wrong")


class Installed(unittest.TestCase):
    def test_the_wheel_is_built_without_a_network(self):
        import sys
        import zipfile

        sys.path.insert(0, "python/build_backend")
        try:
            import dpframe_build
        finally:
            del sys.path[0]
        with tempfile.TemporaryDirectory() as directory:
            names = zipfile.ZipFile(Path(directory) / dpframe_build.build_wheel(directory)).namelist()
            self.assertIn("dpframe/py.typed", names)
            for path in Path("python/dpframe").glob("*.py"):
                self.assertIn(f"dpframe/{path.name}", names)
            self.assertTrue((Path(directory) / dpframe_build.build_sdist(directory)).exists())


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
