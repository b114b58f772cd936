# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# From a pandas frame to private recommendations. Run it with
# `DPFRAME=build/release/dpframe PYTHONPATH=python python3 docs/python_example.py`, or open it in an editor that
# knows the cell marks.

# %% Interactions: any frame with a user and an item in its columns. These are made up: two tastes, half of the users each.
from pathlib import Path

import numpy as np
import pandas as pd

import dpframe

random = np.random.default_rng(1)
users, items, each = 3000, 60, 12
taste = np.arange(users) % 2
rows = [
    (f"user{u}", f"item{2 * i + taste[u] if random.random() < 0.85 else 2 * i + 1 - taste[u]}")
    for u in range(users)
    for i in random.choice(items // 2, each, replace=False)
]
interactions = pd.DataFrame(rows, columns=["user", "item"])
# %% What will be promised, before anything is trained.
config = Path(__file__).parent.parent / "configs" / "quickstart.ini"
settings = {
    # Declared: the catalogue is public. If it were not, data.items-file would name a list that is.
    "privacy.id-lists": "public",
    "model.users": users,
    "split.by": "random",
}
promise = dpframe.account(config, settings, data=interactions)
print(f"epsilon {promise.epsilon:.3f}, delta {promise.delta:g}, for one {promise.unit} ({promise.adjacency})")

# %% Train. The files are those that the command line writes, in a directory that goes with `run`; output= keeps them.
run = dpframe.run(config, settings, data=interactions)
print(run.to_frame()[["hr@10", "ndcg@10"]])
assert run.guarantee.epsilon == promise.epsilon
assert run.item_factors.shape[0] == len(run.item_ids)

# %% Recommendations for two users of different taste: even items for one, odd ones for the other.
for user in ("user0", "user1"):
    print(user, [row.item for row in run.recommend(user, n=5)])

# %% Mistakes are exceptions with the place and the remedy.
try:
    dpframe.run(config, {**settings, "items.mechanism.noise-multiplier": -1}, data=interactions)
except dpframe.ConfigurationError as error:
    print(error.key, error.value, "->", error)
