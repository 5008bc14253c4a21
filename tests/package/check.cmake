# SPDX-License-Identifier: Apache-2.0
# Builds and runs the project in consumer/ against libhal, obtained in the given way:
#   installed     the build tree that is being tested, installed, found with find_package
#   subdirectory  the source tree, with FetchContent
#   static        a static build, installed, found with find_package
cmake_minimum_required(VERSION 3.25)

if(mode STREQUAL "installed" AND NOT install)
  message("skipped: this build has no install rules")
  return()
endif()

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGV}")
  endif()
endfunction()

function(configure source binary)
  run("${CMAKE_COMMAND}" -S "${source}" -B "${binary}" -G "${generator}"
      -D "CMAKE_BUILD_TYPE=${build_type}" -D "CMAKE_CXX_COMPILER=${cxx_compiler}"
      -D "CMAKE_CXX_COMPILER_LAUNCHER=${launcher}" ${ARGN})
endfunction()

set(prefix "${work_dir}/prefix")
set(consumer "${work_dir}/consumer")
file(REMOVE_RECURSE "${prefix}" "${work_dir}/moved")
file(MAKE_DIRECTORY "${work_dir}")

if(mode STREQUAL "installed")
  run("${CMAKE_COMMAND}" --install "${build_dir}" --prefix "${prefix}")
elseif(mode STREQUAL "static")
  # Unoptimised: what is checked is the linking, and this way it takes half the time.
  configure("${source_dir}" "${work_dir}/build"
            -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG=-O0 -D BUILD_SHARED_LIBS=OFF
            -D "HAL_WERROR=${werror}" -D HAL_BUILD_TESTS=OFF -D HAL_BUILD_TOOLS=OFF -D HAL_BUILD_EXAMPLES=OFF
            -D HAL_BUILD_BENCHMARKS=OFF)
  run("${CMAKE_COMMAND}" --build "${work_dir}/build" --parallel 2)
  run("${CMAKE_COMMAND}" --install "${work_dir}/build" --prefix "${prefix}")
endif()

if(mode STREQUAL "subdirectory")
  # The same warnings setting as the build being tested lets ccache reuse its objects.
  configure("${CMAKE_CURRENT_LIST_DIR}/consumer" "${consumer}"
            -D "HAL_SOURCE=${source_dir}" -D "HAL_WERROR=${werror}" -D "BUILD_SHARED_LIBS=${shared}")
else()
  # An installed tree may be moved as a whole.
  file(RENAME "${prefix}" "${work_dir}/moved")
  configure("${CMAKE_CURRENT_LIST_DIR}/consumer" "${consumer}" -D "CMAKE_PREFIX_PATH=${work_dir}/moved")
endif()
run("${CMAKE_COMMAND}" --build "${consumer}" --parallel 2)
run("${consumer}/consumer")

foreach(program halinfo hal-conformance)
  if(EXISTS "${work_dir}/moved/bin/${program}")
    run("${work_dir}/moved/bin/${program}" --help)
  endif()
endforeach()
