# apps/cli: the command `dolium`. All but main.cc is a library, so that tests can link to it.

file(GLOB_RECURSE all CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/apps/cli/*.cc")
set(main "${PROJECT_SOURCE_DIR}/apps/cli/main.cc")
list(REMOVE_ITEM all "${main}")
_dolium_sort("${all}")

_dolium_library(dolium_cli "${sources}"
                "dolium_all;CLI11::CLI11;nlohmann_json::nlohmann_json;fmt::fmt" "")
target_compile_options(dolium_cli PRIVATE $<$<CONFIG:Release>:-O2>)
get_target_property(type dolium_cli TYPE)
if(type STREQUAL "INTERFACE_LIBRARY")
  set(scope INTERFACE)
else()
  set(scope PUBLIC)
endif()
target_include_directories(dolium_cli ${scope} "${PROJECT_SOURCE_DIR}/apps")
get_property(depends GLOBAL PROPERTY DOLIUM_LAYERS)
list(TRANSFORM depends PREPEND dolium_)
dolium_add_tests(cli)

if(EXISTS "${main}")
  add_executable(dolium "${main}")
  target_link_libraries(dolium PRIVATE dolium_cli dolium_flags)
  # The same program by its other name, by which it does what `dolium pack` does.
  add_custom_command(TARGET dolium POST_BUILD VERBATIM
    COMMAND "${CMAKE_COMMAND}" -E create_symlink dolium
            "$<TARGET_FILE_DIR:dolium>/shardpack")
endif()
