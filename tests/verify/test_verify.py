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
import re
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

# Of configurations whose data set is not here: as "dpframe account" is asked about data that nobody has yet.
DECLARED = ("-o", "model.users=2000", "-o", "model.items=1700")
# Accounting of the Poisson binomial mechanism takes long; one of these is verified in every run, the others in slow ones.
LONG = {"corrected/dpmf-rp.ini", "corrected/dpmf-rp-ml-1m.ini", "papers/dpmf-rp-case2.ini", "papers/dpmf-rp-case2-exact.ini",
        "papers/dpmf-rp-case3.ini"}
ALL = "all" in sys.argv[1:]
HAS_DATA = os.path.isdir(os.path.join(SOURCE, "data"))  # else configurations that name a public file are left out


def certificate_of(config, *more):
    """The certificate of a configuration, or None where it is no whole one: a sweep, or changes to another."""
    return copy.deepcopy(made_certificate(os.path.join(SOURCE, "configs", config), *more))


@functools.lru_cache(maxsize=None)
def made_certificate(config, *more):
    root = one_certificate(config, *more)
    if root and not all(root["rows"].values()):
        root = one_certificate(config, *more, *DECLARED) or root
    return root


def one_certificate(config, *more):
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "certificate.json")
        done = subprocess.run([DPFRAME, "account", "-q", "-c", config, "--certificate", file, *more], capture_output=True,
                              text=True, timeout=600, check=False)
        partial = ("describes a sweep", "[users] solver", "data.path is missing")
        if done.returncode == 2 and (any(text in done.stderr for text in partial) or
                                     "number of parties" in done.stderr and "model.users=2000" in more):
            return None
        if done.returncode == 3 and "No such file or directory" in done.stderr and not HAS_DATA:
            return None
        if done.returncode != 0:
            raise AssertionError(f"{config}: {done.stderr}")
        with open(file, encoding="utf-8") as stream:
            return json.load(stream)


def keep(function, key):
    """The same answers, each computed once: most changes leave what is composed as it is."""
    known = {}

    def kept(*arguments):
        at = key(*arguments)
        if at not in known:
            known[at] = function(*arguments)
        return known[at]
    return kept


def pairs_key(parts, delta, wanted):
    return tuple((type(p).__name__, getattr(p, "removal", 0), getattr(p, "q", 1), p.reach, n) for p, n in parts), delta, wanted


v.compose = keep(v.compose, pairs_key)
v.pbm_epsilon = keep(v.pbm_epsilon, lambda e, zero, delta, wanted: (*e["parameters"], e["count"], zero, delta, wanted))


def verdict(root):
    """(status or "refused", lines)"""
    lines = []
    try:
        return v.verify(root, lines.append), lines
    except v.Contradiction as reason:
        return "refused", [str(reason)]


def quick_verdict(root):
    """As the program says it, whatever it meets."""
    try:
        return v.verify(root, lambda text: None)
    except (v.Contradiction, ValueError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError):
        return 2


def shipped():
    pattern = os.path.join(SOURCE, "configs", "*", "*.ini")
    found = [os.path.relpath(f, os.path.join(SOURCE, "configs")) for f in glob.glob(pattern)]
    return ["quickstart.ini"] + sorted(f for f in found if f.split("/")[0] not in ("data", "reproduce"))


class Shipped(unittest.TestCase):
    def test_every_shipped_configuration_is_verified(self):
        seen = proved = 0
        for config in shipped():
            root = certificate_of(config) if ALL or config not in LONG else None
            if root is None:
                continue
            seen += 1
            status, lines = verdict(root)
            self.assertEqual(status, 0, f"{config}: {lines}")
            proved += bool(root["statement"]["proved"])
        self.assertGreater(seen, 70 if HAS_DATA else 20)
        self.assertGreater(proved, 25 if HAS_DATA else 5)


# ---- kinds of pipelines that no shipped configuration has --------------------------------------------------------------

BASE = """[run]
rounds = 3
[data]
format = synthetic
synthetic.users = 50
synthetic.items = 30
synthetic.ratings = 900
value-min = 1
value-max = 5
[data.weights]
kind = groups
[split]
kind = random
fraction = 0.2
[model]
rank = 2
init-norm = 1
offset = midpoint
[users]
update = no
[items]
solver = gradient-descent
%s
[privacy]
unit = record
adjacency = replace-value
interaction-pattern = public
delta = 0
[accountants]
list = pure, heterogeneous
"""
TERM = """[items%s]
loss = squared-error
mechanism = laplace
sampler = %s
[items%s.loss]
clip-error = 4
[items%s.mechanism]
epsilon = 0.5
where = sum
"""


