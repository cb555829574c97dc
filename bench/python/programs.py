"""Scans, sorts, gathers, random numbers, windows and loops by indim and by other libraries.

    python bench/python/programs.py [--job NAME] [--both] [--minutes M] [--record FILE]

prints a table with the columns of ``bench/README.md``: milliseconds of a call of indim, and of the fastest
peer, the shortest of many, and their ratio. Engines take turns, and their results must agree. The aims are
for two threads. It needs the package; peers that are not installed are left out (``requirements.txt`` has
all of them). ``--help`` lists the options. Whole models have a program of their own, ``whole_models.py``.
"""

import engines
import scans_and_sorts

# Each module adds its jobs to those of `scans_and_sorts`, in this order.
import gathers_and_scatters  # noqa: F401
import random_and_windows  # noqa: F401
import loops  # noqa: F401

if __name__ == "__main__":
    engines.main(scans_and_sorts.jobs, __doc__)
