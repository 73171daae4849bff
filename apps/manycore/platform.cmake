# The six applications for the virtual platform: manycore/apps/NAME-HAL.elf, with each runtime that manycore-cc knows.
# Variables bare_hals and target manycore_runtime are those of the runtime's own rules.
if(NOT TARGET manycore_runtime OR NOT bare_hals)
  message(STATUS "apps/manycore: not built for the platform (manycore-cc is not)")
  return()
endif()
set(mc_folder ${CMAKE_SOURCE_DIR}/apps/manycore)
set(mc_elves)
set(mc_hals ${bare_hals})
list(REMOVE_ITEM mc_hals hws-paper-implicit) # hws-paper's, but for flat regions of all cores
file(GLOB mc_headers ${mc_folder}/*.h)
foreach(name color fast mahalanobis strassen ncc shot)
  set(mc_sources ${name}.c mc.c forms.c images.c move_platform.c files_platform.c)
  if(name STREQUAL shot)
    list(APPEND mc_sources shot_parts.c)
  endif()
  list(TRANSFORM mc_sources PREPEND ${mc_folder}/)
  foreach(hal ${mc_hals})
    set(mc_elf ${CMAKE_BINARY_DIR}/manycore/apps/${name}-${hal}.elf)
    add_custom_command(OUTPUT ${mc_elf}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/manycore/apps
      COMMAND ${CMAKE_BINARY_DIR}/bin/manycore-cc --hal=${hal} --stack=4096 -ffp-contract=off -fno-math-errno
              -DPS_VERSION="${PROJECT_VERSION}"
              -Wall -Wextra
              ${mc_sources} -o ${mc_elf}
      DEPENDS ${mc_sources} ${mc_headers} manycore_runtime VERBATIM)
    list(APPEND mc_elves ${mc_elf})
  endforeach()
endforeach()
# In software without binding, as figure 17's "nested" of the paper: outer teams span clusters.
foreach(name color fast mahalanobis strassen ncc shot)
  set(mc_sources ${name}.c mc.c forms.c images.c move_platform.c files_platform.c unbound.c)
  if(name STREQUAL shot)
    list(APPEND mc_sources shot_parts.c)
  endif()
  list(TRANSFORM mc_sources PREPEND ${mc_folder}/)
  set(mc_elf ${CMAKE_BINARY_DIR}/manycore/apps/${name}-sw-unbound.elf)
  add_custom_command(OUTPUT ${mc_elf}
    COMMAND ${CMAKE_BINARY_DIR}/bin/manycore-cc --hal=sw --stack=4096 -ffp-contract=off -fno-math-errno
            -DPS_VERSION="${PROJECT_VERSION}" -Wall -Wextra ${mc_sources} -o ${mc_elf}
    DEPENDS ${mc_sources} ${mc_headers} manycore_runtime VERBATIM)
  list(APPEND mc_elves ${mc_elf})
endforeach()
add_custom_target(manycore_apps ALL DEPENDS ${mc_elves})

if(PS_TESTS AND TARGET manycore AND TARGET mc-fast)
  set(mc_test ${CMAKE_SOURCE_DIR}/tests/manycore_apps/platform_test.py --manycore $<TARGET_FILE:manycore>
      --host $<TARGET_FILE_DIR:mc-fast> --elves ${CMAKE_BINARY_DIR}/manycore/apps)
  ps_watched_test(apps.manycore.platform 120 ${mc_test} ${mc_hals})
  ps_watched_test(apps.manycore.platform.long 1200 ${mc_test} --long ${mc_hals})
  set_tests_properties(apps.manycore.platform apps.manycore.platform.long PROPERTIES LABELS apps)
  ps_by_hand(apps.manycore.platform.long)
endif()
