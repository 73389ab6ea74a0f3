"""How far a stage is: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType


class Progress:
    """Counts items and tokens of one stage and reports on standard error. Use as a context manager.

    Args:
        label: what is being done.
        total: how many items there are.
        every: seconds between the lines of a log.
    """

    def __init__(self, label: str, total: int, every: float = 15.0) -> None:
        self.label, self.total, self.every = label, total, every
        self.done = self.tokens = self.computed = 0
        self._began = self._said = time.monotonic()
        self._bar = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[speed]} tokens/s"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._bar.start()
            self._task = self._bar.add_task(self.label, total=self.total, speed="–")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif kind is None:
            self._line()

    def say(self, text: str) -> None:
        """Print a line without disturbing the bar."""
        if self._bar is not None:
            self._bar.console.print(text, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def advance(self, items: int, tokens: int = 0) -> None:
        """Count finished items; `tokens` is 0 for those that came from the cache."""
        self.done += items
        self.tokens += tokens
        self.computed += items if tokens else 0
        if self._bar is not None:
            self._bar.update(self._task, advance=items, speed=f"{self._speed():.0f}")
        elif time.monotonic() - self._said >= self.every:
            self._line()

    def _speed(self) -> float:
        return self.tokens / max(time.monotonic() - self._began, 1e-9)

    def _line(self) -> None:
        self._said = time.monotonic()
        spent = self._said - self._began
        left = ""
        if self.computed and self.done < self.total:
            left = f", about {spent / self.computed * (self.total - self.done):.0f} s left"
        speed = f", {self._speed():.0f} tokens/s" if self.tokens else ""
        self.say(f"{self.label}: {self.done}/{self.total}{speed}{left}")
