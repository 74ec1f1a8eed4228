"""What both test suites share."""

import importlib.util
import os
import resource

import lit.formats
import lit.TestRunner


class UnitTests(lit.formats.GoogleTest):
    """GoogleTest programs. One that cannot list its tests is an error, never
    'no tests'."""

    def get_num_tests(self, path, litConfig, localConfig):
        count = super().get_num_tests(path, litConfig, localConfig)
        if not count:
            litConfig.fatal(f"{path} lists no tests")
        return count


def shell_word(path):
    """The path as a word of a RUN line: quoted where it has to be."""
    return f'"{path}"' if any(map(str.isspace, path)) else path


def children_seconds():
    """The processor's time of all processes that this one waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class ShellTests(lit.formats.ShTest):
    """lit's shell tests, in a checkout whose path may hold spaces. The output of each
    ends with the processor's time, which scripts/dev/count_tests.py reads: unlike
    lit's own times it says the same on a busy machine."""

    def execute(self, test, litConfig):
        source = test.getSourcePath()
        temporary = lit.TestRunner.getTempPaths(test)[1] + ".tmp"
        words = [("%s", source), ("%S", os.path.dirname(source)),
                 ("%t", temporary)]
        before = children_seconds()
        result = lit.TestRunner.executeShTest(
            test, litConfig, self.execute_external,
            test.config.substitutions +
            [(key, shell_word(path)) for key, path in words])
        result.output += f"\nprocessor seconds: {children_seconds() - before:.1f}\n"
        return result


def limit_time(lit_config, config):
    """A test that hangs is a failed test; one that is slow because the machine is
    busy is not. So this limit is far beyond what any takes; what looks for hangs
    of a tool counts the processor's time (Inputs/bounded.py). lit needs psutil to
    stop a test. Under sanitizers all takes several times as long."""
    if importlib.util.find_spec("psutil"):
        lit_config.maxIndividualTestTime = (4 if config.sanitizer else 1) * 3600


def set_environment(config):
    environment = config.environment
    # A test may use the device that its user chose, and nothing else of theirs.
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                 "LD_LIBRARY_PATH", "EVOFORMER_JOBS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    if config.sanitizer:
        # LLVM's libraries are not instrumented: containers and arena memory
        # that cross between them and our code carry no valid annotations.
        environment["ASAN_OPTIONS"] = (
            "detect_container_overflow=0:allow_user_poisoning=0:"
            "detect_leaks=0:allocator_may_return_null=1")
        environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
