# SPDX-License-Identifier: Apache-2.0
"""The privacy statement as data classes."""

from dataclasses import dataclass, field
from typing import List, Optional


@dataclass(frozen=True)
class Condition:
    """A condition of the proof, see docs/privacy.md."""

    id: str
    title: str
    holds: bool
    why: str


@dataclass(frozen=True)
class Proof:
    """What one accountant proves. epsilon_lower: the truth is not below this, where the accountant knows it."""

    accountant: str
    epsilon: float
    delta: float
    epsilon_lower: Optional[float] = None
    note: str = ""


@dataclass(frozen=True)
class Guarantee:
    """The statement of a configuration or a run. holds: every condition holds and noise was secret."""

    unit: str
    adjacency: str
    observer: str
    joint: bool
    holds: bool
    proofs: List[Proof] = field(default_factory=list)
    conditions: List[Condition] = field(default_factory=list)
    taken_as_public: List[str] = field(default_factory=list)
    claims: List[dict] = field(default_factory=list)

    @property
    def best(self) -> Optional[Proof]:
        """The smallest proved epsilon, or None."""
        return min(self.proofs, key=lambda proof: proof.epsilon, default=None)

    @property
    def epsilon(self) -> Optional[float]:
        """The smallest proved epsilon, or None where nothing is proved: then do not quote one."""
        return self.best.epsilon if self.best else None

    @property
    def delta(self) -> Optional[float]:
        """The delta of that epsilon."""
        return self.best.delta if self.best else None

    @property
    def failing(self) -> List[Condition]:
        """The conditions that fail."""
        return [condition for condition in self.conditions if not condition.holds]


def from_json(parts):
    """A Guarantee from what `dpframe account --json` prints, or from "guarantee" in run.json."""
    proofs = [
        Proof(p["accountant"], p["epsilon"], p["delta"], p.get("epsilon_lower"), p.get("note", ""))
        for p in parts["proved"]
        if p["epsilon"] is not None
    ]
    return Guarantee(
        unit=parts["unit"],
        adjacency=parts["adjacency"],
        observer=parts["observer"],
        joint=parts["joint"],
        holds=parts["run_holds"],
        proofs=proofs,
        conditions=[Condition(c["id"], c["title"], c["holds"], c["why"]) for c in parts["conditions"]],
        taken_as_public=list(parts["taken_as_public"]),
        claims=list(parts["published"]),
    )
