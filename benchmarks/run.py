"""Every benchmark in turn: ``make bench``, or ``python benchmarks/run.py [ROUNDS]``.

All figures are ratios of two things run in turn on this machine; the goal stands behind each. Nothing else should run
meanwhile: on a busy machine the ratios move, too.
"""

import subprocess
import sys
from pathlib import Path

BENCHMARKS = {
    "Start and memory": "start_bench.py",
    "A typed call": "typed_bench.py",
    "The peer alone": "rpc_bench.py",
    "Deployments": "deploy_bench.py",
    "The conformance kit": "kit_bench.py",
}

if __name__ == "__main__":
    here = Path(__file__).parent
    for title, program in BENCHMARKS.items():
        print(f"\n{title}\n{'-' * len(title)}", flush=True)
        subprocess.run([sys.executable, here / program, *sys.argv[1:2]], check=True)
