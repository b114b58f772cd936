# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# How accuracy depends on the noise: a sweep of the quickstart, its table, and its picture. Run it with
# `DPFRAME=build/release/dpframe PYTHONPATH=python python3 docs/python_sweep.py`, or open it in an editor that knows the
# cell marks. The picture is drawn by the program, which needs gnuplot for it.

# %% A sweep is a configuration with a section [sweep]: here three noises, three seeds each.
import tempfile
from pathlib import Path

import dpframe

temporary = tempfile.TemporaryDirectory(prefix="dpframe-example-")
directory = Path(temporary.name)
config = directory / "noise.ini"
config.write_text(
    f"""include = {Path(__file__).resolve().parent.parent / "configs" / "quickstart.ini"}
[data]
synthetic.users = 300
synthetic.items = 40
synthetic.ratings = 4500
[model]
users = 300
[run]
compare =
[sweep]
question = How much does noise cost?
items.mechanism.noise-multiplier = 1, 2, 4
run.seed = 1..3
""",
    encoding="utf-8",
)
table = dpframe.sweep(config, output=directory / "sweep", jobs=2)

# %% The table has a row for each point and metric: pandas does the rest.
ndcg = table[table.metric == "ndcg@10"]
print(ndcg.groupby("noise-multiplier")["value"].agg(["mean", "std"]).round(3))

# %% The page with tables, intervals, tests and plots, and the plots by themselves.
page = dpframe.report(directory / "sweep")
pictures = sorted((directory / "sweep").rglob("*.svg"))
print(page.name, [picture.name for picture in pictures])

temporary.cleanup()
