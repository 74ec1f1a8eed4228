# The suite of GoogleTest programs (*Tests under the build folder).
import os
import sys

sys.path.insert(0, os.path.join(config.source_dir, "test"))
import lit_environment

config.name = "evoformer-unit"
config.test_source_root = os.path.join(config.build_dir, "test", "unit")
config.test_exec_root = config.test_source_root
config.test_format = lit_environment.UnitTests("bin", "Tests")
lit_environment.set_environment(config)
lit_environment.limit_time(lit_config, config)
