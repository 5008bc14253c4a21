# SPDX-License-Identifier: Apache-2.0

# The version has one home, the public header, so that a program and its build never disagree.
function(hal_read_version header out)
  file(STRINGS "${header}" lines REGEX "^#define HAL_VERSION_(MAJOR|MINOR|PATCH) ")
  foreach(part MAJOR MINOR PATCH)
    if(NOT "${lines}" MATCHES "HAL_VERSION_${part} +([0-9]+)")
      message(FATAL_ERROR "${header}: no '#define HAL_VERSION_${part} <number>'")
    endif()
    list(APPEND numbers "${CMAKE_MATCH_1}")
  endforeach()
  list(JOIN numbers "." version)
  set(${out} "${version}" PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
endfunction()
