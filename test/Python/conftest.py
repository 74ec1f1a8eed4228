"""What the tests of the Python package share."""

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs an NVIDIA or AMD GPU")


def pytest_collection_modifyitems(items):
    """Tests marked `gpu` are skipped, with the reason, where there is none."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    try:
        import torch
        reason = None if torch.cuda.is_available() else "torch finds no GPU"
    except ImportError:
        reason = "torch is not installed"
    if reason:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))
