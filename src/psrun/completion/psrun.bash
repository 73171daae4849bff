# Completion of psrun for bash. bash-completion loads this file when a command line with psrun is completed first.

# Sets `options` to the number of words after $1 that are options and their values; options that match $1 take a value.
# The last word is the one that is being typed; `valued` is set if that word is an option's value.
_psrun_skip()
{
    local with_value=$1
    options=0 valued=
    shift
    while [ $# -gt 1 ] && [[ $1 == -* ]]; do
        options=$((options + 1))
        [ "$1" != -- ] || return
        if [[ $1 =~ ^($with_value)$ ]]; then
            options=$((options + 1))
            [ $# -gt 2 ] || valued=yes
            shift
        fi
        shift
    done
}

_psrun_list()
{
    local before=
    [[ $2 != *,* ]] || before=${2%,*},
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${2##*,}")
}

_psrun_doctor()
{
    local options valued at=$1
    _psrun_skip '-o|--output|--pid' "${words[@]:at:cword-at+1}"
    if [ $((at + options)) -lt "$cword" ] && [ -z "$valued" ]; then
        _command_offset $((at + options))
        return
    fi
    case $prev in
        -o | --output) _filedir ;;
        --pid) _pids ;;
        *)
            if [[ $cur == -* ]]; then
                _psrun_list "--run --until-idle --static --pid --json -o --output -h --help" "$cur"
            else
                _command_offset "$cword"
            fi
            ;;
    esac
}

_psrun()
{
    local cur prev words cword split options valued at
    _init_completion -s || return # sets the first five
    _psrun_skip '-n|--threads|--ee|--mpi|--pools|--trace|--trace-limit|--dropin' "${words[@]:1:cword}"
    at=$((1 + options))
    if [ "$at" -lt "$cword" ] && [ -z "$valued" ]; then
        case ${words[at]} in
            doctor) _psrun_doctor $((at + 1)) ;;
            dump | stats) _pids ;;
            report) _filedir ;;
            top) mapfile -t COMPREPLY < <(compgen -W "--json --once" -- "$cur") ;;
            *) _command_offset "$at" ;;
        esac
        return
    fi
    case $prev in
        -n | --threads) ;;
        --ee) _psrun_list "psthreads pthreads" "$cur" ;;
        --mpi) _psrun_list "auto off" "$cur" ;;
        --pools) _psrun_list "openblas fftw none" "$cur" ;;
        --trace) _filedir ;;
        --trace-limit) ;;
        --dropin) _filedir -d ;;
        *)
            if [[ $cur == -* ]]; then
                _psrun_list "-n --threads --ee --mpi --pools --trace --stats --trace-limit --dropin -v --verbose -V
                    --version -h --help" "$cur"
            else
                _command_offset "$cword"
                mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "doctor dump stats top report" -- "$cur")
            fi
            ;;
    esac
} && complete -F _psrun psrun
