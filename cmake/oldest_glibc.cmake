# ps_oldest_glibc(TARGETS...): these run on glibc 2.28 and later, whichever glibc they are built with.
#
# The linker binds each symbol to the newest version that the C library has. glibc 2.34 moved libpthread and libdl into
# libc.so.6 under new versions, and kept the old ones. So the linker is shown libraries without code first, which have
# what cmake/oldest-glibc.txt lists under the old versions. The result is what a link on glibc 2.28 would be.
# tests/packaging/versions.py holds it. A function that is newer in another way fails there: the code needs another one.
#
# Rejected: .symver in a header (the static library is made of the same objects, and libc.a has no versions). A build in
# an old system for released binaries alone (the tests would test other ones).
set(ps_oldest_libraries)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$" OR CMAKE_CROSSCOMPILING OR PS_SANITIZE)
  function(ps_oldest_glibc)
  endfunction()
  return()
endif()

set(list ${CMAKE_SOURCE_DIR}/cmake/oldest-glibc.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
file(STRINGS ${list} lines REGEX "^[^#]")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^([^ ]+) ([^ ]+) (GLIBC_[0-9.]+)$")
    message(FATAL_ERROR "cmake/oldest-glibc.txt: not a library, a symbol and a version: ${line}")
  endif()
  set(library ${CMAKE_MATCH_1})
  list(APPEND ps_oldest_libraries ${library})
  list(APPEND nodes_${library} ${CMAKE_MATCH_3})
  string(APPEND code_${library} ".globl ${CMAKE_MATCH_2}\n.type ${CMAKE_MATCH_2}, @function\n${CMAKE_MATCH_2}:\n")
  string(APPEND node_${library}_${CMAKE_MATCH_3} "  ${CMAKE_MATCH_2};\n")
endforeach()
list(REMOVE_DUPLICATES ps_oldest_libraries)

foreach(library IN LISTS ps_oldest_libraries)
  set(folder ${CMAKE_BINARY_DIR}/oldest-glibc)
  set(map)
  list(REMOVE_DUPLICATES nodes_${library})
  foreach(node IN LISTS nodes_${library})
    string(APPEND map "${node} {\n${node_${library}_${node}}};\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/${library}.map CONTENT "${map}" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/${library}.S CONTENT
    "${code_${library}}.section .note.GNU-stack, \"\", @progbits\n" @ONLY)
  add_library(ps_oldest_${library} SHARED ${folder}/${library}.S)
  target_link_options(ps_oldest_${library} PRIVATE -nostdlib -Wl,-soname,${library}
    -Wl,--version-script=${folder}/${library}.map)
  set_target_properties(ps_oldest_${library} PROPERTIES LINKER_LANGUAGE C NO_SONAME ON PREFIX "" SUFFIX ""
    OUTPUT_NAME ${library} LIBRARY_OUTPUT_DIRECTORY ${folder} LINK_DEPENDS ${folder}/${library}.map)
endforeach()

# As options: CMake would note the folder of a library as a run path.
function(ps_oldest_glibc)
  foreach(target ${ARGN})
    foreach(library IN LISTS ps_oldest_libraries)
      target_link_libraries(${target} PRIVATE "-Wl,--as-needed,$<TARGET_FILE:ps_oldest_${library}>,--no-as-needed")
      add_dependencies(${target} ps_oldest_${library})
      set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:ps_oldest_${library}>)
    endforeach()
  endforeach()
endfunction()
