# Run by ctest; see CMakeLists.txt. Any failing step fails the test.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGV})
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
foreach(file bin/dpframe bin/dpframe-check include/dpframe/dpframe.h include/dpframe/role/mechanism.h
    lib/pkgconfig/dpframe.pc lib/cmake/dpframe/dpframe-config.cmake lib/cmake/dpframe/plugin.map)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "the installation lacks ${file}")
  endif()
endforeach()

set(options -G ${GENERATOR} -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_PREFIX_PATH=${prefix})
if(SANITIZE)
  list(APPEND options -DDPFRAME_SANITIZE=${SANITIZE} -DCMAKE_C_FLAGS=-fsanitize=${SANITIZE})
else()
  list(APPEND options "-DCMAKE_C_FLAGS=-Wshadow -Werror")
endif()

# Builds a project on the installation, nothing of the source tree in reach, and runs its tests.
function(try source build)
  run(${CMAKE_COMMAND} -S ${source} -B ${build} ${options})
  run(${CMAKE_COMMAND} --build ${build})
  run(${CMAKE_CTEST_COMMAND} --test-dir ${build} --no-tests=error --output-on-failure)
endfunction()

foreach(role mechanism loss sampler accountant transform)
  # A stranger should be able to read all of it on two pages.
  file(READ ${prefix}/share/dpframe/templates/${role}/acme_${role}.c text)
  string(REGEX MATCHALL "\n" newlines "${text}")
  list(LENGTH newlines count)
  if(count GREATER 130)
    message(FATAL_ERROR "the template of a ${role} has ${count} lines of C, at most 130 are allowed")
  endif()
  run(${prefix}/bin/dpframe new-plugin ${role} own-${role} ${WORK_DIR}/${role})
  file(GLOB left ${WORK_DIR}/${role}/*acme*)
  if(left OR NOT EXISTS ${WORK_DIR}/${role}/own_${role}.c)
    message(FATAL_ERROR "new-plugin does not rename the files of a ${role}: ${left}")
  endif()
  try(${WORK_DIR}/${role} ${WORK_DIR}/${role}/build)
  run(${prefix}/bin/dpframe-check ${WORK_DIR}/${role}/build/own-${role}.so --rule load.accepted)
  if(NOT output MATCHES "pass 1, warn 0, fail 0")
    message(FATAL_ERROR "the loader does not accept the plugin:\n${output}")
  endif()
endforeach()

# Beside dpframe's own it is found without being told where.
run(${CMAKE_COMMAND} --install ${WORK_DIR}/mechanism/build --prefix ${prefix})
run(${prefix}/bin/dpframe check ${WORK_DIR}/mechanism/own-mechanism.ini)

# What is refused leaves nothing.
foreach(arguments "mechanism;own-mechanism;${WORK_DIR}/mechanism" "solver;own-solver;${WORK_DIR}/no" "loss;Own;${WORK_DIR}/no")
  execute_process(COMMAND ${prefix}/bin/dpframe new-plugin ${arguments} RESULT_VARIABLE status ERROR_VARIABLE errors)
  file(GLOB left ${WORK_DIR}/no* ${WORK_DIR}/*partial*)
  if(status EQUAL 0 OR left OR NOT errors)
    message(FATAL_ERROR "new-plugin ${arguments}: ended with ${status}, left \"${left}\", said \"${errors}\"")
  endif()
endforeach()

# Mechanisms of the literature, written on additive_mechanism.h, as an installation has them.
try(${prefix}/share/dpframe/examples/plugins ${WORK_DIR}/examples)
