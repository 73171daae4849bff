#!/bin/bash
# Run by conda-build for the package _openmp_mutex: the environment's libgomp is the runtime of the package psthreads.
set -eu
mkdir -p "$PREFIX/lib"
ln -s psthreads/dropin/libgomp-psthreads.so "$PREFIX/lib/libgomp.so.1"
