"""Times attention side by side with torch's and other packages':
`python -m evoformer.bench --help`."""

import importlib.util

if not importlib.util.find_spec("torch"):
    raise ModuleNotFoundError("evoformer.bench measures through torch, which is not "
                              "installed: pip install torch", name="torch")
