"""`make bench`: the measurements that need nothing but this repository."""

import sys

from benchmarks import sampler

if __name__ == "__main__":
    sys.stdout.write("# Sampler against generate\n\n")
    sampler.main()
    sys.stdout.write(
        "\nOthers: benchmarks.quickstart_seeds, benchmarks.penalty_hit_rates, benchmarks.verification.\n"
    )
