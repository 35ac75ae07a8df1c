"""`python -m tests.torture`: tortures a ledger for some minutes, and shows what it heard.

Then a few services with a defect built in run beside a sound one: the judge must find each.
"""

import argparse
import sys

from tests.torture.mutants import MUTANTS, mutant_command
from tests.torture.run import Verdict, torture

_MUTANT_SECONDS = 8.0


def main() -> int:
    """Exit status 1 where something was wrong, or a defect was not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-mutants", action="store_true")
    asked = parser.parse_args()
    verdict = torture(asked.minutes * 60, asked.seed)
    _show(verdict, asked.seed)
    failed = bool(verdict.breaches)
    for name in () if asked.no_mutants else MUTANTS:
        mutant = torture(_MUTANT_SECONDS, asked.seed, faults=False, second=mutant_command(name))
        print(f"{name}: {len(mutant.breaches)} breaches found, as must be", flush=True)
        failed = failed or not mutant.breaches
    return int(failed)


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
