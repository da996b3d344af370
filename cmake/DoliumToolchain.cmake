# Language, warnings, sanitizers, ccache: what every target of ours is compiled with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(DOLIUM_CCACHE ccache)
if(DOLIUM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${DOLIUM_CCACHE}")
endif()

# Flags for our own targets, never seen by those who link to them.
add_library(dolium_flags INTERFACE)
target_compile_options(dolium_flags INTERFACE -Wall -Wextra -Wconversion)
target_compile_definitions(dolium_flags INTERFACE DOLIUM_VERSION="${PROJECT_VERSION}")
# Garbage of the compiler is collected less often: a tenth less time for a unit, and a third more memory.
target_compile_options(dolium_flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)
if(DOLIUM_UNITY)
  # A warning for headers, which takes every file of a unit for one.
  target_compile_options(dolium_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(DOLIUM_WERROR)
  target_compile_options(dolium_flags INTERFACE -Werror)
endif()

if(DOLIUM_SANITIZE)
  set(sanitize -fsanitize=${DOLIUM_SANITIZE} -fno-sanitize-recover=all
               -fno-omit-frame-pointer)
  if(DOLIUM_SANITIZE_NOT)
    list(APPEND sanitize -fno-sanitize=${DOLIUM_SANITIZE_NOT})
  endif()
  add_compile_options(${sanitize})
  add_link_options(${sanitize})
endif()
if(DOLIUM_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "DOLIUM_BUILD_FUZZERS needs clang; use: cmake --preset fuzz")
  endif()
  # Coverage for libFuzzer in all our code; only the fuzz targets get its main().
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
