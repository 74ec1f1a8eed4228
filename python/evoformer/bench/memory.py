"""The most memory that a call takes beside what is there before it."""

import ctypes
import gc

import torch


def _resident(name):
    """Bytes, of a line of Linux's /proc/self/status."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    return None


def _trim():
    """Gives back what the allocator holds but nobody uses, which would be used
    again without a trace."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        pass  # another C library than glibc


def release():
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def peak_mb(run, device):
    """1e6 bytes, results of the call included. On a processor the growth of the
    resident set; None where the system does not tell."""
    release()
    if device != "cpu":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        torch.cuda.synchronize()
        return (torch.cuda.max_memory_allocated() - before) / 1e6
    _trim()
    try:
        # Linux, proc(5): 5 resets the peak of the resident set.
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
        before = _resident("VmRSS")
        run()
        peak = _resident("VmHWM")
    except OSError:
        return None
    return None if before is None or peak is None else max(peak - before, 0) / 1e6