def of_records(sampler, *terms):
    text = "".join(TERM % (t, sampler, t, t) for t in (terms or ("",)))
    return BASE % ((f"terms = {', '.join(t[1:] for t in terms)}\n" if terms else "") + text)


NOISY = ("-o", "evaluate.release=noisy")
# (name, a shipped configuration or a text, settings, epsilon over the claim at least; None: it cannot be confirmed)
KINDS = [
    ("uneven flips", "audit/randomised-response.ini", ("-o", "model.recommender.keep=0.5"), 0.99),
    ("uneven flips of a user", "audit/randomised-response.ini",
     ("-o", "privacy.unit=user", "-o", "privacy.adjacency=replace", "-o", "model.recommender.keep=0.3"), 0.99),
    ("a divided budget", "corrected/user-level-als.ini", ("-o", "items.block-shares=0.3, 0.7"), 0.99),
    ("weights of users", "corrected/dp-sgd.ini", ("-o", "items.sampler.weight=inverse"), 0.99),
    ("weights of records", of_records("uniform"), (), 0.99),
    ("weights up to a bound", of_records("utility-optimal"), (), 0.4),
    ("weights by a search", of_records("importance"), (), None),
    ("personal budgets", of_records("personalised"), (), 0.4),
    ("terms by weight", of_records("by-privacy-weight", ".a", ".b"),
     ("-o", "items.a.sampler.below=0.5", "-o", "items.b.sampler.from=0.5", "-o", "items.b.mechanism.epsilon=2"), 0.3),
    ("stretched values", of_records("full"), ("-o", "items.transforms=stretch", "-o", "items.transform.stretch.center=3"), 0.99),
    ("metrics of lists", "recommended/ranking.ini", NOISY + ("-o", "evaluate.metrics=ndcg, hr", "-o", "evaluate.k=5, 10"), 0.99),
    ("metrics of lists with cut-offs of their names", "recommended/ranking.ini", NOISY + ("-o", "evaluate.k=5", "-o", "evaluate.metrics=ndcg@5, hr@5"), 0.99),
    ("all metrics, Laplace noise", "recommended/ranking.ini", NOISY + ("-o", "evaluate.release-noise=laplace"), 0.97),
    ("metrics, replace", "recommended/ratings.ini", NOISY + ("-o", "privacy.adjacency=replace",), 0.99),
    ("a Poisson number of runs", "recommended/selected.ini", ("-o", "select.repetitions=poisson"), 0.99),
    ("another law", "recommended/selected.ini", ("-o", "select.repetitions=negative-binomial", "-o", "select.eta=0.5"), 0.99),
    ("Laplace noise by privacy losses", "corrected/hdpmf.ini", ("-o", "accountants.list=pld", "-o", "privacy.delta=1e-5"), 0.99),
]


def kind_certificate(source, more):
    if source.endswith(".ini"):
        return certificate_of(source, *more)
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "kind.ini")
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(source)
        return one_certificate(file, *more)


class Kinds(unittest.TestCase):
    def test_each_kind_is_confirmed_or_says_why_not(self):
        for name, source, more, least in KINDS:
            root = kind_certificate(source, more)
            if root is None:
                continue
            self.assertTrue(root["statement"]["proved"], name)
            status, lines = verdict(root)
            if least is None:
                self.assertEqual(status, 1, f"{name}: {lines}")
                self.assertIn("NOT VERIFIED: ", lines[-1])
                continue
            self.assertEqual(status, 0, f"{name}: {lines}")
            own = [float(line.rsplit("at most ", 1)[1]) for line in lines if "at most" in line]
            tight = min(c["epsilon"] for c in root["statement"]["proved"])
            self.assertGreater(min(own), least * tight, name)
            # What is claimed too small, by a thousandth of this program's bound.
            for claim in root["statement"]["proved"]:
                claim["epsilon"] = min(own) * 0.999
                claim["epsilon_lower"] = None
            self.assertEqual(verdict(root)[0], 1, name)


