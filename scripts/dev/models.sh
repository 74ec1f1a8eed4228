# The environment of `./dev test --models`: torch's, and the models' packages
# beside it. Sourced by dev.

create_models_venv() {
  local folder="$1" base="$2" torch="$3" new="$1.new.$$" packages
  rm -rf "$new"
  /usr/bin/env -u PYTHONPATH -u PYTHONHOME "$base" -m venv "$new" || return
  packages=$("$new/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || return
  # Theirs would be gigabytes, of which attention imports nothing.
  "$new/bin/python" -m pip install --no-input --disable-pip-version-check \
    --only-binary=:all: --no-cache-dir --no-deps \
    -r scripts/requirements-models.txt || return
  "$torch" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    >"$packages/torch-environment.pth" || return
  "$new/bin/python" -c 'import torch, boltz, protenix' || return
  move_venv "$new" "$folder"
}

# ensure_models: needs ensure_torch before it.
ensure_models() {
  local base=/usr/bin/python3 torch key folder
  if [ -n "${EVOFORMER_MODELS_PYTHON:-}" ]; then
    echo "$EVOFORMER_MODELS_PYTHON" >"$state_dir/models-python"
    return
  fi
  [ -x "$base" ] || base=$(command -v python3) || die "no python3"
  torch=$(cat "$state_dir/torch-python")
  key=$({ echo "$torch"; cat scripts/requirements-models.txt; } | sha256sum | cut -c1-16)
  folder="${XDG_CACHE_HOME:-$HOME/.cache}/evoformer-mlir/models-$key"
  if [ ! -x "$folder/bin/python" ]; then
    step "models" create_models_venv "$folder" "$base" "$torch"
  fi
  echo "$folder/bin/python" >"$state_dir/models-python"
}
