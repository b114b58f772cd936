# Tests are CMocka programs of tests that register themselves (tests/kit/test.h), run by ctest. Tests find fixtures through the
# environment variable DPFRAME_SOURCE_DIR, the build tree through DPFRAME_BUILD_DIR, and real data through DPFRAME_DATA (default:
# data/ in the checkout, as for configs/data, or a folder shared/data beside it). OPENBLAS_NUM_THREADS saves the program, which
# sets it, a second start; that it does is tested apart.
foreach(folder data ../shared/data)
  if(NOT default_data AND EXISTS ${CMAKE_SOURCE_DIR}/${folder})
    get_filename_component(default_data ${CMAKE_SOURCE_DIR}/${folder} ABSOLUTE)
  endif()
endforeach()
set(DPFRAME_DATA "${default_data}" CACHE PATH "Folder of real data sets; tests skip without it")
set(DPFRAME_TEST_ENVIRONMENT "DPFRAME_SOURCE_DIR=${CMAKE_SOURCE_DIR};DPFRAME_BUILD_DIR=${CMAKE_BINARY_DIR}"
  "DPFRAME_DATA=${DPFRAME_DATA};OPENBLAS_NUM_THREADS=1")

# For tests and what only they load. Whatever is tested is linked as the product has it; their own code is small, and the time that the
# optimiser would need for it is never won back.
# Their own undefined behaviour is nobody's: in sanitized builds addresses alone are checked, which finds what the tested code
# does to their memory.
add_library(dpframe_test_flags INTERFACE)
target_compile_options(dpframe_test_flags INTERFACE $<$<CONFIG:Release>:-O0>)
if(DPFRAME_SANITIZE)
  target_compile_options(dpframe_test_flags INTERFACE -O0 -fno-sanitize=undefined)
endif()
target_link_libraries(dpframe_test_flags INTERFACE dpframe_flags)

# Tests whose own loops take longer than the optimiser would: they are compiled at -O1.
set(DPFRAME_TESTS_WITH_LOOPS test_solver_ball test_solver_quadratics test_loss_implicit_als test_loss_explicit_als test_loss_weighted_als
  test_loss_complementary test_recommender_private_ratings test_evaluate_finalists test_plugin_joint_norms test_score_ease
  als_fixture sensitivity_fixture solver_fixture test_golden_renyi test_accountant_pld_exact test_reading_map test_data_keyed)

# The main function of all test programs, and what several of them share: hosts, tiny data sets, runs. A program takes of it what it
# uses, and links the rooms that this needs. What draws configurations (draw*.c) is a part of its own.
file(GLOB kit_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/kit/*.c)
list(FILTER kit_sources EXCLUDE REGEX "/(test_|draw)[a-z_]+\\.c$")
add_library(dpframe_test_kit STATIC ${kit_sources})
target_link_libraries(dpframe_test_kit PUBLIC cmocka PRIVATE dpframe_test_flags)
target_include_directories(dpframe_test_kit PUBLIC ${CMAKE_SOURCE_DIR}/tests
  PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/framework ${DPFRAME_PUBLIC_HEADERS})

# The target tests-LABEL builds this program, too.
function(dpframe_label_program label program)
  if(NOT TARGET tests-${label})
    add_custom_target(tests-${label})
  endif()
  add_dependencies(tests-${label} ${program})
endfunction()

# What LABEL and TIMEOUT are where the caller's arguments do not say.
macro(dpframe_test_defaults)
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
endmacro()

# dpframe_test_program(ROOM [LABEL label] [LIBRARIES dpf_base ...] [DEPENDS target ...])
# The program test-ROOM, which tests are added to by dpframe_add_tests; called again, it links more. The target tests-LABEL builds all of a label.
function(dpframe_test_program room)
  cmake_parse_arguments(arg "" "LABEL" "LIBRARIES;DEPENDS" ${ARGN})
  if(NOT TARGET test-${room})
    add_executable(test-${room})
    set_target_properties(test-${room} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(test-${room} PRIVATE dpframe_test_flags dpframe_test_kit m)
  endif()
  target_link_libraries(test-${room} PRIVATE ${arg_LIBRARIES})
  if(arg_DEPENDS)
    add_dependencies(test-${room} ${arg_DEPENDS})
  endif()
  if(arg_LABEL)
    dpframe_label_program(${arg_LABEL} test-${room})
  endif()
endfunction()

# dpframe_name_test(NAME LABEL TIMEOUT COMMAND ...)
function(dpframe_name_test name label timeout)
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    math(EXPR timeout "20 * ${timeout}")
  endif()
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${timeout} ENVIRONMENT "${DPFRAME_TEST_ENVIRONMENT}")
  set_property(GLOBAL PROPERTY DPFRAME_COMMAND_${name} ${ARGN})
endfunction()

# dpframe_add_tests(ROOM [LABEL unit] [TIMEOUT 300] SOURCES test_x.c ...)
# Files of the program test-ROOM; ctest runs each by its name. Those without test_ are what they share. One that includes a source, for
# what is not told to others, or has a
# main function is a program of its own, linked alike.
function(dpframe_add_tests room)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES" ${ARGN})
  dpframe_test_defaults()
  dpframe_test_program(${room} LABEL ${arg_LABEL})
  foreach(source ${arg_SOURCES})
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME_WE)
    if(name IN_LIST DPFRAME_TESTS_WITH_LOOPS)
      set_property(SOURCE ${source} TARGET_DIRECTORY test-${room} APPEND PROPERTY COMPILE_OPTIONS -O1)
    endif()
    if(NOT name MATCHES "^test_")
      target_sources(test-${room} PRIVATE ${source})
      continue()
    endif()
    file(STRINGS ${source} alone REGEX "^int main\\(|^#include \"[^\"]*\\.c\"" LIMIT_COUNT 1)
    if(alone)
      dpframe_add_test(${name} LABEL ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} SOURCES ${source}
        LIBRARIES $<TARGET_PROPERTY:test-${room},LINK_LIBRARIES>)
      target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:test-${room},INCLUDE_DIRECTORIES>)
      continue()
    endif()
    target_sources(test-${room} PRIVATE ${source})
    dpframe_name_test(${name} ${arg_LABEL} ${arg_TIMEOUT} test-${room} ${name})
  endforeach()
endfunction()

# dpframe_add_test(NAME [LABEL unit] SOURCES test_x.c ... [LIBRARIES dpf_base ...] [ARGS ...])
# A program of its own, for tests that are compiled or linked in a way of their own.
function(dpframe_add_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;LIBRARIES;ARGS" ${ARGN})
  dpframe_test_defaults()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE dpframe_test_flags dpframe_test_kit m ${arg_LIBRARIES})
  if(name IN_LIST DPFRAME_TESTS_WITH_LOOPS)
    target_compile_options(${name} PRIVATE -O1)
  endif()
  dpframe_label_program(${arg_LABEL} ${name})
  dpframe_name_test(${name} ${arg_LABEL} ${arg_TIMEOUT} ${name} ${arg_ARGS})
endfunction()

# dpframe_add_slow_test(NAME ARGUMENT...): the test once more, with arguments for all of what it tests; the label is slow.
function(dpframe_add_slow_test name)
  get_property(command GLOBAL PROPERTY DPFRAME_COMMAND_${name})
  dpframe_name_test(${name}_all slow 3600 ${command} ${ARGN})
endfunction()
