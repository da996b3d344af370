# The installed library: headers, archives and a CMake package for find_package(dolium).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY DOLIUM_LAYERS)
list(TRANSFORM layers PREPEND dolium_)
install(TARGETS ${layers} dolium_all EXPORT doliumTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/dolium" TYPE INCLUDE
        FILES_MATCHING PATTERN "*.h"
        PATTERN "testing" EXCLUDE
        PATTERN "testdata" EXCLUDE
        PATTERN "*_internal.h" EXCLUDE)
if(TARGET dolium)
  install(TARGETS dolium RUNTIME DESTINATION bin)
  install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/InstallDocs.cmake")
endif()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/dolium")
install(EXPORT doliumTargets NAMESPACE dolium:: DESTINATION "${package}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/doliumConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/doliumConfig.cmake"
                              INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/doliumConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/doliumConfig.cmake"
              "${PROJECT_BINARY_DIR}/doliumConfigVersion.cmake"
        DESTINATION "${package}")
