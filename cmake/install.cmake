# What `make install` puts where. The drop-in folders stand under lib/psthreads/ of the prefix, whatever the library
# folder is called: psrun looks for them from its own place.
include(CMakePackageConfigHelpers)
set(PS_DROPIN_DIR lib/psthreads)

install(FILES ${CMAKE_SOURCE_DIR}/include/psthread.h ${CMAKE_SOURCE_DIR}/include/psthread.hpp DESTINATION
  ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(FILES ${CMAKE_SOURCE_DIR}/tools/valgrind/psthreads.supp DESTINATION ${PS_DROPIN_DIR})

# Manual pages of section 3, made from the header's comments
find_package(Python3 COMPONENTS Interpreter QUIET)
set(pages)
if(Python3_FOUND)
  set(man_folder ${CMAKE_BINARY_DIR}/man)
  add_custom_command(OUTPUT ${man_folder}/man7/psthreads.7
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${man_folder}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/make-man ${CMAKE_SOURCE_DIR}/include/psthread.h
    ${PROJECT_VERSION} ${man_folder}
    DEPENDS ${CMAKE_SOURCE_DIR}/include/psthread.h ${CMAKE_SOURCE_DIR}/tools/make-man
    COMMENT "Making manual pages" VERBATIM)
  list(APPEND pages ${man_folder}/man7/psthreads.7)
  install(DIRECTORY ${man_folder}/ DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()

# Completion of a command by its --help, to where each shell looks by itself.
# ps_install_completion(COMMAND INSTALL_WORDS...)
function(ps_install_completion command)
  set(from ${CMAKE_SOURCE_DIR}/tools/completion)
  set(to ${CMAKE_BINARY_DIR}/completion)
  configure_file(${from}/command.bash.in ${to}/${command} @ONLY)
  configure_file(${from}/command.zsh.in ${to}/_${command} @ONLY)
  configure_file(${from}/command.fish.in ${to}/${command}.fish @ONLY)
  install(FILES ${to}/${command} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions ${ARGN})
  install(FILES ${to}/_${command} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions ${ARGN})
  install(FILES ${to}/${command}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d ${ARGN})
endfunction()

# Manual pages of commands, made from what they say of themselves (--help) and docs/man
find_program(PS_HELP2MAN help2man)
if(NOT PS_HELP2MAN)
  message(STATUS "no manual pages of commands: there is no help2man (tools/install-deps build)")
endif()
# ps_command_page(COMMAND PROGRAM DEPENDS INSTALL_WORDS...): appends COMMAND's page to `pages` of the caller.
function(ps_command_page command program depends)
  if(NOT TARGET ${depends} OR NOT PS_HELP2MAN OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(page ${CMAKE_BINARY_DIR}/man1/${command}.1)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man1
    COMMAND ${PS_HELP2MAN} --no-info --version-string=${PROJECT_VERSION}
    --include=${CMAKE_SOURCE_DIR}/docs/man/${command}.h2m --output=${page} ${program}
    COMMAND sed -i "s/^Exit status: \\(.\\)/.SH \"EXIT STATUS\"\\n\\u\\1/" ${page} # a section of its own
    DEPENDS ${depends} ${CMAKE_SOURCE_DIR}/docs/man/${command}.h2m
    COMMENT "Making ${command}(1)" VERBATIM)
  set(pages ${pages} ${page} PARENT_SCOPE)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 ${ARGN})
endfunction()
foreach(command psrun psthreads-taskqc)
  ps_command_page(${command} $<TARGET_FILE:${command}> ${command})
endforeach()
add_custom_target(man ALL DEPENDS ${pages})

configure_file(cmake/uninstall.cmake.in ${CMAKE_BINARY_DIR}/uninstall.cmake @ONLY)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${CMAKE_BINARY_DIR}/uninstall.cmake)

# What is installed, and nothing else: what `make` builds.
add_custom_target(product)
set(mpi_layers ${PS_MPIS})
list(TRANSFORM mpi_layers PREPEND psthreads_mpi_)
foreach(part dropin dropin_pthreads dropin_libgomp_a dropin_libomp_a ompd psthreads_shared psthreads_static
     psthreads_pools psthreads_trace psthreads-report psrun psthreads-taskqc man ${mpi_layers})
  if(TARGET ${part})
    add_dependencies(product ${part})
  endif()
endforeach()

