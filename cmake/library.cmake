# SPDX-License-Identifier: Apache-2.0
# libhal, put together from the parts the folders declared.

get_property(hal_parts GLOBAL PROPERTY HAL_PARTS)
list(TRANSFORM hal_parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE hal_objects)

add_library(hal ${hal_objects})
add_library(hal::hal ALIAS hal)

# Before 1.0 a minor release may break the ABI, so it is part of the soname.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(hal_soversion "0.${PROJECT_VERSION_MINOR}")
else()
  set(hal_soversion "${PROJECT_VERSION_MAJOR}")
endif()
set_target_properties(hal PROPERTIES
  VERSION "${PROJECT_VERSION}"
  SOVERSION "${hal_soversion}"
  LINKER_LANGUAGE CXX
  INSTALL_RPATH "$ORIGIN")
target_include_directories(
  hal PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/hal/include>"
             "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_features(hal PUBLIC cxx_std_20)
target_link_libraries(hal PRIVATE TBB::tbb PkgConfig::HAL_HWLOC Threads::Threads ${CMAKE_DL_LIBS})
if(BUILD_SHARED_LIBS)
  target_link_options(hal PRIVATE -Wl,--no-undefined)
else()
  target_compile_definitions(hal PUBLIC HAL_STATIC)
endif()

# Unit tests reach the inside that libhal.so hides: they link the parts themselves.
add_library(hal_inside INTERFACE)
target_link_libraries(
  hal_inside INTERFACE ${hal_parts} ${hal_objects} TBB::tbb PkgConfig::HAL_HWLOC Threads::Threads ${CMAKE_DL_LIBS})
