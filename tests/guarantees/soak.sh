#!/bin/sh
# soak.sh PROGRAM DROPIN_FOLDER LIBRARY - the soak on the drop-in, for $SOAK seconds (1800), with a seed of its own each
# time: as many vps as there are processors, under run-with-watch, so that a hang shows every thread.
seconds=${SOAK:-1800}
LD_LIBRARY_PATH=$2 exec "$(dirname "$0")/../run-with-watch" $((seconds + 120)) "$1" "$seconds" "${SEED:-$$}" "$3"
