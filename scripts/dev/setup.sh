# Sets up what is missing: Debian packages, the Python environment, the build
# folder. Each step is skipped when its stamp shows that nothing changed.

export LLVM_PREFIX="${LLVM_PREFIX:-/usr/lib/llvm-22}"
python="$PWD/.venv/bin/python"

# What the build and the tests need (the rest comes as dependencies).
debian_packages=(
  clang-22 lld-22 llvm-22-dev libmlir-22-dev mlir-22-tools liblld-22-dev
  libclang-rt-22-dev libzstd-dev zlib1g-dev libgtest-dev
  cmake ninja-build ccache python3 python3-venv
)
# What `fmt` and `lint` need besides.
lint_packages=(clang-format-22 clang-tidy-22)

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -n "$@" || sudo "$@"
  else
    echo "needs root: neither root nor sudo is at hand for: $*" >&2
    return 1
  fi
}

apt_install() {
  local options=(-y -q --no-install-recommends -o DPkg::Lock::Timeout=600
    -o Acquire::Retries=3)
  as_root apt-get "${options[@]}" update || return
  local package
  for package in "$@"; do
    if ! apt-cache show "$package" >/dev/null 2>&1; then
      echo "No package source offers $package. LLVM 22 for Debian 12 is in the"
      echo "security archive; this line belongs in /etc/apt/sources.list:"
      echo "  deb http://deb.debian.org/debian-security bookworm-security main"
      return 1
    fi
  done
  as_root env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install "$@"
}

# ensure_packages PACKAGE...
ensure_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    [ -x "$LLVM_PREFIX/bin/mlir-tblgen" ] ||
      die "not a Debian system, and LLVM_PREFIX=$LLVM_PREFIX holds no LLVM and MLIR 22: install them, cmake, ninja, GoogleTest and Python 3.11 by hand"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) && return
  echo "installing ${#missing[@]} Debian packages: ${missing[*]}"
  step "packages" apt_install "${missing[@]}"
}

create_venv() {
  rm -rf .venv
  /usr/bin/env -u PYTHONPATH -u PYTHONHOME "$1" -m venv .venv
  "$python" -m pip install --no-input --disable-pip-version-check \
    --only-binary=:all: -r scripts/requirements.txt
}

ensure_venv() {
  local base=/usr/bin/python3 key
  [ -x "$base" ] || base=$(command -v python3) || die "no python3"
  key=$({ "$base" --version; echo "$PWD"; cat scripts/requirements.txt; } | sha256sum)
  [ -x "$python" ] && stamp_is venv "$key" && return
  step "Python environment" create_venv "$base"
  set_stamp venv "$key"
}

# move_venv NEW FOLDER: whole or not at all. What pip and venv wrote to bin/ names
# the folder that it was made in, and has to name the other one.
move_venv() {
  local new="$1" folder="$2"
  find "$new/bin" -type f -exec sed -i "s|${new##*/}|${folder##*/}|g" {} + || return
  # Another set-up that was faster has left an environment as good, and in use, onto
  # which nothing is moved.
  [ -x "$folder/bin/python" ] || rm -rf "$folder"
  mv -T "$new" "$folder" 2>/dev/null ||
    { rm -rf "$new" && [ -x "$folder/bin/python" ]; }
}

# torch is large: its environment is kept outside of the checkout, by content.
# What `./dev test` and `./dev bench` add to it are the tests' own packages.
create_torch_venv() {
  local folder="$1" new="$1.new.$$" install
  rm -rf "$new"
  /usr/bin/env -u PYTHONPATH -u PYTHONHOME "$2" -m venv "$new" || return
  install=("$new/bin/python" -m pip install --no-input
    --disable-pip-version-check --only-binary=:all: --no-cache-dir)
  "${install[@]}" -r scripts/requirements.txt || return
  if [ -e /proc/driver/nvidia ]; then
    "${install[@]}" -r scripts/requirements-torch.txt || return
  else
    "${install[@]}" --no-deps -r scripts/requirements-torch.txt || return
    "$new/bin/python" scripts/dev/torch_stubs.py \
      "$("$new/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/torch/lib" \
      "$LLVM_PREFIX/bin/clang" || return
  fi
  "$new/bin/python" -c 'import torch; torch.ones(1)' || return
  move_venv "$new" "$folder"
}

ensure_torch() {
  local base=/usr/bin/python3 key folder
  if [ -n "${EVOFORMER_TORCH_PYTHON:-}" ]; then
    echo "$EVOFORMER_TORCH_PYTHON" >"$state_dir/torch-python"
    return
  fi
  [ -x "$base" ] || base=$(command -v python3) || die "no python3"
  key=$({ "$base" --version; test -e /proc/driver/nvidia && echo nvidia
    cat scripts/requirements.txt scripts/requirements-torch.txt \
      scripts/dev/torch_stubs.py; } | sha256sum | cut -c1-16)
  folder="${XDG_CACHE_HOME:-$HOME/.cache}/evoformer-mlir/torch-$key"
  if [ ! -x "$folder/bin/python" ]; then
    mkdir -p "$(dirname "$folder")"
    step "torch" create_torch_venv "$folder" "$base"
  fi
  echo "$folder/bin/python" >"$state_dir/torch-python"
}

# ensure_configured PRESET: CMake itself notices changed lists; only a list
# that is new needs a fresh configure.
ensure_configured() {
  local key
  key=$({ echo "$PWD $LLVM_PREFIX"; cat CMakePresets.json
    find . -path './build*' -prune -o -path './.venv' -prune -o \
      -name CMakeLists.txt -print | sort; } | sha256sum)
  [ -f "$(build_folder "$1")/build.ninja" ] && stamp_is "configure-$1" "$key" && return
  local options=(-DPython3_EXECUTABLE="$python")
  if [ "$LLVM_PREFIX" != /usr/lib/llvm-22 ]; then
    options+=(-DCMAKE_C_COMPILER="$LLVM_PREFIX/bin/clang"
      -DCMAKE_CXX_COMPILER="$LLVM_PREFIX/bin/clang++"
      -DLLVM_DIR="$LLVM_PREFIX/lib/cmake/llvm"
      -DMLIR_DIR="$LLVM_PREFIX/lib/cmake/mlir"
      -DLLD_DIR="$LLVM_PREFIX/lib/cmake/lld")
  fi
  step "configure $1" cmake --preset "$1" "${options[@]}"
  set_stamp "configure-$1" "$key"
}

build_folder() {
  case "$1" in
  release) echo build ;;
  *) echo "build-$1" ;;
  esac
}

ensure_setup() {
  ensure_packages "${debian_packages[@]}"
  ensure_venv
}
