# The OpenMP core on bare metal, for each board of src/os/bare: build/manycore/lib (the virtual manycore),
# build/manycore/virt/lib (QEMU's virt machine), build/manycore/include, and build/bin/manycore-cc. Compiled by the
# cross compiler, so by commands of its own: one for each source. What the target has no use for is not in the lists
# below (tools, displays, other ABIs, kernel threads).
find_program(PS_RISCV_GCC riscv64-unknown-elf-gcc)
find_program(PS_RISCV_AR riscv64-unknown-elf-gcc-ar)
find_file(PS_PICOLIBC picolibc.specs PATHS /usr/lib/picolibc/riscv64-unknown-elf /usr/riscv64-unknown-elf/lib
    NO_DEFAULT_PATH)
if(NOT PS_RISCV_GCC OR NOT PS_RISCV_AR)
  message(STATUS "manycore runtime: left out (tools/install-deps manycore installs riscv64-unknown-elf-gcc)")
  return()
endif()

set(bare_src ${CMAKE_SOURCE_DIR}/src)
set(bare_out ${CMAKE_BINARY_DIR}/manycore)
set(bare_hals hws sw hws-paper-implicit hws-paper sw-paper)
# Of ee/manycore: what depends on the way to start and join teams.
set(bare_hal_hws mapping.c hal/synchroniser.c hal/hws.c)
set(bare_hal_sw mapping.c hal/sw.c)
set(bare_hal_hws-paper-implicit hal/paper-implicit.c hal/paper.c hal/synchroniser.c hal/hws-paper.c)
set(bare_hal_hws-paper hal/paper-explicit.c hal/paper.c hal/synchroniser.c hal/hws-paper.c)
set(bare_hal_sw-paper hal/paper-explicit.c hal/paper.c hal/sw-paper.c)
set(bare_default_hal hws)
set(bare_flags --specs=picolibc.specs -march=rv32imafc -mabi=ilp32f -O2 -g -std=gnu17 -Wall -Wextra -ffunction-sections
    -fdata-sections
    -D_GNU_SOURCE -DPS_VERSION="${PROJECT_VERSION}"
    -DPS_CACHE_LINE=16 -DPS_LINE_ALIGN=8 # no data caches: objects are aligned for every type, fields for their own
    -DPS_RACE=0 -DORT_TOOLS=0 -DORT_MEMBERS_APART=1 -DORT_BATCHES=0 -DORT_EMERGENCY_BYTES=8192
    -DORT_TASK_SLAB_BYTES=4096 -DORT_WS_RING=2 -DORT_TURN_EVENT_BITS=4 -DEE_MEMBER_BYTES=24 -DEE_TEAM_BYTES=144
    -DEE_ZEROS_BYTES=2016)
if(PS_WERROR)
  list(APPEND bare_flags -Werror)
endif()
foreach(room base os os/bare cpu cpu/riscv32 cpu/riscv64 lockfree ee ee/manycore ee/manycore/hal ort/core ort/lock
    ort/place ort/tool ort/task ort/loop ort/memory ort/region abi/user abi/gomp)
  list(APPEND bare_flags -I${bare_src}/${room})
endforeach()
list(APPEND bare_flags -I${CMAKE_SOURCE_DIR}/platform/include)
# The runtime's own memory is its cluster's (board.h), not the program's heap.
set(bare_own_memory)
foreach(name malloc free calloc realloc aligned_alloc posix_memalign)
  list(APPEND bare_own_memory -D${name}=board_${name})
endforeach()

set(bare_runtime base/check.c lockfree/deque.c lockfree/magazine.c lockfree/spin.c)
list(APPEND bare_runtime
  ort/core/emergency_pool.c ort/core/icv.c ort/core/without.c
  ort/lock/lock.c ort/lock/own_lock.c ort/place/place_machine.c
  ort/task/task.c ort/task/task_create.c ort/task/task_call.c ort/task/task_run.c ort/task/task_wait.c
  ort/task/task_complete.c ort/task/task_queue.c ort/task/task_sleep.c ort/task/task_memory.c
  ort/task/task_range.c
  ort/task/task_reduction.c ort/task/taskgroup.c ort/task/taskloop.c ort/task/depend.c ort/task/depend_node.c
  ort/task/depend_memory.c
  ort/loop/workshare.c ort/loop/loop.c ort/loop/ordered.c ort/loop/doacross.c
  ort/region/thread.c ort/region/team.c ort/region/team_block.c ort/region/members_apart.c
  ort/region/region_again.c ort/region/teams.c ort/region/target.c ort/region/cancel.c)
foreach(name alloc cancel loop loop_ull parallel sync target task taskloop workshare)
  list(APPEND bare_runtime abi/gomp/${name}.c)
endforeach()
# What is read at the start, and by queries, stands in main memory: variables' values, lists of places.
set(bare_program ee/manycore/ee.c ort/environment/env.c ort/core/spelling.c ort/place/place.c
    ort/place/place_parse.c ort/memory/allocator.c ort/memory/allocator_env.c os/linux/env.c os/bare/atomic.c
    os/bare/heap.c os/bare/os.c os/bare/string.c cpu/riscv64/switch.S cpu/riscv64/thread_pointer.c cpu/context.c)
