# SPDX-License-Identifier: Apache-2.0
# The shared library has a versioned soname and exports what is HAL's and nothing else.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND "${readelf}" --dynamic --wide "${library}" OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
if(NOT soname MATCHES "^libhal\\.so\\.[0-9.]+$" OR NOT dynamic MATCHES "\\(SONAME\\)[^\n]*\\[${soname}\\]")
  message(FATAL_ERROR "${library}: the soname is not a versioned '${soname}':\n${dynamic}")
endif()

execute_process(COMMAND "${nm}" --dynamic --defined-only --demangle --format=posix "${library}"
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
# The brackets and semicolons of C++ names must not be read as CMake lists.
string(REGEX REPLACE "[][;]" "_" symbols "${symbols}")
string(REPLACE "\n" ";" symbols "${symbols}")
# Instances of the standard library's templates are weak, and shared with every other library of the process.
set(own "^(vtable for |typeinfo for |typeinfo name for |VTT for |guard variable for |non-virtual thunk to |virtual thunk to )?hal(::|_)")
set(standard " [WVu] [0-9a-f]+ [0-9a-f]+$| [WVu] [0-9a-f]+$")
set(count 0)
foreach(symbol IN LISTS symbols)
  if(symbol MATCHES "${own}")
    math(EXPR count "${count} + 1")
  elseif(symbol AND NOT (symbol MATCHES "std::|__gnu_cxx::" AND symbol MATCHES "${standard}"))
    string(APPEND foreign "\n  ${symbol}")
  endif()
endforeach()
if(foreign)
  message(FATAL_ERROR "${library} exports names that are not HAL's:${foreign}")
endif()
if(count EQUAL 0)
  message(FATAL_ERROR "${library} exports nothing")
endif()
message("${soname}: ${count} symbols exported")
