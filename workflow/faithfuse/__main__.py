"""`python -m faithfuse`."""

from faithfuse.cli import main

main()
