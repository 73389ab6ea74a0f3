"""Write `lock.txt` and `faithfuse.yaml` from the packages of the running environment.

    .venv/bin/python envs/make_lock.py

Run it after installing `requirements.in` (and its upgrades) into a fresh environment. torch's local version suffix
(`+cpu`) is left out, so that pip takes the build that fits the machine.
"""

import sys
from importlib.metadata import distributions
from pathlib import Path

HERE = Path(__file__).parent
# pip comes with the environment. smatchpp (GPL) and what it brings are for the benchmarks alone (bench.txt).
LEFT_OUT = {"pip", "faithfuse", "smatchpp", "mip", "cbcbox", "cffi", "pycparser"}


def pins() -> list[str]:
    """`name==version` of every installed package, sorted by name."""
    found = {}
    for distribution in distributions():
        name = distribution.metadata["Name"]
        if name.lower() not in LEFT_OUT:
            found[name.lower().replace("_", "-")] = distribution.version.split("+")[0]
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def main() -> None:
    lines = pins()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    header = "# Made by envs/make_lock.py from envs/requirements.in; do not edit.\n"
    (HERE / "lock.txt").write_text(header + "\n".join(lines) + "\n", encoding="utf-8")
    conda = [
        "name: faithfuse",
        "channels: [conda-forge]",
        "dependencies:",
        f"  - python={version}",
        "  - pip",
        "  - pip:",
        *(f"      - {line}" for line in lines),
    ]
    (HERE / "faithfuse.yaml").write_text(header + "\n".join(conda) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
