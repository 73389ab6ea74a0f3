"""Measure every area, or those named: `python tests/benchmarks/run.py [AREA…]`.

Each area writes `results/benchmarks/<area>.csv`: what we take beside what people would use instead, in one run. Compare
ratios, not seconds: machines differ and are shared.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

AREAS = ("audit", "statistics", "smatch", "annotate", "llm", "workflow", "scale")


def main() -> None:
    """Run the named areas, all by default."""
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here))
    names = sys.argv[1:] or AREAS
    unknown = sorted(set(names) - set(AREAS))
    if unknown:
        sys.exit(f"no benchmark area {', '.join(unknown)}; choose from {', '.join(AREAS)}")
    out = here.parents[1] / "results" / "benchmarks"
    for area in names:
        print(f"== {area}", flush=True)
        importlib.import_module(f"bench_{area}").main(out / f"{area}.csv")


if __name__ == "__main__":
    main()