if(TARGET psthreads_shared)
  install(TARGETS psthreads_shared EXPORT psthreadsTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${ps_static_library} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/psthreads)
  install(EXPORT psthreadsTargets NAMESPACE psthreads:: DESTINATION ${package_dir})
  configure_package_config_file(cmake/psthreadsConfig.cmake.in ${CMAKE_BINARY_DIR}/psthreadsConfig.cmake
    INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR PS_DROPIN_DIR)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/psthreadsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/psthreadsConfig.cmake ${CMAKE_BINARY_DIR}/psthreadsConfigVersion.cmake
    DESTINATION ${package_dir})
  # relative, so that the tree may be installed to, or moved to, another prefix than the one configured
  file(RELATIVE_PATH PS_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" PS_PREFIX_FROM_PC "${PS_PREFIX_FROM_PC}")
  string(REGEX REPLACE "([a-z]+)" " -l\\1" PS_PC_NEEDS "${ps_library_needs}")
  # In the prefix /usr the loader finds the library by itself. What is linked to it in any other prefix is told the
  # folder. The prefix is known at the installation.
  set(PS_PC_RPATH "")
  configure_file(cmake/psthreads.pc.in ${CMAKE_BINARY_DIR}/pkgconfig/usr/psthreads.pc @ONLY)
  set(PS_PC_RPATH " -Wl,-rpath,\${libdir}")
  configure_file(cmake/psthreads.pc.in ${CMAKE_BINARY_DIR}/pkgconfig/other/psthreads.pc @ONLY)
  install(CODE "
    set(kind other)
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
      set(kind usr)
    endif()
    get_filename_component(folder \"${CMAKE_INSTALL_LIBDIR}/pkgconfig\" ABSOLUTE BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")
    file(INSTALL DESTINATION \"\${folder}\" TYPE FILE FILES
    \"${CMAKE_BINARY_DIR}/pkgconfig/\${kind}/psthreads.pc\")")
endif()

if(TARGET psrun)
  install(TARGETS psrun RUNTIME DESTINATION bin)
  set(completion ${CMAKE_SOURCE_DIR}/src/psrun/completion) # to where each shell looks by itself
  install(FILES ${completion}/psrun.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME psrun)
  install(FILES ${completion}/_psrun DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completion}/psrun.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
if(TARGET psthreads-taskqc)
  ps_install_completion(psthreads-taskqc)
endif()
foreach(folder dropin dropin-pthreads)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/${folder} DESTINATION ${PS_DROPIN_DIR} OPTIONAL USE_SOURCE_PERMISSIONS
    PATTERN "*-gdb.py" EXCLUDE)
endforeach()

# gdb loads LIBRARY-gdb.py with LIBRARY. Distributions' gdbs trust /usr/share/gdb/auto-load, where the file
# stands under the library's whole path, and no other folder. A file beside the library would be found first, and
# refused. So the file stands beside the library only in other prefixes than /usr, where the user has to say
# `add-auto-load-safe-path`. The prefix is known at the installation.
set(ps_gdb_libraries)
if(TARGET psthreads_shared)
  list(APPEND ps_gdb_libraries ${CMAKE_INSTALL_LIBDIR}/libpsthreads.so.${PROJECT_VERSION})
endif()
if(PS_OPENMP)
  list(APPEND ps_gdb_libraries ${PS_DROPIN_DIR}/dropin/libgomp-psthreads.so)
endif()
install(CODE "
  foreach(library ${ps_gdb_libraries})
    set(into \${CMAKE_INSTALL_PREFIX})
    if(into STREQUAL \"/usr\")
      set(into /usr/share/gdb/auto-load/usr)
    endif()
    get_filename_component(folder \${into}/\${library} DIRECTORY)
    get_filename_component(name \${library} NAME)
    file(INSTALL DESTINATION \${folder} TYPE FILE RENAME \${name}-gdb.py FILES
    \"${CMAKE_SOURCE_DIR}/tools/gdb/psthreads-gdb.py\")
  endforeach()")

include(cmake/install_parts.cmake)

# What an uninstall of this place takes away. The last of all: it knows what has been installed, by this install and by
# earlier ones of the same place.
install(CODE "
  string(MD5 place \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  set(place \"${CMAKE_BINARY_DIR}/installed/\${place}.files\")
  set(installed_files \"\${CMAKE_INSTALL_MANIFEST_FILES}\")
  if(EXISTS \"\${place}\")
    file(STRINGS \"\${place}\" earlier)
    list(APPEND installed_files \${earlier})
    list(REMOVE_DUPLICATES installed_files)
  endif()
  string(REPLACE \";\" \"\\n\" installed_files \"\${installed_files}\")
  file(WRITE \"\${place}\" \"\${installed_files}\\n\")" ALL_COMPONENTS)
