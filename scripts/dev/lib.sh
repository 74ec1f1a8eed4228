# Steps with elapsed time, logs and stamps. Sourced by dev.

# One folder for logs and stamps; it goes with `./dev clean`.
state_dir="build/.dev"
mkdir -p "$state_dir/log" "$state_dir/stamp"

if [ -t 1 ] && [ -z "${CI:-}" ]; then
  bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
  interactive=1
else
  bold='' red='' green='' plain='' interactive=''
fi

die() {
  echo "${red}dev: $*${plain}" >&2
  exit 1
}

# failed NAME RC LOG: says which step failed and why.
failed() {
  echo "${red}dev: step '$1' failed (exit code $2). The end of its log:${plain}" >&2
  tail -n 30 "$3" | sed 's/^/  | /' >&2
  echo "${red}dev: the whole log: $PWD/$3${plain}" >&2
}

# step NAME COMMAND...: runs it quietly with its output in a log, shows the
# elapsed time, and on failure the end of the log.
step() {
  local name="$1" log begin=$SECONDS rc=0 pid
  shift
  log="$state_dir/log/${name// /-}.log"
  printf '%s== %s%s ' "$bold" "$name" "$plain"
  "$@" </dev/null >"$log" 2>&1 &
  pid=$!
  # A dot every ten seconds shows that a long step is alive.
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.1
    if ((SECONDS - begin >= ${next_dot:=10})); then
      printf '.'
      next_dot=$((next_dot + 10))
    fi
  done
  unset next_dot
  wait "$pid" || rc=$?
  if ((rc != 0)); then
    echo "${red}failed${plain} after $((SECONDS - begin)) s"
    failed "$name" "$rc" "$log"
    exit "$rc"
  fi
  echo "${green}done${plain} in $((SECONDS - begin)) s"
}

# shown_step NAME COMMAND...: the same, but its output is shown as it comes.
# On a terminal the progress lines of ninja and lit overwrite each other.
shown_step() {
  local name="$1" log begin=$SECONDS rc=0
  shift
  log="$state_dir/log/${name// /-}.log"
  echo "$bold== $name$plain"
  if [ -n "$interactive" ]; then
    "$@" </dev/null 2>&1 | tee "$log" | overwrite_progress || rc=$?
  else
    "$@" </dev/null 2>&1 | tee "$log" || rc=$?
  fi
  if ((rc != 0)); then
    echo "${red}dev: step '$name' failed (exit code $rc) after $((SECONDS - begin)) s; log: $PWD/$log${plain}" >&2
    return "$rc"
  fi
  echo "$bold== $name$plain ${green}done${plain} in $((SECONDS - begin)) s"
}

overwrite_progress() {
  local line width
  width=$(tput cols 2>/dev/null || echo 80)
  while IFS= read -r line; do
    case "$line" in
    \[* | PASS:* | UNSUPPORTED:*) printf '\r\e[K%s' "${line:0:width-1}" ;;
    *) printf '\r\e[K%s\n' "$line" ;;
    esac
  done
  printf '\r\e[K'
}

# A stamp says that a step was done for a given content.
stamp_is() { [ "$(cat "$state_dir/stamp/$1" 2>/dev/null)" = "$2" ]; }
set_stamp() { echo "$2" >"$state_dir/stamp/$1"; }

# Each compiler holds up to 1.5 GB; more jobs than memory allows only swap.
job_count() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  ((memory < 1)) && memory=1
  echo "${EVOFORMER_JOBS:-$((cores < memory ? cores : memory))}"
}
