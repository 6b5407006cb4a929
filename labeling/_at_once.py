"""Several requests at once to what answers them in processes of its own."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_WAITING = 16
"""Items handed out for each request that runs: few, so that an error comes soon and costs little work."""


def concurrency_of(judge: Any) -> int | None:
    """Return how many requests a verifier, simulator or bound method answers at once, in its own processes.

    None: it has no such processes, as most; it runs in the process that asks, one request at a time.
    """
    owner = getattr(judge, "__self__", judge)
    found = getattr(owner, "concurrency", None)
    return found if type(found) is int and found > 0 else None


def map_at_once(judge: Any, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Yield `function` of each item, in order, as many at a time as `judge` answers at once.

    When the caller stops, or an item raises, `judge` is closed if it can be: its requests under way end then.

    Args:
        judge: What `function` asks: a verifier, a simulator, or one of its methods.
        function: Called in threads, when `judge` answers more than one request at once.
        items: Its arguments.
    """
    at_once = concurrency_of(judge) or 1
    if at_once < 2:
        yield from map(function, items)
        return
    left = iter(items)
    with ThreadPoolExecutor(at_once) as threads:
        try:
            while stretch := list(islice(left, _WAITING * at_once)):
                yield from threads.map(function, stretch)
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            with suppress(AttributeError):
                getattr(judge, "__self__", judge).close()
            raise
