# shellcheck shell=bash
# `./dev test`: the steps, sourced by ./dev. Each runs in a process of its own, with its output
# in build/logs/<step>.log.
# shellcheck disable=SC2154  # root, venv, logs, jobs and packages_* come from ./dev

readonly short_steps=(packages venv style build-dev ctest install tidy pytest-asan pytest cli wheel)
readonly long_steps=(bare-wheel tsan tidy-sources source-peers fuzz)

# What of python/requirements-peers.txt is built from its source distribution. TensorStore is
# not: it takes Bazel and hours.
readonly source_peers=(cloud-volume cloud-files compressed_segmentation fastremap osteoid DracoPy
  crc32c deflate posix_ipc pysimdjson zstandard brotli)

# Tests of the module that are run in the sanitizer build, and not with the one that is installed. The others
# measure memory or time, or start many processes, which the sanitizers make slow.
readonly asan_tests=(
  python/tests/test_arrays.py python/tests/test_cas_hash.py python/tests/test_cas_store.py
  python/tests/test_container.py python/tests/test_convert.py python/tests/test_dvid.py
  python/tests/test_mesh.py python/tests/test_skeleton.py
  python/tests/test_sharding_spec.py python/tests/test_shardpack.py python/tests/test_shardpack_errors.py
  python/tests/test_shardpack_tuples.py python/tests/test_shardpack_writer.py python/tests/test_sources.py
  python/tests/test_volume.py python/tests/test_volume_create.py python/tests/test_write.py)

# A step that makes no sense after the failure of another.
declare -rA step_needs=([build-dev]=venv [ctest]=build-dev [pytest-asan]=build-dev [pytest]=venv
  [cli]=build-dev [wheel]=venv [bare-wheel]=wheel)

describe_step() {
  case $1 in
    packages) echo "Debian packages" ;;
    venv) echo "Python environment" ;;
    style) echo "format and layers" ;;
    build-dev) echo "build with ASan, UBSan and -Werror" ;;
    ctest) echo "C++ tests" ;;
    install) echo "release build, installed, used by tests/consumer" ;;
    tidy) echo "clang-tidy" ;;
    pytest-asan) echo "Python module under ASan and UBSan" ;;
    pytest) echo "Python module as it is installed, peers, kill tests" ;;
    cli) echo "command line cases, man pages" ;;
    wheel) echo "wheel with all that it needs" ;;
    bare-wheel) echo "that wheel on a bare Debian" ;;
    tidy-sources) echo "clang-tidy, each source by itself" ;;
    tsan) echo "C++ tests under TSan" ;;
    source-peers) echo "peers built from source" ;;
    fuzz) echo "fuzz targets, 60 seconds each" ;;
    *) die "no step $1; there are: ${short_steps[*]} ${long_steps[*]}" ;;
  esac
}

step_packages() {
  local packages=("${packages_build[@]}" "${packages_python[@]}" "${packages_test[@]}")
  [[ -z ${DOLIUM_LONG:-} ]] || packages+=("${packages_fuzz[@]}" "${packages_long[@]}")
  ensure_packages "${packages[@]}"
}

step_venv() {
  ensure_venv build peers
  with_torch ensure_venv torch
}

step_style() {
  command_format --check
  "$system_python" tools/check_layers.py --self-test
  "$system_python" tools/check_layers.py
  "$system_python" tools/check_words.py --self-test
  "$system_python" tools/check_words.py
}

step_build-dev() {
  configure_with_module dev
  build_preset dev
}

step_ctest() { ctest --preset dev -j "$jobs" "$@"; }

step_install() {
  build_preset release
  rm -rf build/stage build/consumer
  cmake --install build/release --prefix build/stage >/dev/null
  cmake -S tests/consumer -B build/consumer -G Ninja -DCMAKE_PREFIX_PATH="$root/build/stage"
  cmake --build build/consumer
  build/consumer/consumer
  mkdir -p build/consumer/set
  printf 'the program of the README reads this' >build/consumer/set/entry
  [[ $(build/consumer/readme build/consumer/set entry) == 'the program of the README reads this' ]] ||
    die "the program of the README does not print an entry"
  build/stage/bin/dolium --version
  check_installed_docs build/stage/share
}

