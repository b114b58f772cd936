# SPDX-License-Identifier: Apache-2.0
"""
Pages of "dpframe page" in headless Chromium. Every recommender is trained on generated records; the script of its page scores
people who were not there, and each score is compared with "dpframe recommend --data". A page is then used like a person does:
search, rate, read the list, at a width of 390 pixels.
"""

import csv
import hashlib
import base64
import html
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ.get("DPFRAME", "dpframe")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ITEMS, USERS, PEOPLE = 60, 300, 8
TOLERANCE = 1e-4

# Scores are proved of as little as possible here: the epsilons are large, so that scores differ from item to item.
SHARED = """
[run]
seed = 1
verdict = no
[data]
format = csv
path = {path}
feedback = {feedback}
{data}
[split]
kind = none
[model]
recommender = {recommender}
users = 300
{model}
[privacy]
unit = {unit}
adjacency = {adjacency}
observer = {observer}
{privacy}
[accountants]
list = {accountants}
{more}
"""
CENTRAL = {
    "unit": "user", "adjacency": "add-remove", "observer": "outsider", "accountants": "pld",
    "privacy": "delta = 1e-6\nbudget = total\ntotal-epsilon = 30\ntuning = public-data",
}
EXACT = {**CENTRAL, "privacy": "delta = 1e-6\ntuning = public-data"}
LOCAL = {
    "unit": "record", "adjacency": "flip", "observer": "server", "accountants": "pure", "privacy": "",
}
FEATURES = "item-features = items.csv\nitem-features.categories = genres\nitem-features.year-of = title"
HOME = "home-terms = yes"
NAMES = "\nitem-names = names.csv:title"
FOREIGN = "Amélie </script><b>bold</b> <!-- & \"quoted\" \u2028 end"
CASES = {
    "popularity": ("private-popularity", "implicit", CENTRAL, "", ""),
    "popularity-home": ("private-popularity", "implicit", CENTRAL, FEATURES, HOME),
    "gram": ("private-gram", "implicit", CENTRAL, "", ""),
    "ease": ("private-gram", "implicit", EXACT, "", "[model.recommender]\nnoise-multiplier = 0.001\nform = gram\nitems = 40\nridge = 4"),
    "gram-values": ("private-gram", "explicit", CENTRAL, "", ""),
    "gram-home": ("private-gram", "implicit", CENTRAL, FEATURES + NAMES, HOME),
    "ratings": ("private-ratings", "explicit", CENTRAL, "", ""),
    "ratings-home": ("private-ratings", "explicit", CENTRAL, FEATURES, HOME),
    "biases": ("private-biases", "explicit", CENTRAL, "", ""),
    "biases-home": ("private-biases", "explicit", CENTRAL, FEATURES, HOME),
    "als": ("private-als", "explicit", CENTRAL, "", ""),
    "dplcf": ("dplcf", "implicit", LOCAL, "", "[model.recommender]\nepsilon = 8\nneighbours = 20"),
    "ldpicf": ("ldpicf", "implicit", LOCAL, "", "[model.recommender]\nepsilon = 8\nneighbours = 20\nhistory = own"),
}


