# Sourced by demo, test and check. `environment EXTRA` makes .venv in the checkout with symc and
# what the extra of pyproject.toml names, unless that is there already, and sets $venv.
# PYTHON chooses the Python (3.11 or later), SYMC_VENV another folder for the environment.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${SYMC_VENV:-$root/.venv}

fail() { echo "$(basename "$0"): $*" >&2; exit 1; }

is_recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    local name
    if [ -n "${PYTHON:-}" ]; then
        is_recent "$PYTHON" || fail "PYTHON=$PYTHON is not a Python 3.11 or later"
        echo "$PYTHON"
        return
    fi
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if is_recent "$name"; then echo "$name"; return; fi
    done
    fail "no Python 3.11 or later found; install one, or name it with PYTHON=..."
}

# What an environment was made from: where it and the checkout are, and its Python.
origin() { echo "$venv $root $("$1" -c 'import sys; print(sys.version, sys.base_prefix)')"; }

# What is installed into it follows from these files too.
inputs() { (cd "$root" && cksum pyproject.toml symc/_build.py symc/calls/_*.[ch] codegen/runtime/host/call.h); }

environment() {
    local extra=$1 python made wanted stamp
    python=$(find_python)
    command -v "${CC:-cc}" >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null ||
        echo "$(basename "$0"): no C compiler found; install gcc (functions would be interpreted)" >&2
    made=$(origin "$python")
    wanted="$made $(inputs)"
    stamp=$venv/.symc-$extra
    if [ -x "$venv/bin/python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
        return
    fi
    if [ ! -x "$venv/bin/python" ] || [ "$(cat "$venv/.symc-made" 2>/dev/null)" != "$made" ]; then
        echo "making $venv with $("$python" --version)"
        "$python" -m venv --clear "$venv" ||
            fail "could not make $venv (on Debian and Ubuntu: apt install python3-venv)"
        echo "$made" > "$venv/.symc-made"
    fi
    echo "installing symc with extra '$extra'"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 8 \
        --timeout "${PIP_DEFAULT_TIMEOUT:-120}" --editable "$root[$extra]" ||
        fail "pip failed; run this again to go on from there"
    "$venv/bin/python" -c "import symc.calls._call" 2>/dev/null ||
        echo "$(basename "$0"): symc/calls/_call.c could not be compiled; calls go through cffi" >&2
    case $extra in  # each has all that the next has
        dev) set -- dev test demo ;;
        test) set -- test demo ;;
    esac
    for extra in "$@"; do echo "$wanted" > "$venv/.symc-$extra"; done
}
