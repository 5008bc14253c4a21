# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

set(hal_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/hal")
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(hal_compatibility SameMinorVersion)
else()
  set(hal_compatibility SameMajorVersion)
endif()

install(TARGETS hal EXPORT halTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/hal/include/hal" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT halTargets NAMESPACE hal:: DESTINATION "${hal_config_dir}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/halConfig.cmake.in" "${PROJECT_BINARY_DIR}/halConfig.cmake"
  INSTALL_DESTINATION "${hal_config_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/halConfigVersion.cmake" COMPATIBILITY ${hal_compatibility})
install(FILES "${PROJECT_BINARY_DIR}/halConfig.cmake" "${PROJECT_BINARY_DIR}/halConfigVersion.cmake"
        DESTINATION "${hal_config_dir}")
