# The threads library as users link it: libpsthreads.so and libpsthreads.a, made of the rooms base to psthreads. The
# shared one has identity, too: a program that links the static one has the C library's own functions.
#
# Both show psthread_* and nothing else. The shared one does so by its version script. The static one is a single object
# whose hidden symbols are made local. So a private name of ours can never meet a name of the program's.
set(ps_library_rooms base cpu os lockfree uth psthreads)
set(ps_library_objects)
set(ps_library_room_targets)
foreach(room ${ps_library_rooms})
  if(NOT TARGET ps_${room})
    message(STATUS "libpsthreads is not built: the room ${room} has no sources")
    return()
  endif()
  list(APPEND ps_library_objects $<TARGET_OBJECTS:ps_${room}>)
  list(APPEND ps_library_room_targets ps_${room})
endforeach()

add_library(psthreads_shared SHARED ${ps_library_objects} $<TARGET_OBJECTS:ps_identity>)
# C even where every object is assembly to CMake's eyes
set_target_properties(psthreads_shared PROPERTIES
  OUTPUT_NAME psthreads EXPORT_NAME psthreads LINKER_LANGUAGE C
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${PS_SYMBOLS_DIR}/library.map)
# nodelete: kernel threads of ours may stand in the library's code when it is closed
target_link_options(psthreads_shared PRIVATE
  -Wl,--version-script=${PS_SYMBOLS_DIR}/library.map -Wl,-z,nodelete -Wl,--as-needed)
if(NOT PS_SANITIZE)
  target_link_options(psthreads_shared PRIVATE -Wl,-z,defs)
endif()
set(ps_library_needs) # names of the system's libraries: a user of the static library links them, too
if(PS_CPU STREQUAL posix)
  list(APPEND ps_library_needs m) # fegetmode
endif()
target_link_libraries(psthreads_shared PRIVATE Threads::Threads ${CMAKE_DL_LIBS}
  ${ps_library_needs})
ps_oldest_glibc(psthreads_shared)
target_include_directories(psthreads_shared INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

set(ps_static_library ${CMAKE_BINARY_DIR}/lib/libpsthreads.a)
set(ps_static_object ${CMAKE_BINARY_DIR}/lib/rooms/libpsthreads.o)
add_custom_command(
  OUTPUT ${ps_static_library}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${ps_static_object} ${ps_library_objects}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${ps_static_object}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${ps_static_library}
  COMMAND ${CMAKE_AR} qcs ${ps_static_library} ${ps_static_object}
  DEPENDS ${ps_library_room_targets} ${ps_library_objects}
  COMMENT "Making lib/libpsthreads.a"
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(psthreads_static ALL DEPENDS ${ps_static_library})