def dpframe(*arguments, code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise AssertionError(f"dpframe {' '.join(map(str, arguments))}: {done.returncode}, {done.stderr}")
    return done


def browse(page):
    """The document after its scripts have run."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
             "--virtual-time-budget=10000", "--dump-dom", page.as_uri()],
            capture_output=True, text=True, timeout=240, check=False)
    return done.stdout


def result(document):
    found = re.search(r'<pre id="result">(.*?)</pre>', document, re.S)
    if not found:
        raise AssertionError(f"the page ends without a result: {document[-2000:]}")
    return json.loads(html.unescape(found.group(1)))


def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)


def records(rng, user):
    """Users of two tastes, and of different length."""
    own = {}
    for item in rng.sample(range(ITEMS), rng.randint(1, 25)):
        likes = (item % 2 == user % 2) + rng.random()
        if likes > 0.4 or not own:
            own[f"i{item}"] = max(1, min(5, round(2 + 1.5 * likes + rng.gauss(0, 0.7))))
    return own


def generate(folder):
    rng = random.Random(5)
    rows = [(f"u{u}", item, value) for u in range(USERS) for item, value in records(rng, u).items()]
    rows += [("u0", f"i{i}", 3) for i in range(ITEMS) if ("u0", f"i{i}") not in {row[:2] for row in rows}]
    write_csv(folder / "explicit.csv", ["user", "item", "rating"], rows)
    write_csv(folder / "implicit.csv", ["user", "item"], [row[:2] for row in rows])
    people = {f"p{p}": records(rng, p) for p in range(PEOPLE)}
    rows = [(person, item, value) for person, own in people.items() for item, value in own.items()]
    write_csv(folder / "people-explicit.csv", ["user", "item", "rating"], rows)
    write_csv(folder / "people-implicit.csv", ["user", "item"], [row[:2] for row in rows])
    words = ["Star", "Return", "River", "Night", "Garden", "Winter"]
    write_csv(folder / "items.csv", ["item", "title", "genres"], [
        (f"i{i}", f"{rng.choice(words)} {rng.choice(words)} ({1960 + rng.randint(0, 40)})",
         "|".join(sorted(rng.sample(["Comedy", "Drama", "War", "Western"], rng.randint(1, 2)))))
        for i in range(ITEMS)])
    # An item without a name has its id on the page.
    names = [(f"i{i}", FOREIGN if i == 1 else f"The {i}th Film (19{40 + i})") for i in range(ITEMS) if i != 13]
    write_csv(folder / "names.csv", ["item", "title"], names)
    return people


def configure(folder, case):
    recommender, feedback, kind, data, model = CASES[case]
    sections = model.startswith("[")
    if feedback == "explicit":
        data += "\nvalue-min = 1\nvalue-max = 5"
    data += "\nitems-file = ids.txt"
    path = folder / f"{case}.ini"
    path.write_text(SHARED.format(
        path=f"{feedback}.csv", feedback=feedback, data=data, recommender=recommender,
        model="" if sections else model, more=model if sections else "", **kind))
    return path, feedback


def part(page, attributes):
    return re.search(rf"<script{attributes}>(.*?)</script>", page, re.S).group(1)


@unittest.skipUnless(BROWSER, "chromium was not found: scripts/setup browser installs it")
class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="dpframe-page-"))
        cls.people = generate(cls.folder)
        (cls.folder / "ids.txt").write_text("".join(f"i{i}\n" for i in range(ITEMS)))
        cls.pages, cls.expected = {}, {}
        for case in CASES:
            config, feedback = configure(cls.folder, case)
            run = cls.folder / case
            dpframe("run", config, "-q", "-O", run)
            printed = dpframe("page", run).stdout.strip()
            assert printed == f"{run}/release/page.html", printed
            cls.pages[case] = Path(printed)
            dpframe("recommend", run, "--data", cls.folder / f"people-{feedback}.csv", "--all", "-n", ITEMS,
                    "--output", cls.folder / "lists.csv")
            with open(cls.folder / "lists.csv", newline="", encoding="utf-8") as stream:
                lists = list(csv.DictReader(stream))
            cls.expected[case] = {
                person: {row["item"]: float(row["score"]) for row in lists if row["user"] == person}
                for person in cls.people}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_scores_are_those_of_recommend(self):
        """One visit for all: the models of all pages beside the script that they share."""
        texts = {case: path.read_text(encoding="utf-8") for case, path in self.pages.items()}
        scorers = {part(text, "") for text in texts.values()}
        self.assertEqual(len(scorers), 1)
        models = {case: json.loads(part(text, ' id="model" type="application/json"')) for case, text in texts.items()}
        data = json.dumps({"models": models, "people": self.people}).replace("<", "\\u003c")
        page = self.folder / "scores.html"
        page.write_text(
            f"""<!DOCTYPE html><meta charset="utf-8"><script id="data" type="application/json">{data}</script>
<script>{scorers.pop()}</script><pre id="result"></pre><script>
const data = JSON.parse(document.getElementById('data').textContent), out = {{}};
let far = 0, counted = 0;
for (const [name, said] of Object.entries(data.models)) {{
  const model = dpframe.open(said), at = new Map(said.ids.map((id, i) => [id, i]));
  out[name] = {{}};
  for (const [person, own] of Object.entries(data.people)) {{
    const records = new Map(Object.entries(own).map(([id, value]) => [at.get(id), value]));
    const scores = model.scores(records), list = model.list(records, said.items);
    out[name][person] = list.map(({{item}}) => [said.ids[item], scores[item]]);
    const item = list[0].item, adds = model.adds(records, item);
    for (const one of adds) {{
      const rest = new Map(records);
      rest.delete(one.item);
      far = Math.max(far, Math.abs(one.adds - (scores[item] - model.scores(rest)[item])));
    }}
    counted += adds.length;
  }}
}}
document.getElementById('result').textContent = JSON.stringify({{scores: out, far, counted}});
</script>""", encoding="utf-8")
        seen = result(browse(page))
        scores = seen["scores"]
        self.assertLess(seen["far"], 1e-12)  # what a record adds is the score less that without it
        self.assertEqual(seen["counted"], len(CASES) * sum(len(own) for own in self.people.values()))
        for case in CASES:
            predicts = case.split("-")[0] in ("ratings", "biases", "als")
            compared = 0
            for person, expected in self.expected[case].items():
                got = dict(scores[case][person])
                self.assertEqual(set(got), set(expected), f"{case}, {person}")
                for item, score in expected.items():
                    shown = min(max(got[item], 1), 5) if predicts else got[item]
                    self.assertLess(abs(shown - score), TOLERANCE, f"{case}, {person}, {item}")
                    compared += 1
                ranked = list(expected)
                for (item, score), (other, _) in zip(scores[case][person], ((i, 0) for i in ranked)):
                    self.assertLess(abs(expected[item] - expected[other]), TOLERANCE, f"{case}, {person}: order")
            self.assertGreater(compared, 200, case)
            spread = [score for own in self.expected[case].values() for score in own.values()]
            self.assertGreater(max(spread) - min(spread), 100 * TOLERANCE, case)

    def test_a_person_rates_and_reads_a_list(self):
        """Pages as they are, under their policy, in frames of 390 pixels: Chromium's window has 500 at least."""
        cases = {"ratings-home": (True, "i1"), "gram-home": (False, "BOLD amelie")}
        frames = "".join(
            f'<iframe id="{case}" data-query="{query}" width="390" height="1400" srcdoc="'
            f'{html.escape(self.pages[case].read_text(encoding="utf-8"))}"></iframe>' for case, (_, query) in cases.items())
        page = self.folder / "use.html"
        page.write_text(f"""<!DOCTYPE html><meta charset="utf-8"><pre id="result"></pre>{frames}<script>
function use(frame) {{
  const view = frame.contentWindow, page = view.document, at = (id) => page.getElementById(id);
  const list = () => [...at('best').querySelectorAll('li > .row > span:first-child')].map((x) => x.textContent);
  const out = {{before: list(), width: page.documentElement.scrollWidth}};
  at('query').value = frame.dataset.query;
  at('query').dispatchEvent(new view.Event('input'));
  out.found = at('found').textContent;
  const control = at('hits').querySelector('[data-item]');
  out.control = control.tagName;
  out.hits = [...at('hits').children].map((x) => x.firstChild.textContent);
  out.rated = control.closest('li').firstChild.textContent;
  out.bold = at('hits').querySelectorAll('b').length;
  control.focus();
  if (control.tagName === 'SELECT') control.value = '5'; else control.checked = true;
  control.dispatchEvent(new view.Event('change'));
  out.kept = page.activeElement === control;
  out.after = list();
  out.mine = at('count').textContent;
  const why = at('best').querySelector('details');
  why.open = true;
  why.dispatchEvent(new view.Event('toggle'));
  out.why = why.textContent;
  /* What the keyboard reaches: native controls, in the order of the document, each with a name. */
  const reached = [...page.querySelectorAll('input, select, button, summary, a[href]')].filter((x) => x.offsetParent);
  out.named = reached.every((x) => x.getAttribute('aria-label') || x.textContent.trim() || (x.labels && x.labels.length));
  out.reached = reached.length;
  out.tabindex = page.querySelectorAll('[tabindex]').length;
  /* A control of the list is gone once its item is rated: the focus goes to the next one. */
  const first = at('best').querySelector('[data-item]');
  first.focus();
  if (first.tagName === 'SELECT') first.value = '4'; else first.checked = true;
  first.dispatchEvent(new view.Event('change'));
  out.next = page.activeElement === at('best').querySelector('[data-item]');
  at('query').value = 'i13';
  at('query').dispatchEvent(new view.Event('input'));
  out.unnamed = [...at('hits').children].map((x) => x.firstChild.textContent);
  at('forget').click();
  out.again = list();
  out.none = at('count').textContent;
  out.focus = page.activeElement.id;
  return out;
}}
window.addEventListener('load', () => {{
  const out = {{}};
  for (const frame of document.querySelectorAll('iframe')) out[frame.id] = use(frame);
  document.getElementById('result').textContent = JSON.stringify(out);
}});
</script>""", encoding="utf-8")
        seen = result(browse(page))
        self.assertEqual(seen["gram-home"]["rated"], FOREIGN)
        self.assertEqual(seen["gram-home"]["bold"], 0)
        self.assertEqual(seen["gram-home"]["unnamed"], ["i13"])
        for case, (rates, _) in cases.items():
            got = seen[case]
            self.assertLessEqual(got["width"], 390)
            # What is found stands in the order of the first list, as far as it is shown.
            first = [title for title in got["before"] if title in got["hits"]]
            self.assertEqual(first, got["hits"][: len(first)])
            self.assertEqual(got["control"], "SELECT" if rates else "INPUT")
            self.assertIn("found", got["found"])
            self.assertTrue(got["kept"])
            self.assertEqual(got["mine"], "(1)")
            self.assertNotEqual(got["before"], got["after"])
            self.assertEqual(len(got["before"]), 20)
            self.assertNotIn(got["rated"], got["after"])
            self.assertRegex(got["why"], "comes from|everybody")
            self.assertTrue(got["named"])
            self.assertGreater(got["reached"], 30)
            self.assertEqual(got["tabindex"], 0)
            self.assertTrue(got["next"])
            self.assertEqual(got["again"], got["before"])
            self.assertEqual((got["none"], got["focus"]), ("", "query"))

    def test_nothing_can_leave_the_page(self):
        """The policy names what is there by its hash; no part of the page names another place."""
        for case, path in self.pages.items():
            page = path.read_text(encoding="utf-8")
            policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
            parts = [piece.strip() for piece in policy.split(";")]
            self.assertIn("default-src 'none'", parts)
            self.assertIn("form-action 'none'", parts)
            self.assertIn("base-uri 'none'", parts)
            self.assertNotIn("unsafe", policy)
            self.assertNotRegex(policy, r"https?:|\*")
            contents = re.findall(r"<script>(.*?)</script>", page, re.S) + re.findall(r"<style>(.*?)</style>", page, re.S)
            self.assertEqual(len(contents), 3)
            for content in contents:
                digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
                self.assertIn(f"'sha256-{digest}'", policy, case)
            for word in ("fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "EventSource", "location", "window.open",
                         "localStorage", "sessionStorage", "indexedDB", "cookie", "innerHTML", "http:", "https:"):
                self.assertNotIn(word, "".join(contents), word)

    def test_only_the_release_is_read(self):
        for case in ("gram", "ratings-home", "dplcf"):
            run = self.folder / case
            before = self.pages[case].read_bytes()
            shutil.move(run / "private", self.folder / "away")
            try:
                dpframe("page", run, "--output", self.folder / "again.html")
            finally:
                shutil.move(self.folder / "away", run / "private")
            self.assertEqual((self.folder / "again.html").read_bytes(), before)
            for user in ("u1", "u299"):
                self.assertNotIn(f'"{user}"'.encode(), before)


class Refusals(unittest.TestCase):
    """Without a browser, too."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dpframe-page-"))
        generate(self.folder)
        (self.folder / "ids.txt").write_text("".join(f"i{i}\n" for i in range(ITEMS)))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def refused(self, *overrides, case="dplcf", code=2):
        config, _ = configure(self.folder, case)
        run = self.folder / "run"
        dpframe("run", config, "-q", "-O", run, *[word for o in overrides for word in ("-o", o)])
        return dpframe("page", run, code=code).stderr

    def test_reported_histories(self):
        said = self.refused("model.recommender.history=reported", case="ldpicf")
        self.assertIn("[model.recommender] history = own", said)

    def test_what_is_no_released_state(self):
        path = self.folder / "base.ini"
        path.write_text("[data]\nformat = csv\npath = implicit.csv\nfeedback = implicit\n[model]\nkind = popularity\n")
        dpframe("run", path, "-q", "-o", "run.verdict=no", "-O", self.folder / "base")
        self.assertIn("no state of a recommender is released", dpframe("page", self.folder / "base", code=2).stderr)
        self.assertIn("name the output directory", dpframe("page", self.folder, code=2).stderr)
        self.assertIn("name the directory of one run", dpframe("page", code=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"] + sys.argv[1:])
