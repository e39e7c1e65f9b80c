"""Starts children in order, revives those that fall, and stops all of them in reverse order."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from types import FrameType

from launch.guard import Guard
from launch.processes import Child
from launch.speech import Trouble, say, warn

# So many falls within so many seconds are no accident any more.
FALLS, WITHIN = 10, 60.0


class Stopped(BaseException):
    """A signal asked the launcher to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Turn INT, TERM and HUP into `Stopped` inside the block; HUP stays ignored under nohup."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Stopped(number)

    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore INT, TERM and HUP inside the block."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Supervisor:
    """The children of one launcher, stopped at the end of its `with`."""

    def __init__(self) -> None:
        self.children: list[Child] = []
        self.guard = Guard()
        self._falls: list[float] = []

    def __enter__(self) -> "Supervisor":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, child: Child) -> None:
        """Start `child` and answer for it from now on."""
        self.children.append(child)
        self._spawn(child)

    def wait_for(self, question: Callable[[], bool], *, seconds: float, what: str) -> None:
        """Return once `question` is answered yes; Trouble when a child falls or the time is up before."""
        end = time.monotonic() + seconds
        while not question():
            for child in self.children:
                if not child.alive:
                    raise Trouble(f"{child.name} has ended while starting:\n{child.last_words()}")
            if time.monotonic() > end:
                raise Trouble(f"{what} did not get ready within {seconds:.0f} seconds.")
            time.sleep(0.05)

    def watch(self) -> None:
        """Sleep until a child falls, revive it, and so on; only `Stopped` and Trouble end this."""
        while True:
            self._sleep_until_a_fall()
            for child in self.children:
                if not child.alive:
                    self._revive(child)

    def stop(self) -> None:
        """End every child, the youngest first. Further signals do not hurry this."""
        with undisturbed():
            while self.children:
                self.children.pop().stop()
            self.guard.dismiss()

    def _spawn(self, child: Child) -> None:
        child.start()
        if child.process is not None:
            self.guard.answer_for_group(child.process.pid)

    def _sleep_until_a_fall(self) -> None:
        poller = select.poll()
        with contextlib.ExitStack() as handles:
            for child in self.children:
                if child.process is None or not child.alive:
                    return
                handle = os.pidfd_open(child.process.pid)
                handles.callback(os.close, handle)
                poller.register(handle, select.POLLIN)
            poller.poll()

    def _revive(self, child: Child) -> None:
        now = time.monotonic()
        self._falls = [*(moment for moment in self._falls if now - moment < WITHIN), now]
        if len(self._falls) > FALLS:
            raise Trouble(f"{child.name} does not stay up:\n{child.last_words()}")
        warn(f"{child.name} has ended; starting it again.")
        child.clear()
        if len(self._falls) > 1:
            time.sleep(0.5)
        self._spawn(child)
        say(f"{child.name} runs again.")
