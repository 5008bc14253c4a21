# SPDX-License-Identifier: Apache-2.0
# How tests are registered: names, time limits and the environment sanitizers need.

find_package(Catch2 REQUIRED)

# An empty selection must fail, or a renamed test would silently run nothing.
if(Catch2_VERSION VERSION_LESS 3)
  set(hal_catch_arguments --filenames-as-tags --warn NoTests)
else()
  set(hal_catch_arguments --filenames-as-tags --warn UnmatchedTestSpec)
endif()

# Names carry the sanitizer, so that several build trees can be run and reported as one.
if(HAL_SANITIZE STREQUAL "address")
  set(hal_test_prefix "asan.")
  set(hal_test_slowdown 4)
  set(hal_test_environment
      "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1"
      "UBSAN_OPTIONS=print_stacktrace=1")
elseif(HAL_SANITIZE STREQUAL "thread")
  set(hal_test_prefix "tsan.")
  set(hal_test_slowdown 10)
  # die_after_fork=0: tests fork a process that has threads, on purpose.
  set(hal_test_environment
      "TSAN_OPTIONS=suppressions='${PROJECT_SOURCE_DIR}/cmake/tsan.supp':second_deadlock_stack=1:die_after_fork=0:allocator_may_return_null=1")
else()
  set(hal_test_prefix "")
  set(hal_test_slowdown 1)
  set(hal_test_environment "")
endif()

# hal_add_test(<name> COMMAND <command>... [TIMEOUT <seconds>] [LABELS <label>...] [ENVIRONMENT <name=value>...]
#              [PROPERTIES <test property> <value>...])
#
# TIMEOUT is for a plain build (60 unless given) and grows with a sanitizer's slowdown.
function(hal_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "COMMAND;LABELS;ENVIRONMENT;PROPERTIES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  math(EXPR timeout "${arg_TIMEOUT} * ${hal_test_slowdown}")
  set(name "${hal_test_prefix}${name}")
  add_test(NAME "${name}" COMMAND ${arg_COMMAND})
  set_tests_properties("${name}" PROPERTIES
    TIMEOUT ${timeout}
    LABELS "${arg_LABELS}"
    ENVIRONMENT "${hal_test_environment};${arg_ENVIRONMENT}"
    ${arg_PROPERTIES})
endfunction()

# hal_add_catch_tests(<target> <name prefix> FILES <source>... [ARGUMENTS <argument>...] [<hal_add_test option>...])
#
# One test a source file: a failure names its subject, a crash loses one file only, and no program has to be run
# at build time to list its test cases.
function(hal_add_catch_tests target prefix)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FILES;ARGUMENTS;ENVIRONMENT;PROPERTIES;LABELS;TIMEOUT")
  foreach(file IN LISTS arg_FILES)
    cmake_path(GET file STEM LAST_ONLY stem)
    hal_add_test(
      "${prefix}.${stem}"
      COMMAND ${target} ${arg_ARGUMENTS} ${hal_catch_arguments} "[#${stem}]"
      TIMEOUT ${arg_TIMEOUT}
      LABELS ${arg_LABELS}
      ENVIRONMENT ${arg_ENVIRONMENT}
      PROPERTIES ${arg_PROPERTIES})
  endforeach()
endfunction()
