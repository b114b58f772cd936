# dpframe_add_plugin(NAME SOURCES file.c ... [LIBRARIES lib ...] [CHECK option ...])
#
# A plugin: one shared object NAME.so that exports the entry point and nothing else. Used in the tree
# and, through find_package(dpframe), by plugins of others. With the command dpframe-check at hand it also adds
# the conformance test check.NAME; CHECK gives it options, such as --set delta=1e-6 for a component whose
# defaults make no instance. In the tree, files test_*.c of the folder are tests of the program test-plugins, or of test-NAME with TESTS NAME, under that label.
set(DPFRAME_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

function(dpframe_add_plugin name)
  cmake_parse_arguments(arg "" "TESTS" "SOURCES;LIBRARIES;CHECK" ${ARGN})
  add_library(plugin_${name} MODULE ${arg_SOURCES})
  set_target_properties(plugin_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden
    # The padding that a path of a build tree ends in is searched as the working directory.
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON
    LINK_DEPENDS ${DPFRAME_CMAKE_DIR}/plugin.map)
  target_compile_options(plugin_${name} PRIVATE -Wall -Wextra -ffp-contract=off)
  if(NOT DPFRAME_SANITIZE AND NOT DPFRAME_FUZZ)
    target_link_options(plugin_${name} PRIVATE -Wl,-z,defs)
  endif()
  target_link_options(plugin_${name} PRIVATE
    -Wl,-z,now -Wl,-z,relro -Wl,--version-script=${DPFRAME_CMAKE_DIR}/plugin.map)
  target_link_libraries(plugin_${name} PRIVATE dpframe::plugin m ${arg_LIBRARIES})
  if(TARGET dpframe_flags)
    target_link_libraries(plugin_${name} PRIVATE dpframe_flags)
    set_property(GLOBAL APPEND PROPERTY DPFRAME_PLUGINS plugin_${name})
    if(BUILD_TESTING)
      file(GLOB tests CONFIGURE_DEPENDS test_*.c)
      if(NOT arg_TESTS)
        set(arg_TESTS plugins)
      endif()
      dpframe_test_program(${arg_TESTS} DEPENDS plugin_${name})
      dpframe_add_tests(${arg_TESTS} LABEL ${arg_TESTS} SOURCES ${tests})
    endif()
  endif()
  if(TARGET dpframe::check AND BUILD_TESTING)
    if(TARGET dpframe_flags)
      list(PREPEND arg_CHECK --skips ${CMAKE_SOURCE_DIR}/tests/plugins/skipped-rules.txt)
    endif()
    add_test(NAME check.${name} COMMAND $<TARGET_FILE:dpframe::check> $<TARGET_FILE:plugin_${name}> ${arg_CHECK})
    set_tests_properties(check.${name} PROPERTIES LABELS plugins TIMEOUT 120)
  endif()
endfunction()
