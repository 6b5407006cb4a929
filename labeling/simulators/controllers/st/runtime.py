"""What compiled Structured Text needs when it runs; its text goes along with every compiled program.

Everything here works without an import and on plain numbers: BOOL is bool, integers are int, REAL is
float, TIME is an int of milliseconds. Function blocks follow the bodies of IEC 61131-3, tables 43 to 46;
their clock is the program's, so calling one twice in a cycle changes nothing.
"""

MOST_ITERATIONS = 10_000


class Clock:
    """Time since the first cycle in milliseconds, and the iterations of loops in this cycle."""

    def __init__(self):
        self.now = 0
        self.iterations = 0

    def turn(self):
        """Count one iteration of a loop; a cycle has MOST_ITERATIONS at most."""
        self.iterations += 1
        if self.iterations > MOST_ITERATIONS:
            raise RuntimeError("watchdog: more than 10000 iterations of loops in one cycle")
        return True


class TON:
    """On-delay timer."""

    def __init__(self, clock):
        self.clock, self.IN, self.PT, self.Q, self.ET, self._since = clock, False, 0, False, 0, None

    def call(self):
        """Run one call."""
        if not self.IN:
            self._since, self.ET, self.Q = None, 0, False
            return
        if self._since is None:
            self._since = self.clock.now
        self.ET = min(self.clock.now - self._since, max(self.PT, 0))
        self.Q = self.ET >= self.PT


class TOF:
    """Off-delay timer."""

    def __init__(self, clock):
        self.clock, self.IN, self.PT, self.Q, self.ET, self._since = clock, False, 0, False, 0, None
        self._was_on = False

    def call(self):
        """Run one call."""
        if self.IN:
            self._was_on, self._since, self.ET, self.Q = True, None, 0, True
            return
        if not self._was_on:
            return
        if self._since is None:
            self._since = self.clock.now
        self.ET = min(self.clock.now - self._since, max(self.PT, 0))
        self.Q = self.ET < self.PT


class TP:
    """Pulse timer: once begun, a pulse lasts its time, whatever the input does."""

    def __init__(self, clock):
        self.clock, self.IN, self.PT, self.Q, self.ET, self._since = clock, False, 0, False, 0, None
        self._before = False

    def call(self):
        """Run one call."""
        if self.IN and not self._before and self._since is None:
            self._since = self.clock.now
        self._before = self.IN
        if self._since is not None:
            self.ET = min(self.clock.now - self._since, max(self.PT, 0))
            self.Q = self.ET < self.PT
            if not self.Q and not self.IN:
                self._since, self.ET = None, 0


class CTU:
    """Up counter."""

    def __init__(self, clock):
        self.CU, self.R, self.PV, self.Q, self.CV, self._before = False, False, 0, False, 0, False

    def call(self):
        """Run one call."""
        if self.R:
            self.CV = 0
        elif self.CU and not self._before and self.CV < 32767:
            self.CV += 1
        self._before = self.CU
        self.Q = self.CV >= self.PV


class CTD:
    """Down counter."""

    def __init__(self, clock):
        self.CD, self.LD, self.PV, self.Q, self.CV, self._before = False, False, 0, False, 0, False

    def call(self):
        """Run one call."""
        if self.LD:
            self.CV = self.PV
        elif self.CD and not self._before and self.CV > -32768:
            self.CV -= 1
        self._before = self.CD
        self.Q = self.CV <= 0


class CTUD:
    """Up and down counter."""

    def __init__(self, clock):
        self.CU, self.CD, self.R, self.LD, self.PV = False, False, False, False, 0
        self.QU, self.QD, self.CV, self._up, self._down = False, False, 0, False, False

    def call(self):
        """Run one call."""
        up, down = self.CU and not self._up, self.CD and not self._down
        self._up, self._down = self.CU, self.CD
        if self.R:
            self.CV = 0
        elif self.LD:
            self.CV = self.PV
        elif up != down:
            self.CV = min(32767, self.CV + 1) if up else max(-32768, self.CV - 1)
        self.QU, self.QD = self.CV >= self.PV, self.CV <= 0


class R_TRIG:  # noqa: N801 - the standard's name
    """Rising edge."""

    def __init__(self, clock):
        self.CLK, self.Q, self._before = False, False, False

    def call(self):
        """Run one call."""
        self.Q = self.CLK and not self._before
        self._before = self.CLK


class F_TRIG:  # noqa: N801 - the standard's name
    """Falling edge; as in the standard, a CLK that is off at the very first call counts as one."""

    def __init__(self, clock):
        self.CLK, self.Q, self._before = False, False, False

    def call(self):
        """Run one call."""
        self.Q = not self.CLK and not self._before
        self._before = not self.CLK


class SR:
    """Latch, set wins."""

    def __init__(self, clock):
        self.S1, self.RESET, self.Q1 = False, False, False

    def call(self):
        """Run one call."""
        self.Q1 = self.S1 or (not self.RESET and self.Q1)


class RS:
    """Latch, reset wins."""

    def __init__(self, clock):
        self.SET, self.R1, self.Q1 = False, False, False

    def call(self):
        """Run one call."""
        self.Q1 = not self.R1 and (self.SET or self.Q1)


def wrap(value, low, high):
    """Bring an integer into low..high by wrapping around, as two's complement does."""
    return (value - low) % (high - low + 1) + low


def divide(left, right):
    """Divide integers; the quotient is cut towards zero."""
    if right == 0:
        raise ZeroDivisionError("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def modulo(left, right):
    """Return the rest that belongs to `divide`: it has the sign of `left`; by the standard, x MOD 0 is 0."""
    return 0 if right == 0 else left - right * divide(left, right)


def rounded(value):
    """Round to the nearest integer, halves to even (IEC 60559)."""
    return round(value)


def counting(start, stop, step):
    """Return the values of a FOR loop, `stop` included."""
    if step == 0:
        raise ValueError("FOR with a step of 0")
    return range(start, stop + (1 if step > 0 else -1), step)