# Each page of docs/man is there, and completions that the shells take; the manifest has them all.
check_installed_docs() {
  local completion=$1/bash-completion/completions/dolium file
  diff <(cd docs/man && printf '%s\n' *.md | sed 's/\.md$//' | sort) \
    <(cd "$1/man/man1" && printf '%s\n' * | sort) ||
    die "the man pages installed are not those of docs/man"
  for file in "$1"/man/man1/*; do
    grep -q '^\.SH NAME' "$file" || die "$file is not a man page"
  done
  # shellcheck disable=SC2016  # for the other bash to expand
  bash -c 'source "$1" && complete -p dolium' - "$completion"
  zsh -n "$1/zsh/site-functions/_dolium"
  fish -n "$1/fish/vendor_completions.d/dolium.fish"
  for file in "$1"/man/man1/* "$completion" "$1/zsh/site-functions/_dolium" "$1"/fish/vendor_completions.d/*; do
    grep -qxF "$root/$file" build/release/install_manifest.txt ||
      die "$file is not in install_manifest.txt"
  done
}

step_tidy() { command_tidy; }

# In a unit, a source may use what its neighbour includes; here it may not.
step_tidy-sources() { command_tidy ''; }

# The tests of the module, with the one of build/dev. The interpreter is not ours, so the runtime of the
# sanitizer must be there before it starts, and with it the library whose exceptions it watches. What the
# interpreter itself never frees is no leak of ours.
step_pytest-asan() {
  configure_with_module dev
  build_preset dev
  local cxx=${CXX:-c++} at_once=(-n "$jobs" --dist loadfile)
  if [[ $# -gt 0 ]]; then at_once=(); else set -- "${asan_tests[@]}"; fi
  LD_PRELOAD="$("$cxx" -print-file-name=libasan.so) $("$cxx" -print-file-name=libstdc++.so.6)" \
    ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$root/build/dev/python DOLIUM=$root/build/dev/dolium \
    "$venv/bin/python" -m pytest -q --durations=5 "${at_once[@]}" "$@"
}

step_pytest() {
  local pytest=("$venv/bin/python" -m pytest -q --durations=5) status=0
  local at_once=(-n "$jobs" --dist loadfile)  # tests of a file share what they made
  build_preset release
  ensure_module
  export DOLIUM=$root/build/release/dolium
  if [[ $# -gt 0 ]]; then
    "${pytest[@]}" "$@"
  else
    # Apart, for each tree has a conftest.py that its tests import from.
    "${pytest[@]}" "${at_once[@]}" "${asan_tests[@]/#/--ignore=}" python/tests || status=$?
    "${pytest[@]}" "${at_once[@]}" tests/peers tests/crash tests/requirements || status=$?
    with_torch run_torch_tests tests/with_torch || status=$?
    return "$status"
  fi
}

# With the interpreter that has torch.
run_torch_tests() {
  ensure_module
  "$venv/bin/python" -m pytest -q --durations=5 "$@"
}

# With the ASan build: the cases are small, and odd arguments are what they are about.
step_cli() {
  local program=build/dev/dolium filter=${1:-}
  build_preset dev
  filter=${filter#tests/cli}
  "$system_python" tests/cli/run.py --dolium "$program" "${filter#/}"
  [[ -n $filter ]] || "$system_python" tests/cli/man_pages.py --dolium "$program"
}

step_wheel() {
  repair_wheel
  # It works in an environment that has nothing of ours.
  rm -rf build/venv-wheel
  "$system_python" -m venv build/venv-wheel
  build/venv-wheel/bin/pip install --disable-pip-version-check -q "$("$venv/bin/pip" freeze | grep '^numpy==')" \
    build/dist/*.whl
  (cd / && "$root/build/venv-wheel/bin/python" "$root/tests/support/wheel_works.py")
}

# A minimal Debian 12 with Python and nothing else, in a folder.
step_bare-wheel() {
  local bare=$root/build/bare as_root=()
  [[ $EUID -eq 0 ]] || as_root=(sudo)
  [[ -e $(echo build/dist/*.whl) ]] || repair_wheel
  "${as_root[@]}" rm -rf "$bare"
  "${as_root[@]}" debootstrap --variant=minbase --include=python3 bookworm "$bare"
  "${as_root[@]}" "$venv/bin/pip" install --disable-pip-version-check -q --target "$bare/opt/site" \
    "$("$venv/bin/pip" freeze | grep '^numpy==')" build/dist/*.whl
  "${as_root[@]}" cp tests/support/wheel_works.py "$bare/opt"
  "${as_root[@]}" chroot "$bare" env PYTHONPATH=/opt/site python3 /opt/wheel_works.py
  "${as_root[@]}" rm -rf "$bare"
}

step_tsan() {
  local plainly=()
  build_preset tsan
  # TSan of g++ 12 cannot cope with the wide address randomisation of newer kernels.
  if setarch -R true 2>/dev/null; then plainly=(setarch -R); fi
  "${plainly[@]}" ctest --preset tsan -j "$jobs"
}

# The tests against cloud-volume, with it and its C++ built here, in an environment of their own.
step_source-peers() {
  local venv=$root/build/venv-source names
  names=$(IFS=,; echo "${source_peers[*]}")
  [[ -f $venv/.from-source && $(<"$venv/.from-source") == "$names" ]] || rm -rf "$venv"
  PIP_NO_BINARY=$names ensure_venv build peers
  echo "$names" >"$venv/.from-source"
  build_preset release
  ensure_module
  DOLIUM=$root/build/release/dolium "$venv/bin/python" -m pytest -q --durations=5 \
    tests/peers/test_cloud_volume.py tests/peers/test_mesh_peers.py tests/peers/test_volumes.py
}

step_fuzz() { command_fuzz 60; }

# Shows the last line of a log while its step runs; only for a person at a terminal.
watch_log() {
  while sleep 1; do
    printf '\r\033[K    %s\r' "$(tail -c 400 "$1" | tr -d '\r' | tail -n 1 | cut -c "1-$((${COLUMNS:-80} - 6))")"
  done
}

# Runs one step as a child, with a header, the time it took and, if it fails, how to go on.
run_step() {
  local number=$1 of=$2 name=$3 log=$logs/$3.log status=0
  printf '[%s/%s] %s: %s\n' "$number" "$of" "$name" "$(describe_step "$name")"
  local began=$SECONDS watcher=
  : >"$log"
  if [[ -t 1 ]]; then
    watch_log "$log" &
    watcher=$!
  fi
  ./dev test --step "$name" >"$log" 2>&1 || status=$?
  local took=$((SECONDS - began))
  if [[ -n $watcher ]]; then
    kill "$watcher"
    wait "$watcher" 2>/dev/null || true
    printf '\r\033[K'
  fi
  if [[ $status -eq 0 ]]; then
    printf '    ok, %d s\n' "$took"
    return 0
  fi
  tail -n 60 "$log" | sed 's/^/    /'
  printf '  FAILED: %s, status %d, %d s\n' "$name" "$status" "$took"
  printf '  to repeat it: ./dev test%s --step %s\n' "${DOLIUM_LONG:+ --long}" "$name"
  printf '  its log: %s\n' "${log#"$root"/}"
  return 1
}

run_steps() {
  local steps=("$@") passed=() failed=() number=0 name
  for name in "${steps[@]}"; do
    number=$((number + 1))
    if [[ " ${failed[*]-} " == *" packages "* || " ${failed[*]-} " == *" ${step_needs[$name]:-none} "* ]]; then
      printf '[%s/%s] %s: not run, for it needs a step that failed\n' "$number" "${#steps[@]}" "$name"
      failed+=("$name")
    elif run_step "$number" "${#steps[@]}" "$name"; then
      passed+=("$name")
    else
      failed+=("$name")
    fi
  done
  [[ ${#failed[@]} -eq 0 ]] || printf 'failed: %s\n' "${failed[*]}"
  printf '%d passed, %d failed\n' "${#passed[@]}" "${#failed[@]}"
  [[ ${#failed[@]} -eq 0 ]]
}

# The C++ tests whose name contains `filter`, which may have `*` and `?`.
run_named_tests() {
  local filter="*$1*" program found=0
  for program in build/dev/*_test; do
    "$program" --gtest_list_tests --gtest_filter="$filter" | grep -q '^  ' || continue
    found=1
    "$program" --gtest_filter="$filter"
  done
  [[ $found -eq 1 ]] || die "no C++ test matches $filter"
}

# Only the tests that `filter` names.
run_filtered() {
  local filter=$1
  step_packages
  case $filter in
    tests/cli*) step_cli "$filter" ;;
    tests/with_torch*)
      with_torch ensure_venv torch
      with_torch run_torch_tests "$filter"
      ;;
    python/tests* | tests/*)
      ensure_venv build peers
      step_pytest "$filter"
      ;;
    *)
      build_preset_quietly dev
      run_named_tests "$filter"
      ;;
  esac
}

run_tests() {
  local steps=("${short_steps[@]}") filter=
  while [[ $# -gt 0 ]]; do
    case $1 in
      --long)
        export DOLIUM_LONG=1
        steps+=("${long_steps[@]}")
        ;;
      --step)
        [[ -n ${2:-} ]] || die "--step needs a name: ${short_steps[*]} ${long_steps[*]}"
        describe_step "$2" >/dev/null
        "step_$2" "${@:3}"
        return
        ;;
      -*) die "no option $1; see ./dev help" ;;
      *) filter=$1 ;;
    esac
    shift
  done
  if [[ -n $filter ]]; then
    run_filtered "$filter"
  else
    run_steps "${steps[@]}"
  fi
}
