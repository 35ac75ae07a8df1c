"""`python -m tests.torture`: tortures a ledger for some minutes, and shows what it heard.

Two thirds of the time go to two services on one database, the rest to failovers with two primaries.
Then services with a defect built in run beside a sound one: the judge must find each.
"""

import argparse
import math
import sys

from tests.torture.mutants import MUTANTS, mutant_command
from tests.torture.run import Run
from tests.torture.split_brain import Fence, split_brain
from tests.torture.verdict import Verdict

_MUTANT_SECONDS = 6.0
_MUTANT_FAULTS = 3
_MUTANT_ANSWERS = 300
_ROUND_SECONDS = 300.0
_FENCES = (Fence.SYNC, Fence.WITNESS, Fence.WITNESS_UNDER_LOAD)


def main() -> int:
    """Exit status 1 where something was wrong, or a defect was not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-mutants", action="store_true")
    asked = parser.parse_args()
    verdict = _tortured(asked.minutes * 60, asked.seed)
    _show(verdict, asked.seed)
    missed = False if asked.no_mutants else _missed_a_mutant(asked.seed)
    return int(missed or bool(verdict.breaches))


def _tortured(seconds: float, seed: int) -> Verdict:
    """Rounds of at most five minutes, each with its own seed and with every kind of failover."""
    verdict = Verdict([])
    rounds = math.ceil(seconds / _ROUND_SECONDS)
    share = seconds / rounds / 3
    for number in range(rounds):
        verdict += Run(2 * share, seed + number).judged()
        for fence in _FENCES:
            verdict += split_brain(fence, share / len(_FENCES), seed + number)
    return verdict


def _missed_a_mutant(seed: int) -> bool:
    """Runs every defect, and shows what the judge says of each."""
    found = {}
    for name, mutant in MUTANTS.items():
        run = Run(
            _MUTANT_SECONDS,
            seed,
            kinds=mutant.faults,
            command=mutant_command(name),
            faults=_MUTANT_FAULTS if mutant.faults else 0,
            answers=_MUTANT_ANSWERS,
        )
        found[name] = _told(name, run.judged())
    found[Fence.NONE.value] = _told(
        Fence.NONE.value, split_brain(Fence.NONE, _MUTANT_SECONDS, seed)
    )
    return not all(found.values())


def _told(name: str, mutant: Verdict) -> int:
    print(f"{name}: {len(mutant.breaches)} breaches found, as must be", flush=True)
    for breach in mutant.breaches[:2]:
        print(f"  {breach}", flush=True)
    return len(mutant.breaches)


def _show(verdict: Verdict, seed: int) -> None:
    print(f"seed {seed}: {sum(verdict.answers.values())} answers, {verdict.grants} grants,")
    print(f"{verdict.handed_over} mails handed over, {sum(verdict.faults.values())} faults")
    for name, count in sorted(verdict.faults.items()):
        print(f"  {count:6} {name}")
    for name, count in sorted(verdict.answers.items()):
        print(f"  {count:6} {name}")
    print(f"{len(verdict.breaches)} breaches", flush=True)
    for breach in verdict.breaches[:50]:
        print(f"  {breach}")


if __name__ == "__main__":
    sys.exit(main())
