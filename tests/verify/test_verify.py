#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Certificates of all shipped configurations are confirmed, and changed ones are not.

Run by ctest, which sets DPFRAME and DPFRAME_SOURCE_DIR."""
import copy
import functools
import glob
import importlib.machinery
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ.get("DPFRAME_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "..", ".."))
DPFRAME = os.environ.get("DPFRAME", os.path.join(SOURCE, "build/release/dpframe"))
SCRIPT = os.path.join(SOURCE, "scripts", "dpframe-verify")
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("dpframe_verify", SCRIPT)
v = importlib.util.module_from_spec(importlib.util.spec_from_loader("dpframe_verify", loader))
loader.exec_module(v)

HAS_DATA = os.path.isdir(os.path.join(SOURCE, "data"))

# What nobody can check with one configuration: a selection has those of its candidates.
NOT_VERIFIED = {"recommended/selected.ini": "released metrics", "sweeps/selected-gradient.ini": "released metrics"}
SLOW = {"corrected/dpmf-rp.ini", "corrected/dpmf-rp-ml-1m.ini", "corrected/dp-sgd.ini", "corrected/dp-sgd-ranking.ini"}


def certificate_of(config, *more):
    """The certificate of a configuration, or None where its data set is absent or it is a sweep."""
    return copy.deepcopy(made_certificate(config, *more))


@functools.lru_cache(maxsize=None)
def made_certificate(config, *more):
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "certificate.json")
        done = subprocess.run([DPFRAME, "account", "-q", "-c", os.path.join(SOURCE, "configs", config), "--certificate", file,
                               *more], capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 3 or "describes a sweep" in done.stderr or "[users] solver" in done.stderr:
            return None
        if done.returncode != 0:
            raise AssertionError(f"{config}: {done.stderr}")
        with open(file, encoding="utf-8") as stream:
            return json.load(stream)


def verdict(root):
    """(status or "refused", lines)"""
    lines = []
    try:
        return v.verify(root, lines.append), lines
    except v.Contradiction as reason:
        return "refused", [str(reason)]


def shipped():
    pattern = os.path.join(SOURCE, "configs", "*", "*.ini")
    found = [os.path.relpath(f, os.path.join(SOURCE, "configs")) for f in glob.glob(pattern)]
    return ["quickstart.ini"] + sorted(f for f in found if f.split("/")[0] not in ("data", "reproduce"))


class Shipped(unittest.TestCase):
    def test_every_shipped_configuration_is_verified(self):
        seen = proved = 0
        for config in shipped():
            root = certificate_of(config)
            if root is None:
                continue
            seen += 1
            status, lines = verdict(root)
            if config in NOT_VERIFIED:
                self.assertEqual(status, 1, config)
                self.assertIn(NOT_VERIFIED[config], " ".join(lines))
                continue
            # Without its data set a configuration may not say how many items there are.
            if not HAS_DATA and status == 1 and "is not stated" in " ".join(lines):
                print(f"skipped: {config}: its data set is not here")
                continue
            self.assertEqual(status, 0, f"{config}: {lines}")
            proved += bool(root["statement"]["proved"])
        self.assertGreater(seen, 40 if HAS_DATA else 10)
        self.assertGreater(proved, 25 if HAS_DATA else 5)


def set_all(root, path, value):
    at = root
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value


def changes(root):
    """(what, changed certificate): each says something that is not so, or claims more than is proved."""
    def changed(what, change):
        other = copy.deepcopy(root)
        change(other)
        return what, other

    s = root["statement"]
    for i, event in enumerate(root["events"]):
        blind = event["kind"] == "non-private"
        recommender = event["source"].startswith("recommender ")
        if not blind and event["scale"] and event["kind"] != "pbm":
            for factor in (1.02, 0.98):
                yield changed(f"scale x {factor} of event {i}",
                              lambda r, i=i, f=factor: r["events"][i].update(scale=r["events"][i]["scale"] * f))
        if event["kind"] in ("pbm", "randomized-response"):
            yield changed("less noise", lambda r, i=i: r["events"][i]["parameters"].__setitem__(
                0, r["events"][i]["parameters"][0] * (1.05 if event["kind"] == "pbm" else 0.9)))
            yield changed("more noise", lambda r, i=i: r["events"][i]["parameters"].__setitem__(
                0, r["events"][i]["parameters"][0] * (0.95 if event["kind"] == "pbm" else 1.1)))
        for more in (1, -1):
            yield changed(f"count {more:+} of event {i}",
                          lambda r, i=i, m=more: r["events"][i].update(count=r["events"][i]["count"] + m))
        yield changed(f"event {i} left out", lambda r, i=i: r["events"].pop(i))
        yield changed(f"event {i} twice", lambda r, i=i: r["events"].append(copy.deepcopy(r["events"][i])))
        if not recommender:
            yield changed(f"a block of event {i} uncovered", lambda r, i=i: r["events"][i]["blocks"].pop())
            yield changed(f"a block more in event {i}", lambda r, i=i: r["events"][i]["blocks"].append("7"))
        if event["sampling"]["kind"] == "poisson":
            yield changed("rate", lambda r, i=i: r["events"][i]["sampling"].update(rate=0.01))
        if not blind and event["kind"] != "pbm":
            def shrink(r, i=i):
                norms = r["events"][i]["sensitivity"][s["unit"]][s["adjacency"]]
                for k in norms:
                    norms[k] = norms[k] * 0.9 if norms[k] is not None else None
            yield changed(f"sensitivity of event {i}", shrink)
        if not blind:
            yield changed(f"kind of event {i}", lambda r, i=i: r["events"][i].update(kind="non-private"))
            yield changed(f"event {i} said to be blind", lambda r, i=i: r["events"][i].update(flags=["data-blind"]))
    for claim in range(len(s["proved"])):
        def smaller(r, claim=claim):
            for c in r["statement"]["proved"]:
                c["epsilon"] *= 0.9
        yield changed("epsilon", smaller)
    yield changed("unit", lambda r: r["statement"].update(unit="record" if s["unit"] == "user" else "user"))

    def adjacency(r):
        to = "replace" if s["adjacency"] != "replace" else "replace-value"
        r["statement"]["adjacency"] = r["configuration"]["privacy"]["adjacency"] = to
        for c in r["statement"]["proved"]:
            c["adjacency"] = to
    if s["unit"] == "user":
        yield changed("adjacency, everywhere", adjacency)
    yield changed("adjacency", lambda r: r["statement"].update(
        adjacency="add-remove" if s["adjacency"] == "replace-value" else "replace-value"))
    yield changed("a condition", lambda r: r["statement"]["conditions"][1].update(holds=False))
    yield changed("a condition left out", lambda r: r["statement"]["conditions"].pop())
    yield changed("rounds", lambda r: r["configuration"]["run"].update(
        rounds=str(int(r["configuration"]["run"]["rounds"]) + 1))) if not root["configuration"]["model"]["recommender"] \
        else changed("noise", lambda r: r["statement"].update(noise_factor=(s.get("noise_factor") or 1) * 1.05)
                     if "noise_factor" in s else r["events"].clear())
    for section, keys in root["configuration"].items():
        if ".transform.clip-user" in section or ".transform.clip-rows" in section:
            side = section.split(".transform")[0]
            chosen = root["configuration"][side]
            if chosen.get("mechanism") in ("pbm", "none", "", None):
                continue
            if ".clip-rows" in section and "clip-user" in chosen.get("transforms", ""):
                continue
            key = "block-bounds" if keys.get("block-bounds") else "bound"
            for factor in (1.1, 0.8):
                text = ", ".join(str(float(x) * factor) for x in keys[key].split(","))
                yield changed(f"[{section}] {key} = {text}",
                              lambda r, section=section, key=key, text=text: r["configuration"][section].update({key: text}))
        if section.endswith(".mechanism"):
            for key in ("noise-multiplier", "epsilon", "theta"):
                used = key in keys and keys.get("calibration", "noise-multiplier") == "noise-multiplier" and not (
                    key == "epsilon" and "noise-multiplier" in keys)
                if used:
                    yield changed(f"[{section}] {key}", lambda r, section=section, key=key: r["configuration"][section].update(
                        {key: str(float(r["configuration"][section][key]) * 1.05)}))
        if section.endswith(".sampler"):
            for key, value in (("rate", "0.31"), ("groups", "6"), ("secrecy", "none")):
                if key in keys and keys[key] != value:
                    yield changed(f"[{section}] {key}", lambda r, section=section, key=key, value=value:
                                  r["configuration"][section].update({key: value}))


class Changed(unittest.TestCase):
    def test_what_is_changed_is_refused(self):
        tried = 0
        for config in shipped():
            root = certificate_of(config) if config not in NOT_VERIFIED and config not in SLOW else None
            if root is None or not root["statement"]["proved"]:
                continue
            for what, other in changes(root):
                tried += 1
                status, lines = verdict(other)
                self.assertNotEqual(status, 0, f"{config}: {what}: {lines}")
        self.assertGreater(tried, 400)

    def test_composed_claims_that_are_too_small_are_not_confirmed(self):
        for config in sorted(SLOW & {"corrected/dp-sgd-ranking.ini", "corrected/dpmf-rp.ini"}):
            root = certificate_of(config)
            if root is None:
                continue
            for claim in root["statement"]["proved"]:
                claim["epsilon"] = min(c["epsilon"] for c in root["statement"]["proved"]) * 0.99
            status, lines = verdict(root)
            self.assertEqual(status, 1, f"{config}: {lines}")
            own = float(lines[-2].rsplit(" ", 1)[-1].rstrip("."))
            self.assertLess(own, 1.03 * claim["epsilon"] / 0.99)  # within 3 % of the tight claim

    def test_limits_on_participations(self):
        for most, count in ((2, 2), (99, 100)):
            root = certificate_of("corrected/dp-sgd.ini", "-o", "privacy.budget=per-release", "-o",
                                  "items.mechanism.noise-multiplier=4", "-o", f"items.max-participations={most}")
            if root is None:
                continue
            self.assertEqual(root["events"][0]["count"], count)
            self.assertEqual(verdict(root)[0], 0)
            root["configuration"]["items"]["max-participations"] = str(most + 1)
            if most == 2:
                self.assertEqual(verdict(root)[0], "refused")
            root["events"][0]["count"] = 1
            self.assertEqual(verdict(root)[0], "refused")

    def test_no_file_stops_it(self):
        root = certificate_of("quickstart.ini")
        for broken in ("", "{}", "[]", "{\"format\": 1}", json.dumps({"format": v.FORMAT}), json.dumps(root)[:-50]):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write(broken)
                file.flush()
                done = subprocess.run([sys.executable, SCRIPT, file.name], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 2, broken)
                self.assertIn("REFUSED", done.stderr)
                self.assertNotIn("Traceback", done.stderr)


RUN = """[run]
rounds = 2
[data]
path = ratings.csv
header = yes
fields = 3
value-min = 1
value-max = 5
[split]
kind = none
[model]
users = 50
rank = 2
offset = midpoint
[users]
loss = explicit-als
solver = cholesky
[items]
loss = squared-error
transforms = clip-user
mechanism = gaussian
solver = gradient-descent
[items.mechanism]
calibration = noise-multiplier
noise-multiplier = 4
where = sum
[privacy]
unit = user
adjacency = add-remove
observer = outsider
delta = 1e-6
id-lists = public
[accountants]
list = pld, rdp
[evaluate]
metrics = rmse
"""


class Runs(unittest.TestCase):
    def run_with(self, directory, users):
        os.makedirs(directory)
        with open(os.path.join(directory, "ratings.csv"), "w", encoding="utf-8") as stream:
            stream.write("user,item,rating\n")
            for u in range(users):
                stream.writelines(f"u{u},i{(u + k) % 7},{1 + (u * k) % 5}\n" for k in range(7))
        config = os.path.join(directory, "run.ini")
        with open(config, "w", encoding="utf-8") as stream:
            stream.write(RUN)
        out = os.path.join(directory, "out")
        done = subprocess.run([DPFRAME, "run", "-q", config, "-O", out], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(out, "release", "certificate.json"), encoding="utf-8") as stream:
            return stream.read()

    def test_a_run_leaves_a_certificate_that_says_nothing_of_who_was_there(self):
        with tempfile.TemporaryDirectory() as directory:
            one = self.run_with(os.path.join(directory, "one"), 30)
            other = self.run_with(os.path.join(directory, "other"), 29)
        self.assertEqual(one, other)
        root = json.loads(one)
        self.assertTrue(root["statement"]["proved"])
        self.assertEqual(root["rows"], {"users": 50, "items": 7})
        status, lines = verdict(root)
        self.assertEqual(status, 0, lines)
        self.assertNotIn(directory, one)
        self.assertNotIn("seed", json.dumps(root["configuration"]["run"]) + json.dumps(root["configuration"]["privacy"]))


class Numbers(unittest.TestCase):
    def test_gaussian_deltas(self):
        # The equation solved by bisection in 60-digit arithmetic: mu, epsilon, delta.
        for mu, epsilon, delta in ((0.268051123211, 1, 1e-5), (40.2408548975, 1000, 1e-6), (442.971265754, 100000, 1e-5)):
            found = v.bisect_up(lambda e, mu=mu, delta=delta: v.gaussian_delta(mu, e) <= delta)
            self.assertGreater(found, epsilon * (1 - 1e-9))
            self.assertLess(found, epsilon * (1 + 1e-9))

    def test_never_below_the_truth_and_close(self):
        # By dpframe's own lower bounds, of everything that this program confirms.
        for config in ("quickstart.ini", "corrected/dp-sgd-ranking.ini", "corrected/dp-ftrl-ranking.ini"):
            root = certificate_of(config)
            if root is None:
                continue
            c = v.Certificate(root)
            pairs = v.match_events(c, v.expected_releases(c))
            for claim in root["statement"]["proved"]:
                if claim["epsilon_lower"]:
                    own = v.epsilon_of(c, pairs, claim["delta"], claim["epsilon"])
                    self.assertGreaterEqual(own, claim["epsilon_lower"] * (1 - 1e-9), config)
                    self.assertLess(own, claim["epsilon"] * 1.03, config)

    def test_a_composition_of_one_is_exact(self):
        for mu, q in ((0.5, 0.3), (1.0, 0.1)):
            for removal in (True, False):
                pair = v.Sampled(mu, q, removal)
                exact = v.bisect_up(lambda e, pair=pair: (lambda pq: pq[0] - math.exp(e) * pq[1])(pair.above(e)) <= 1e-6, 50)
                found = v.compose([(pair, 1)], 1e-6, exact * 1.001)
                self.assertGreaterEqual(found, exact * (1 - 1e-9))
                self.assertLess(found, exact * (1 + 1e-3) + 1e-6)

    def test_bits(self):
        # Randomized response, composed, by sums over all 2^n outcomes.
        p, n = 0.7, 8
        for delta in (1e-1, 1e-2, 1e-3):
            exact = v.bisect_up(lambda e, delta=delta: sum(
                math.comb(n, k) * max(0.0, p ** k * (1 - p) ** (n - k) - math.exp(e) * p ** (n - k) * (1 - p) ** k)
                for k in range(n + 1)) <= delta, 50)
            found = v.two_points_epsilon(p, n, delta)
            self.assertGreaterEqual(found, exact * (1 - 1e-9))
            self.assertLess(found, exact * (1 + 1e-3))

    def test_skellam_noise(self):
        # 2 ln(I_0/I_1), by 40-digit series.
        for variance, bend in ((4.0, 0.2934703928347744), (100.0, 0.0100504647022707)):
            self.assertAlmostEqual(v.skellam_bend(variance) / bend, 1, places=5)


PARTS = {"shipped": Shipped, "changed": Changed, "runs": Runs, "numbers": Numbers}

if __name__ == "__main__":
    names = [a for a in sys.argv[1:] if a in PARTS] or list(PARTS)
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(PARTS[name]) for name in names)
    sys.exit(not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful())
