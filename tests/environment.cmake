# Read by ctest before its tests: what the caller has exported for programs of his own (OMP_CANCELLATION,
# PSTHREADS_NUM_VPS ...) is none of theirs.
execute_process(COMMAND env OUTPUT_VARIABLE lines)
string(REGEX MATCHALL "(^|\n)(OMP|GOMP|KMP|MEMKIND|PSTHREADS)_[A-Za-z0-9_]*=" names "${lines}")
foreach(name ${names})
  string(REGEX REPLACE "[\n=]" "" name "${name}")
  unset(ENV{${name}})
endforeach()
