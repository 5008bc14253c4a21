# SPDX-License-Identifier: Apache-2.0

# The public headers, for those who must not link libhal itself: its own parts and plug-ins.
add_library(hal_headers INTERFACE)
target_include_directories(hal_headers INTERFACE "${PROJECT_SOURCE_DIR}/hal/include")
target_compile_features(hal_headers INTERFACE cxx_std_20)

# hal_add_part(<name> <source>...)
#
# One folder's share of libhal, as an object library named hal_<name>. It sees the public headers, the internal
# interfaces in hal/src/spi and its own folder, and nothing of its neighbours.
function(hal_add_part name)
  set(target hal_${name})
  add_library(${target} OBJECT ${ARGN})
  target_link_libraries(${target} PUBLIC hal_headers fmt::fmt-header-only Threads::Threads)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/hal/src" "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT BUILD_SHARED_LIBS)
    target_compile_definitions(${target} PUBLIC HAL_STATIC)
  endif()
  set_property(GLOBAL APPEND PROPERTY HAL_PARTS ${target})
endfunction()
