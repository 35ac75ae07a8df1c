"""`python -m tests.torture`: tortures a ledger for some minutes, and shows what it heard.

First failovers with two primaries, then two services on one database with every other fault.
Then services with a defect built in run beside a sound one: the judge must find each.
"""

import argparse
import math
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.torture.mutants import MUTANTS, mutant_command
from tests.torture.run import Run
from tests.torture.split_brain import Fence, split_brain
from tests.torture.verdict import Verdict

_MUTANT_SECONDS = 3.0
_MUTANT_FAULTS = 3
_MUTANT_RUNS = 4
_MUTANT_ANSWERS = 300
_AT_ONCE = 3
"""So many defects are looked for at a time: their runs mostly wait."""
_ROUND_SECONDS = 300.0
_FAILOVER_SHARE = 1 / 9
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
    """Rounds of at most five minutes, each with its own seed and with every kind of fault.

    On a busy machine, where failovers take longer, the rest of the round is no shorter than half.
    """
    verdict = Verdict([])
    rounds = math.ceil(seconds / _ROUND_SECONDS)
    of_one = seconds / rounds
    for number in range(seed, seed + rounds):
        started = time.monotonic()
        for fence in _FENCES:
            verdict += split_brain(fence, of_one * _FAILOVER_SHARE, number)
        left = of_one - (time.monotonic() - started)
        verdict += Run(max(left, of_one / 2), number).judged()
    return verdict


def _missed_a_mutant(seed: int) -> bool:
    """Runs every defect, and shows what the judge says of each."""
    two_primaries = Fence.NONE.value
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        runs = {name: pool.submit(_of_mutant, name, seed) for name in MUTANTS}
        runs[two_primaries] = pool.submit(split_brain, Fence.NONE, _MUTANT_SECONDS, seed)
        missed = False
        for name, run in runs.items():
            found = run.result().breaches
            print(f"{name}: {len(found)} breaches found, as must be", flush=True)
            for breach in found[:2]:
                print(f"  {breach}", flush=True)
            missed = missed or not found
    return missed


def _of_mutant(name: str, seed: int) -> Verdict:
    """Some defects show only where a fault meets a grant: several runs are tried."""
    mutant = MUTANTS[name]
    for number in range(seed, seed + _MUTANT_RUNS):
        run = Run(
            _MUTANT_SECONDS,
            number,
            kinds=mutant.faults,
            command=mutant_command(name),
            faults=_MUTANT_FAULTS if mutant.faults else 0,
            answers=_MUTANT_ANSWERS,
        )
        verdict = run.judged()
        if verdict.breaches:
            break
    return verdict


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
