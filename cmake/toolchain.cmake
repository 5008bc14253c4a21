# SPDX-License-Identifier: Apache-2.0
# How everything in this tree is compiled. Settings of other projects in the same build stay as they are:
# variables set here end at this directory.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# A static libhal may end up inside somebody's shared library.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_COMPILE_WARNING_AS_ERROR ${HAL_WERROR})

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

  find_program(HAL_CCACHE ccache DOC "Compiler cache, used when found")
  mark_as_advanced(HAL_CCACHE)
  foreach(language C CXX)
    if(HAL_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${HAL_CCACHE}")
    endif()
  endforeach()
endif()

# Installed programs find libhal wherever the whole prefix is moved to.
file(RELATIVE_PATH hal_bin_to_lib "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
set(CMAKE_INSTALL_RPATH "$ORIGIN/${hal_bin_to_lib}")

add_compile_options(
  -Wall
  -Wextra
  -Wconversion
  -Wshadow
  "$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>")

if(HAL_SANITIZE STREQUAL "address")
  set(hal_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(HAL_SANITIZE STREQUAL "thread")
  set(hal_sanitizers -fsanitize=thread)
elseif(NOT HAL_SANITIZE STREQUAL "")
  message(FATAL_ERROR "HAL_SANITIZE is '${HAL_SANITIZE}': give 'address', 'thread' or nothing")
endif()
if(hal_sanitizers)
  # GCC takes the sanitizers' own code for uses of uninitialised variables.
  add_compile_options(${hal_sanitizers} -fno-omit-frame-pointer -Wno-maybe-uninitialized)
  add_link_options(${hal_sanitizers})
endif()
