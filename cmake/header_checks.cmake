# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone, without a warning, with nothing but the standard library. A header that does
# not is a build failure.

file(GLOB_RECURSE hal_public_headers CONFIGURE_DEPENDS
     RELATIVE "${PROJECT_SOURCE_DIR}/hal/include"
     "${PROJECT_SOURCE_DIR}/hal/include/*.hpp" "${PROJECT_SOURCE_DIR}/hal/include/*.h")

foreach(header IN LISTS hal_public_headers)
  # The ABI is for C as much as for C++.
  if(header MATCHES "\\.h$")
    set(languages c cpp)
  else()
    set(languages cpp)
  endif()
  foreach(language IN LISTS languages)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.${language}")
    # Twice: a header without its guard is found out too.
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include <${header}>\n#include <${header}>\n")
    list(APPEND hal_header_checks "${source}")
  endforeach()
endforeach()

add_library(hal_header_checks OBJECT ${hal_header_checks})
target_link_libraries(hal_header_checks PRIVATE hal_headers)
target_compile_options(hal_header_checks PRIVATE -Werror "$<$<COMPILE_LANGUAGE:C>:-Wpedantic>")
set_target_properties(hal_header_checks PROPERTIES C_EXTENSIONS OFF)