foreach(name allocator bare/by_chance bare/time device lock places settings task threads)
  list(APPEND bare_program abi/user/${name}.c)
endforeach()

# bare_object(SOURCE OBJECT FLAGS...): appends the object to bare_objects of the caller.
function(bare_object source object)
  set(launcher)
  if(CMAKE_C_COMPILER_LAUNCHER AND NOT source MATCHES "\\.S$")
    set(launcher ${CMAKE_C_COMPILER_LAUNCHER})
  endif()
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${object}
    COMMAND ${launcher} ${PS_RISCV_GCC} ${bare_flags} ${ARGN} -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "Building for the manycore ${source}" VERBATIM)
endfunction()

# bare_board(BOARD FOLDER START START_C HALS...): FOLDER/lib gets crt0.o and board.o from the two sources that stand
# before main, and a library for each HAL; all are appended to bare_results of the caller.
function(bare_board board out start start_c)
  set(here -I${bare_src}/os/bare/${board})
  if(board STREQUAL "manycore")
    list(APPEND here "-DEE_PORT=\"ee_port.h\"")
  endif()
  set(objects)
  foreach(source ${bare_runtime})
    bare_object(${bare_src}/${source} ${out}/obj/${source}.o ${here} ${bare_own_memory})
    list(APPEND objects ${out}/obj/${source}.o)
  endforeach()
  foreach(source ${bare_program})
    bare_object(${bare_src}/${source} ${out}/obj/${source}.o ${here})
    list(APPEND objects ${out}/obj/${source}.o)
  endforeach()
  bare_object(${start} ${out}/lib/crt0.o)
  bare_object(${start_c} ${out}/lib/board.o ${here})
  set(results ${out}/lib/crt0.o ${out}/lib/board.o)
  # Twice on the manycore: plain, and with the phases of fork and join marked for the trace (manycore-cc --phases).
  list(REMOVE_ITEM objects ${out}/obj/ee/manycore/ee.c.o)
  set(folders .)
  if(board STREQUAL "manycore")
    list(APPEND folders phases)
  endif()
  foreach(folder ${folders})
    set(marks)
    set(obj ${out}/obj)
    if(folder STREQUAL "phases")
      set(marks -DPOOL_PHASES=1)
      set(obj ${out}/obj/phases)
      bare_object(${bare_src}/ee/manycore/ee.c ${obj}/ee/manycore/ee.c.o ${here} ${marks})
    endif()
    set(sources)
    foreach(hal ${ARGN})
      list(APPEND sources ${bare_hal_${hal}})
    endforeach()
    list(REMOVE_DUPLICATES sources)
    foreach(source ${sources})
      bare_object(${bare_src}/ee/manycore/${source} ${obj}/ee/manycore/${source}.o ${here} ${marks})
    endforeach()
    file(MAKE_DIRECTORY ${out}/lib/${folder})
    foreach(hal ${ARGN})
      set(own ${obj}/ee/manycore/ee.c.o)
      foreach(source ${bare_hal_${hal}})
        list(APPEND own ${obj}/ee/manycore/${source}.o)
      endforeach()
      cmake_path(SET library NORMALIZE ${out}/lib/${folder}/libmanycore-omp-${hal}.a)
      add_custom_command(OUTPUT ${library}
        COMMAND ${CMAKE_COMMAND} -E rm -f ${library}
        COMMAND ${PS_RISCV_AR} rcs ${library} ${objects} ${own}
        DEPENDS ${objects} ${own} COMMENT "Linking ${library}" VERBATIM)
      list(APPEND results ${library})
    endforeach()
  endforeach()
  set(bare_results ${bare_results} ${results} PARENT_SCOPE)
endfunction()

set(bare_results)
bare_board(manycore ${bare_out} ${CMAKE_SOURCE_DIR}/platform/board/crt0.S ${CMAKE_SOURCE_DIR}/platform/board/board.c
    ${bare_hals})
bare_board(virt ${bare_out}/virt ${bare_src}/os/bare/virt/start.S ${bare_src}/os/bare/virt/boot.c sw)
configure_file(${bare_src}/os/bare/virt/virt.ld ${bare_out}/virt/lib/virt.ld COPYONLY)
configure_file(${bare_src}/os/bare/manycore/manycore.ld ${bare_out}/lib/manycore.ld COPYONLY)
foreach(data tcdm l2 main)
  configure_file(${bare_src}/os/bare/manycore/data-${data}/manycore-data.ld
      ${bare_out}/lib/data-${data}/manycore-data.ld COPYONLY)
endforeach()
file(WRITE ${bare_out}/lib/libgomp.spec "*link_gomp: -lm\n\n") # GCC looks for it under -ftree-parallelize-loops
configure_file(${bare_src}/abi/user/bare/omp.h ${bare_out}/include/omp.h COPYONLY)
configure_file(${CMAKE_SOURCE_DIR}/platform/include/manycore.h ${bare_out}/include/manycore.h COPYONLY)
string(REPLACE ";" " " hals "${bare_hals}")
set(default_hal ${bare_default_hal})
configure_file(${bare_src}/os/bare/manycore-cc ${CMAKE_BINARY_DIR}/bin/manycore-cc @ONLY)
add_custom_target(manycore_runtime ALL DEPENDS ${bare_results})
