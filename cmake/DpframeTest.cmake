# dpframe_add_test(NAME [LABEL unit] SOURCES test_x.c ... [LIBRARIES dpf_base ...] [ARGS ...])
# A CMocka program, run by ctest; the target tests-LABEL builds all of a label. Tests find fixtures through the environment variable DPFRAME_SOURCE_DIR, the
# build tree through DPFRAME_BUILD_DIR, and real data through DPFRAME_DATA (default: data/ in the checkout, as for configs/data,
# or a folder shared/data beside it). OPENBLAS_NUM_THREADS saves the program, which sets it, a second start; that it does is tested apart.
foreach(folder data ../shared/data)
  if(NOT default_data AND EXISTS ${CMAKE_SOURCE_DIR}/${folder})
    get_filename_component(default_data ${CMAKE_SOURCE_DIR}/${folder} ABSOLUTE)
  endif()
endforeach()
set(DPFRAME_DATA "${default_data}" CACHE PATH "Folder of real data sets; tests skip without it")

# For tests and what only they load. Whatever is tested is linked as the product has it; their own code is small, and most of
# the time that the optimiser would need for it is never won back.
add_library(dpframe_test_flags INTERFACE)
target_compile_options(dpframe_test_flags INTERFACE $<$<CONFIG:Release>:-O1>)
target_link_libraries(dpframe_test_flags INTERFACE dpframe_flags)

function(dpframe_add_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;LIBRARIES;ARGS" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    math(EXPR arg_TIMEOUT "20 * ${arg_TIMEOUT}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE dpframe_test_flags cmocka m ${arg_LIBRARIES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  if(NOT TARGET tests-${arg_LABEL})
    add_custom_target(tests-${arg_LABEL})
  endif()
  add_dependencies(tests-${arg_LABEL} ${name})
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "DPFRAME_SOURCE_DIR=${CMAKE_SOURCE_DIR};DPFRAME_BUILD_DIR=${CMAKE_BINARY_DIR};DPFRAME_DATA=${DPFRAME_DATA};OPENBLAS_NUM_THREADS=1")
endfunction()

# dpframe_add_slow_test(NAME ARGUMENT...): the program of a test once more, with arguments for all of what it tests; the label is slow.
function(dpframe_add_slow_test name)
  get_test_property(${name} ENVIRONMENT environment)
  add_test(NAME ${name}_all COMMAND ${name} ${ARGN})
  set_tests_properties(${name}_all PROPERTIES LABELS slow TIMEOUT 3600 ENVIRONMENT "${environment}")
endfunction()
