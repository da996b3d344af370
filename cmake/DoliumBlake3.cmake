# BLAKE3, the official C implementation, for the one layer that uses it.
#
# The system's package where there is one. Debian 12 has none; there the C sources that
# librust-blake3-dev installs are compiled: portable code, and assembly for x86-64 or
# intrinsics for AArch64, chosen at run time. DOLIUM_BLAKE3_DIR names another folder of them.
#
#   dolium_use_blake3(<target>)    lets the sources of <target> include <blake3.h>, and links it

find_package(blake3 QUIET)

if(TARGET BLAKE3::blake3)
  set(DOLIUM_FIND_BLAKE3 "find_dependency(blake3)")  # for doliumConfig.cmake
else()
  set(DOLIUM_FIND_BLAKE3 "")
  file(GLOB folders LIST_DIRECTORIES true "/usr/share/cargo/registry/blake3-*/c")
  find_path(DOLIUM_BLAKE3_DIR blake3_dispatch.c PATHS ${folders} NO_DEFAULT_PATH
            DOC "Folder with the C sources of BLAKE3")
  if(NOT DOLIUM_BLAKE3_DIR)
    message(FATAL_ERROR "BLAKE3 was not found: install libblake3-dev or librust-blake3-dev, "
                        "or set DOLIUM_BLAKE3_DIR to the folder c/ of its sources")
  endif()
  enable_language(C)
  set(sources blake3.c blake3_dispatch.c blake3_portable.c)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    enable_language(ASM)
    list(APPEND sources blake3_sse2_x86-64_unix.S blake3_sse41_x86-64_unix.S
                        blake3_avx2_x86-64_unix.S blake3_avx512_x86-64_unix.S)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    list(APPEND sources blake3_neon.c)
  endif()
  list(TRANSFORM sources PREPEND "${DOLIUM_BLAKE3_DIR}/")
  # Objects, not a library: they become part of the target, and nothing more is to be
  # installed or exported.
  add_library(dolium_blake3 OBJECT ${sources})
  set_target_properties(dolium_blake3 PROPERTIES C_VISIBILITY_PRESET hidden)
  target_compile_options(dolium_blake3 PRIVATE $<$<COMPILE_LANGUAGE:C>:-O2 -w>)
endif()

function(dolium_use_blake3 target)
  if(TARGET BLAKE3::blake3)
    target_link_libraries(${target} PRIVATE BLAKE3::blake3)
  else()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:dolium_blake3>)
    target_include_directories(${target} SYSTEM PRIVATE "${DOLIUM_BLAKE3_DIR}")
  endif()
endfunction()