# What may be changed without a refusal: (pattern of the path, why nothing that is claimed depends on it). A field that no
# line names has to be refused when it changes, so a new one is covered from the day on which it exists.
FREE = [
    (r"note|program\..*", "hashes and versions, which readers compare themselves"),
    (r"statement\.taken_as_public.*|statement\.conditions\.#\.(title|why)|facts\.#\.(what|keys)", "sentences"),
    (r"statement\.proved\.#\.(source|note|order|at_grid_end|epsilon_lower)", "how a claim was computed"),
    (r"statement\.(repeated_rounds|max_curious)", "absent where there is none"),
    (r"statement\.proved\.#", "fewer claims, or one twice, claim nothing more"),
    (r"events\.#\.(source|term)", "names: blocks, kinds and counts tell which release it is"),
    (r"rows\.(users|items)", "roundings alone, of which twice as much passes"),
    (r"configuration\.accountants.*", "this program has methods of its own"),
    (r"configuration\.data\.(item-names|(item|user)-features.*)|configuration\.data\.weights\..*|configuration\.data\.catalogue.*|"
     r"configuration\.data\.path", "public by declaration"),
    (r"configuration\.data\.(column\..*|encoding|duplicates|filter\.(users|keep|user-m.*)|feedback|value-m.*|threshold|"
     r"out-of-range|fields|format|header|relation\.(path|similarity)|users-file|items-file|multi-line|delimiter)|configuration\.split\..*",
     "forms of files: facts say who decides, and other keys may say the same"),
    (r"configuration\.privacy\.(tuning|on-violation|ledger.*|max-epsilon|calibrate-by|budget|total-epsilon|id-lists|min-honest)",
     "C5, C10 and C12 are believed; budgets choose noise, which is checked itself"),
    (r"configuration\.parties\..*|configuration\.model\.aggregator|"
     r"configuration\..*\.(aggregator|destination|send|source|returned|residual)(\..*)?", "C4 and C5 are believed"),
    (r"configuration\..*\.mechanism\.(where|simulate|modulus|lifetime)", "C4, C5 and C9 are"),
    (r"configuration\..*\.(mechanism\.(bound|delta|sigma|epsilon)|gram-share|block-shares)",
     "not read with this calibration, or seen in the event"),
    (r"configuration\.model\.home-terms", "fitted at home, from the own records and what is released"),
    (r"configuration\.model\.(init.*|offset.*|users|items|rank|.*-bias|kind)", "initial rows, and sizes of clipped messages"),
    (r"configuration\..*\.(solver|solve-at|max-participations)(\..*)?|configuration\.run\.(tolerance|update|order|until)",
     "what is made of releases; a limit that may not be counted on"),
    (r"configuration\..*\.loss\..*|configuration\.(users|items)\..*block-layout|configuration\.items\.block-layout",
     "under a clip of the message, or of a side that is not released"),
    (r"configuration\.users(\.rating|\.social)?\.(loss|mechanism|sampler|transforms|transform\..*|bounds|block-layout|terms|"
     r"update|max-participations)", "rows that stay with their users"),
    (r"configuration\..*\.transform\.(stretch|hadamard-flatten|sparse-projection|clip-rows)\..*|"
     r"configuration\..*\.transform\.clip-user\.bound|configuration\.items(\..*)?\.transforms",
     "lengthen nothing, or are behind a clip"),
    (r"configuration\.items\.sampler\..*|configuration\.items\.[ab]\..*", "weights before a clip"),
    (r"configuration\.model\.recommender\..*", "how a budget is divided: the sum over all releases is checked"),
    (r"configuration\.run\.rounds", "of a recommender"),
    (r"configuration\.evaluate\..*", "where no metrics are released"),
]


def is_free(path, root):
    """A claim does not depend on this value, whatever its name."""
    text = ".".join("#" if isinstance(x, int) else x for x in path)
    if path[0] == "events" and len(path) > 1:
        event = root["events"][path[1]]
        costs_nothing = event["kind"] in ("non-private", "selection", "candidate")
        drawn = event["sampling"]["kind"] != "none"
        if path[2:3] == ("sensitivity",):
            norm = "l1" if event["kind"] in ("discrete-laplace", "randomized-response", "pure") else "l2"
            claimed = (root["statement"]["unit"], root["statement"]["adjacency"], norm)
            return costs_nothing or event["kind"] == "pbm" or not claimed[:len(path) - 3] == path[3:]
        if path[2:3] == ("sampling",) and (costs_nothing or (not drawn and path[3:] and path[3] in ("unit", "secret_up_to"))):
            return True
        if costs_nothing and path[2:3] in (("side",), ("first_round",), ("noise_lifetime",), ("scale",), ("grid",), ("count",),
                                            ("blocks",)):
            return True
        if path[2:] == ("sampling", "secret_up_to") or path[2:3] == ("unweighted",):
            return True
        if event["kind"] == "pbm" and path[2:3] in (("scale",), ("grid",)):
            return True
    if text.endswith("sample-secrecy"):  # nothing is drawn, or nothing in secret
        return root["configuration"][path[-2]].get("sampler", "") in ("", "full", "cyclic-users", "by-privacy-weight")
    if "pbm" in root["configuration"].get("items", {}).values() and text.endswith(("clip-user.norm", "clip-rows.norm")):
        return True  # it clips each number by itself
    text = re.sub(r"^selection\.candidates\.#\.configuration", "configuration", text)
    return any(re.fullmatch(pattern, text) for pattern, _ in FREE)


