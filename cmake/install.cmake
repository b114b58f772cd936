# cmake --install: the commands, the public headers, the plugins, the configurations, and what others
# need to build plugins (a CMake package and a pkg-config file).
include(CMakePackageConfigHelpers)

# The command looks for plugins at ../lib/dpframe/plugins of its own directory, whatever the system's
# name for the library directory is: an installation may be moved as a whole.
set(DPFRAME_PLUGIN_DIR lib/dpframe/plugins)
set(DPFRAME_PACKAGE_DIR lib/cmake/dpframe)

install(TARGETS dpframe_headers dpframe_sdk EXPORT dpframe ARCHIVE DESTINATION lib)
foreach(command dpframe dpframe-check)
  if(TARGET ${command})
    install(TARGETS ${command} EXPORT dpframe RUNTIME DESTINATION bin)
  endif()
endforeach()
if(TARGET dpframe-check)
  set_target_properties(dpframe-check PROPERTIES EXPORT_NAME check)
endif()
install(EXPORT dpframe NAMESPACE dpframe:: FILE dpframe-targets.cmake DESTINATION ${DPFRAME_PACKAGE_DIR})

install(DIRECTORY include/dpframe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
get_property(plugins GLOBAL PROPERTY DPFRAME_PLUGINS)
if(plugins)
  install(TARGETS ${plugins} LIBRARY DESTINATION ${DPFRAME_PLUGIN_DIR})
endif()
if(EXISTS ${CMAKE_SOURCE_DIR}/configs)
  install(DIRECTORY configs DESTINATION share/dpframe)
endif()
install(DIRECTORY templates DESTINATION share/dpframe)
# Plugins of the literature, and an example of each component.
install(DIRECTORY examples/plugins DESTINATION share/dpframe/examples)
file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/plugins/*/*/*.ini)
install(FILES ${examples} DESTINATION share/dpframe/examples/components)
# The documents name each other by their places in the tree, so these stay.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN "cells" EXCLUDE PATTERN "measured" EXCLUDE PATTERN "dpframe.1" EXCLUDE)
install(PROGRAMS scripts/dpframe-verify DESTINATION bin)
# Where Debian's python3 looks, in a package (prefix /usr).
install(DIRECTORY python/dpframe DESTINATION lib/python3/dist-packages FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
  PATTERN "__pycache__" EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES docs/dpframe.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completion/dpframe.bash RENAME dpframe DESTINATION share/bash-completion/completions)
install(FILES completion/_dpframe DESTINATION share/zsh/site-functions)
install(FILES completion/dpframe.fish DESTINATION share/fish/vendor_completions.d)

configure_package_config_file(cmake/dpframe-config.cmake.in ${CMAKE_BINARY_DIR}/dpframe-config.cmake
  INSTALL_DESTINATION ${DPFRAME_PACKAGE_DIR} PATH_VARS DPFRAME_PLUGIN_DIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/dpframe-config-version.cmake
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_BINARY_DIR}/dpframe-config.cmake ${CMAKE_BINARY_DIR}/dpframe-config-version.cmake
  cmake/DpframePlugin.cmake cmake/plugin.map DESTINATION ${DPFRAME_PACKAGE_DIR})

configure_file(cmake/dpframe.pc.in ${CMAKE_BINARY_DIR}/dpframe.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/dpframe.pc DESTINATION lib/pkgconfig)

# cmake --build build/release --target uninstall: removes what the last installation from this build wrote.
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt
  -P ${CMAKE_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)

# Packages: cpack -G DEB in the build directory.
set(CPACK_PACKAGE_NAME dpframe)
set(CPACK_PACKAGE_CONTACT "The dpframe authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Differentially private matrix-factorization recommenders, composed from plugins")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox, python3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-numpy, python3-pandas")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_STRIP_FILES ON)
include(CPack)
