# Everything comes from the system; nothing is downloaded here. doliumConfig.cmake.in names
# those that users of the installed library need as well.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(CURL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
pkg_check_modules(deflate REQUIRED IMPORTED_TARGET GLOBAL libdeflate)
pkg_check_modules(uring REQUIRED IMPORTED_TARGET GLOBAL liburing)

if(DOLIUM_BUILD_CLI)
  find_package(CLI11 REQUIRED)
endif()
if(DOLIUM_BUILD_TESTS OR DOLIUM_BUILD_FUZZERS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  enable_testing()
endif()
if(DOLIUM_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
