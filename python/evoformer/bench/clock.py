"""Time and memory of a call with cold caches."""

import statistics
import time

import torch


class Clock:
    """Milliseconds of one run with cold caches. `spin_ms` of work for the device
    go before: the host's time to launch passes meanwhile."""

    def __init__(self, device, spin_ms=0):
        self.on_gpu = device != "cpu"
        # Larger than any last-level cache.
        self.flush = torch.empty(1 << (29 if self.on_gpu else 27),
                                 dtype=torch.int8, device=device)
        # Cycles of about 2 GHz.
        self.spin = int(spin_ms * 2e6) if self.on_gpu else 0

    def __call__(self, run):
        self.flush.zero_()
        if not self.on_gpu:
            begin = time.perf_counter()
            run()
            return (time.perf_counter() - begin) * 1e3
        if self.spin:
            torch.cuda._sleep(self.spin)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end)

    def quartiles(self, run, repeat, warmup=3):
        """(lower quartile, median, upper quartile)."""
        for _ in range(warmup):
            run()
        times = [self(run) for _ in range(repeat)]
        if repeat == 1:
            return times * 3
        return statistics.quantiles(times, n=4, method="inclusive")
