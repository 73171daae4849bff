#!/bin/sh
# ranks.sh PSRUN PROGRAM - what a rank gets of the machine by what launchers say; a program without MPI gets none of it.
psrun=$1 program=$2 failed=0 all=$(nproc)
for name in $(env | sed -n 's/^\(\(OMPI_COMM\|PMI\|MPI_LOCAL\|SLURM\)[A-Z_]*\)=.*/\1/p'); do unset "$name"; done

# says TEXT NAME=VALUE...: the text stands in what psrun --verbose prints with these variables.
says() {
    text=$1
    shift
    output=$(env "$@" "$psrun" --verbose "$program" 2>&1)
    case $output in
    *"$text"*"all is well"*) ;;
    *"all is well"*"$text"*) ;;
    *) echo "with $*: wanted '$text' and 'all is well' in:"; echo "$output"; failed=1 ;;
    esac
}

says "rank 1 of 2 on this machine" OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1
says "rank 3 of 4 on this machine" MPI_LOCALNRANKS=4 MPI_LOCALRANKID=3
says "rank 1 of 2 on this machine" SLURM_PROCID=9 SLURM_LOCALID=1 SLURM_NODEID=2 "SLURM_STEP_TASKS_PER_NODE=4(x2),2"
says "rank 3 of 4 on this machine" SLURM_PROCID=7 SLURM_LOCALID=3 SLURM_NODEID=1 "SLURM_STEP_TASKS_PER_NODE=4(x2),2"
says "(alone)" OMPI_COMM_WORLD_LOCAL_SIZE=1 OMPI_COMM_WORLD_LOCAL_RANK=0
says "1 threads" OMPI_COMM_WORLD_LOCAL_SIZE="$all" OMPI_COMM_WORLD_LOCAL_RANK=0
# A launcher that may use one processor alone has not bound its ranks, whatever those above it may use. A shell between
# the launcher and the rank has the rank's variables.
if [ "$all" -gt 1 ]; then
    first=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
    for command in 'env $RANK "$@"; :' 'env $RANK sh -c "\"\$@\"; :" sh "$@"; :'; do
        output=$(RANK="OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=0" taskset -c "$first" \
            sh -c "$command" sh "$psrun" --verbose "$program" 2>&1)
        case $output in
        *"1 of 1 processors (dealt evenly)"*) ;;
        *) echo "beside one processor's launcher ($command):"; echo "$output"; failed=1 ;;
        esac
    done
fi
# What makes no sense is no rank.
for wrong in "OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=2" "MPI_LOCALNRANKS=x MPI_LOCALRANKID=0" \
    "SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=5 SLURM_STEP_TASKS_PER_NODE=4(x2),2"; do
    # shellcheck disable=SC2086
    if env $wrong "$psrun" --verbose "$program" 2>&1 | grep "on this machine"; then
        echo "with $wrong: it is taken for a rank"
        failed=1
    fi
done
exit $failed