def leaves(at, path=()):
    for key, value in (at.items() if isinstance(at, dict) else enumerate(at)):
        yield at, key, path + (key,)
        if isinstance(value, (dict, list)):
            yield from leaves(value, path + (key,))


@functools.lru_cache(maxsize=None)
def enumerations(name):
    """Of a section or component, what its table of parameters allows: {key: values}."""
    done = subprocess.run([DPFRAME, "describe", name, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {}
    found = json.loads(done.stdout)
    tables = found if isinstance(found, list) else [found]
    return {p["name"]: tuple(x["name"] for x in p.get("values", [])) for table in tables for p in table["parameters"]}


ROLES = {"mechanism": "mechanism", "sampler": "sampler", "loss": "loss", "solver": "solver", "aggregator": "aggregator",
         "recommender": "recommender"}


def allowed_values(root, path):
    if path[0] != "configuration" or len(path) != 3:
        return ()
    section, last = path[1], path[1].rsplit(".", 1)
    name = section
    if len(last) == 2 and last[1] in ROLES:
        name = f"{last[1]}:{root['configuration'].get(last[0], {}).get(last[1], '')}"
    elif ".transform." in section:
        name = "transform:" + section.split(".transform.")[1]
    return enumerations(name).get(path[2], ())


def other_values(root, path, value):
    if path[:2] == ("statement", "proved") and path[-1] == "epsilon":
        return [value * 0.5]  # a claim that is larger is true, too
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value + 1, value * 2 + 3] if isinstance(value, int) else [value * 1.1 + 0.01, value * 0.9 - 0.01]
    if value is None:
        return [1.0]
    if value in ("dplcf", "ldpicf"):  # which release the same bits
        return ["private-biases"]
    listed = [x for x in allowed_values(root, path) if x != value]
    if path[-1] == "sample-secrecy":  # more secrecy than a claim needs changes nothing
        listed = ["none"] if value != "none" else []
    if listed:  # what has an L1 norm of 1 has no larger L2 norm, and a multiplier of 1 may be a sigma of 1
        return [x for x in listed if (value, x) not in (("l2", "l1"), ("noise-multiplier", "sigma"))]
    try:
        number = float(value)
        return [repr(x) for x in (number * 1.1 + 0.01, number * 0.9) if x != number] if math.isfinite(number) else ["0.5"]
    except ValueError:
        return {"yes": ["no"], "no": ["yes"]}.get(value, [value + "x", ""])


def mutations(root):
    """(what, a function that changes the certificate, and one that takes that back): each leaf, each key and each element."""
    seen = {}
    for at, key, path in list(leaves(root)):
        if is_free(path, root):
            continue
        shape = tuple("#" if isinstance(x, int) else x for x in path)
        seen[shape] = seen.get(shape, 0) + 1
        if not ALL and seen[shape] > 2:
            continue
        old, name = at[key], ".".join(str(x) for x in path)
        if not isinstance(old, (dict, list)):
            for new in other_values(root, path, old):
                if new != old:
                    yield f"{name} = {new!r}", (lambda at=at, key=key, new=new: at.__setitem__(key, new)), \
                        (lambda at=at, key=key, old=old: at.__setitem__(key, old))
        if isinstance(at, list):
            yield f"{name} left out", (lambda at=at, key=key: at.pop(key)), (lambda at=at, key=key, old=old: at.insert(key, old))
            yield f"{name} twice", (lambda at=at, key=key, old=old: at.insert(key, old)), (lambda at=at, key=key: at.pop(key))
        elif path[0] != "configuration" and "configuration" not in path:  # there a key has its default
            before = dict(at)
            yield f"{name} left out", (lambda at=at, key=key: at.pop(key)), \
                (lambda at=at, before=before: (at.clear(), at.update(before)))


CHANGED = ["quickstart.ini", "audit/correlated-noise.ini", "audit/noise-in-shares.ini", "audit/randomised-response.ini",
           "corrected/dp-ftrl.ini", "corrected/dp-sgd.ini", "corrected/dpimf.ini", "corrected/privsr.ini", "corrected/hdpmf.ini",
           "corrected/user-level-als.ini", "papers/dpmf-rp.ini", "recommended/ranking.ini", "recommended/ratings.ini",
           "recommended/selected.ini"]


class Changed(unittest.TestCase):
    maxDiff = None

    def test_what_is_changed_is_refused(self):
        tried, missed = 0, []
        for config in CHANGED:
            root = certificate_of(config)
            if root is None:
                continue
            self.assertEqual(verdict(root)[0], 0, config)
            for what, change, undo in mutations(root):
                change()
                tried += 1
                if quick_verdict(root) == 0:
                    missed.append(f"{config}: {what}")
                undo()
        self.assertEqual(missed, [], f"{len(missed)} of {tried}")
        self.assertGreater(tried, 2000 if HAS_DATA else 500)
        print(f"{tried} changed certificates were refused")

    def test_a_new_field_is_covered(self):
        root = certificate_of("quickstart.ini")
        root["events"][0]["a new field"] = 1
        self.assertTrue(any("a new field" in what for what, _, _ in mutations(root)))

    def test_another_adjacency_everywhere(self):
        for config in ("quickstart.ini", "corrected/user-level-als.ini", "recommended/ratings.ini", "recommended/selected.ini"):
            root = certificate_of(config)
            if root is None:
                continue
            root["statement"]["adjacency"] = root["configuration"]["privacy"]["adjacency"] = "replace"
            for claim in root["statement"]["proved"]:
                claim["adjacency"] = "replace"
            self.assertNotEqual(verdict(root)[0], 0, config)

    def test_composed_claims_that_are_too_small_are_not_confirmed(self):
        for config in ("corrected/dp-sgd-ranking.ini", "papers/dpmf-rp.ini") + (("corrected/dpmf-rp.ini",) if ALL else ()):
            root = certificate_of(config)
            if root is None:
                continue
            tight = min(c["epsilon"] for c in root["statement"]["proved"])
            for claim in root["statement"]["proved"]:
                claim["epsilon"], claim["epsilon_lower"] = tight * 0.9, None
            status, lines = verdict(root)
            self.assertEqual(status, 1, f"{config}: {lines}")
            own = float(lines[-2].rsplit(" ", 1)[-1].rstrip("."))
            self.assertLess(own, 1.03 * tight)  # within 3 % of the tight claim

    def test_secrecy(self):
        root = certificate_of("corrected/dp-sgd.ini")
        if root is not None:
            self.assertEqual(root["configuration"]["items"]["sample-secrecy"], "outsider")
            for value in ("none", "parties"):  # amplification counts on it; users are drawn, who know of it
                root["configuration"]["items"]["sample-secrecy"] = value
                self.assertEqual(verdict(root)[0], "refused", value)

    def test_noise_in_shares(self):
        root = certificate_of("audit/noise-in-shares.ini", "-o", "items.aggregator=secagg", "-o", "privacy.observer=parties", "-o",
                              "privacy.min-honest=8", "-o", "privacy.max-curious=2", "-o", "items.aggregator.corrupt=0.2")
        root["configuration"]["parties"]["count"] = "9"
        self.assertEqual(verdict(root)[0], 0)
        for section, key, value in (("privacy", "min-honest", "9"), ("privacy", "min-honest", "-1"), ("privacy", "max-curious", "3"),
                                    ("privacy", "max-curious", "0"), ("items", "aggregator", "sum"),
                                    ("items.aggregator", "survivors", "9"), ("items.aggregator", "corrupt", "0.3"),
                                    ("parties", "kind", "silos-by-users"), ("items", "mechanism", "laplace")):
            changed = copy.deepcopy(root)
            changed["configuration"][section][key] = value
            changed["statement"]["max_curious"] = int(changed["configuration"]["privacy"]["max-curious"])
            self.assertEqual(verdict(changed)[0], "refused", f"{section} {key} {value}")
        for event in root["events"]:
            event["flags"] = []
        self.assertEqual(verdict(root)[0], "refused")

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
        self.assertNotIn(".;", str(lines))
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
                pair = v.Drawn(v.Gaussian(mu), q, removal)
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


PARTS = {"shipped": Shipped, "kinds": Kinds, "changed": Changed, "runs": Runs, "numbers": Numbers}

if __name__ == "__main__":
    names = [a for a in sys.argv[1:] if a in PARTS] or list(PARTS)
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(PARTS[name]) for name in names)
    sys.exit(not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful())
