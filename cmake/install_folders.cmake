# Which folders `make install` makes: `make uninstall` takes away these, once they are empty, and no other. Included
# before anything else installs. What stands in folders that are named after us is uninstall.cmake.in's to find.
get_filename_component(above_docs "${CMAKE_INSTALL_DOCDIR}" DIRECTORY)
set(install_folders bin lib ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_LIBDIR}/cmake
  ${above_docs} ${CMAKE_INSTALL_MANDIR}/man1 ${CMAKE_INSTALL_MANDIR}/man3 ${CMAKE_INSTALL_MANDIR}/man7
  ${CMAKE_INSTALL_DATADIR}/bash-completion/completions ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
  ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# What is kept of each place (DESTDIR and prefix): installed/KEY.folders here, installed/KEY.files by install.cmake.
install(CODE "
  string(MD5 place \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  set(place \"${CMAKE_BINARY_DIR}/installed/\${place}\")
  foreach(folder ${install_folders})
    get_filename_component(folder \"\${folder}\" ABSOLUTE BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")
    set(folder \"\$ENV{DESTDIR}\${folder}\")
    while(NOT EXISTS \"\${folder}\")
      file(APPEND \"\${place}.folders\" \"\${folder}\\n\")
      get_filename_component(folder \"\${folder}\" DIRECTORY)
    endwhile()
  endforeach()" ALL_COMPONENTS)
