# A room is a static library that exposes only its own folder's headers; it sees the rooms it names and what those see.

# ps_room(NAME SEES rooms... SOURCES files... [INCLUDES extra public folders])
function(ps_room name)
  cmake_parse_arguments(R "" "" "SEES;SOURCES;INCLUDES" ${ARGN})
  add_library(ps_${name} STATIC ${R_SOURCES})
  target_include_directories(ps_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${R_INCLUDES})
  foreach(other ${R_SEES})
    target_link_libraries(ps_${name} PUBLIC ps_${other})
  endforeach()
endfunction()

# ps_folders(SOURCES INCLUDES folders...): the C files of these folders of a room, and the folders themselves.
macro(ps_folders sources includes)
  foreach(folder ${ARGN})
    file(GLOB files CONFIGURE_DEPENDS ${folder}/*.c)
    list(APPEND ${sources} ${files})
    list(APPEND ${includes} ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  endforeach()
endmacro()

# ps_watched_test(NAME SECONDS COMMAND...): add_test under tests/run-with-watch, which shows every thread's state before
# it kills a test that hangs. ctest's own limit is only there for the watcher itself. Exit status 77: skipped. A program
# of the build's own runs under the emulator of a cross build, and has four times as long.
function(ps_watched_test name seconds)
  set(command ${ARGN})
  list(GET command 0 program)
  string(FIND "${program}" "${CMAKE_BINARY_DIR}/" at)
  if(CMAKE_CROSSCOMPILING AND (at EQUAL 0 OR program MATCHES "^.<TARGET_FILE:"))
    list(PREPEND command ${CMAKE_CROSSCOMPILING_EMULATOR})
    math(EXPR seconds "4 * ${seconds}")
  endif()
  if(PS_SHAKE) # each of its steps may be a wait
    math(EXPR seconds "3 * ${seconds}")
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/run-with-watch ${seconds} ${command})
  math(EXPR limit "3 * ${seconds} + 90") # a busy machine gets three times as long
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit} SKIP_RETURN_CODE 77)
endfunction()

# ps_long(TESTS...): what make check, and the sanitizers' builds, leave to make check-long and CI.
function(ps_long)
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS long)
endfunction()

# ps_slow(TESTS...): what make check leaves to make check-long and CI; the sanitizers' builds run it.
function(ps_slow)
  if(NOT PS_SANITIZE)
    ps_long(${ARGN})
  endif()
endfunction()

# ps_by_hand(TESTS...): what takes minutes, or the network; run by `make check-by-hand` alone.
function(ps_by_hand)
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS by_hand)
endfunction()

# ps_test(ROOM NAME SOURCES files... [ROOMS rooms it links] [LABELS labels] [TIMEOUT seconds])
# A cmocka program tests/<room>/<name>; run by ctest under the name <room>.<name>. Sanitizers
# multiply the time limit.
function(ps_test room name)
  if(NOT PS_TESTS)
    return()
  endif()
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;ROOMS;LABELS;LIBS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  if(PS_SANITIZE)
    math(EXPR T_TIMEOUT "${T_TIMEOUT} * 4")
  endif()
  add_executable(${room}_${name} ${T_SOURCES})
  foreach(other ${room} ${T_ROOMS})
    target_link_libraries(${room}_${name} PRIVATE ps_${other})
  endforeach()
  target_link_libraries(${room}_${name} PRIVATE PkgConfig::CMOCKA Threads::Threads ${T_LIBS})
  set_target_properties(${room}_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/${room})
  ps_watched_test(${room}.${name} ${T_TIMEOUT} $<TARGET_FILE:${room}_${name}>)
  set_tests_properties(${room}.${name} PROPERTIES LABELS "${room};${T_LABELS}")
endfunction()
