# Targets from folders: src/dolium/<path>/**/*.cc, distinguished by the ends of their names.
#
#   x.cc              part of the layer's library
#   x_test.cc         GoogleTest; one program per layer
#   x_fuzz.cc         a fuzz target; without libFuzzer, a program that replays its corpus
#   x_benchmark.cc    a Google Benchmark program
#   testing/x.cc      support for tests, of this layer and of those below it

# dolium_layer(<path> [SHALLOW] [OPTIMIZE flag] [DEPENDS layer...]
#               [PUBLIC_LIBS lib...] [PRIVATE_LIBS lib...])
#
# Makes dolium_<name> and dolium::<name>, where <name> is the last part of <path>. DEPENDS
# names layers; their headers and libraries come with them. SHALLOW leaves subfolders other
# than testing/ to layers of their own. OPTIMIZE: what a release compiles it with, instead of
# -O3, where no loop over bytes or voxels is in it. A layer without sources is an INTERFACE library.
function(dolium_layer path)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SHALLOW" "OPTIMIZE" "DEPENDS;PUBLIC_LIBS;PRIVATE_LIBS")
  get_filename_component(name "${path}" NAME)
  set(folder "${PROJECT_SOURCE_DIR}/src/dolium/${path}")
  if(arg_SHALLOW)
    file(GLOB all CONFIGURE_DEPENDS "${folder}/*.cc" "${folder}/testing/*.cc")
  else()
    file(GLOB_RECURSE all CONFIGURE_DEPENDS "${folder}/*.cc")
  endif()
  _dolium_sort("${all}")
  list(TRANSFORM arg_DEPENDS PREPEND dolium_ OUTPUT_VARIABLE depends)

  _dolium_library(dolium_${name} "${sources}"
                  "${depends};${arg_PUBLIC_LIBS}" "${arg_PRIVATE_LIBS}")
  if(arg_OPTIMIZE)
    target_compile_options(dolium_${name} PRIVATE $<$<CONFIG:Release>:${arg_OPTIMIZE}>)
  endif()
  add_library(dolium::${name} ALIAS dolium_${name})
  set_target_properties(dolium_${name} PROPERTIES EXPORT_NAME ${name})
  dolium_add_tests(${name})
endfunction()

# The rest of a layer: its test support, tests, fuzz targets and benchmarks, from the lists
# that _dolium_sort() left in the caller's scope. Tests may use the layer's own libraries.
macro(dolium_add_tests name)
  if(DOLIUM_BUILD_TESTS OR DOLIUM_BUILD_FUZZERS)
    set(testing_depends ${depends})
    list(TRANSFORM testing_depends APPEND _testing)
    _dolium_library(dolium_${name}_testing "${testing_sources}"
                    "dolium_${name};${testing_depends};${arg_PRIVATE_LIBS};GTest::gtest;GTest::gmock"
                    "")
    target_compile_definitions(dolium_${name}_testing INTERFACE
                               DOLIUM_SOURCE_DIR=".")
    if(testing_sources)
      target_compile_definitions(dolium_${name}_testing PRIVATE
                                 DOLIUM_SOURCE_DIR=".")
    endif()
    _dolium_test_program(${name} dolium_${name}_testing "${test_sources}")
    _dolium_fuzz_programs(dolium_${name}_testing "${fuzz_sources}")
  endif()
  if(DOLIUM_BUILD_BENCHMARKS)
    foreach(source IN LISTS benchmark_sources)
      get_filename_component(program "${source}" NAME_WE)
      add_executable(${program} "${source}")
      target_link_libraries(${program} PRIVATE dolium_${name} benchmark::benchmark_main
                                               dolium_flags)
    endforeach()
  endif()
endmacro()

# dolium::dolium, all layers at once.
function(dolium_gather)
  list(TRANSFORM ARGN PREPEND dolium_ OUTPUT_VARIABLE layers)
  add_library(dolium_all INTERFACE)
  target_link_libraries(dolium_all INTERFACE ${layers})
  set_target_properties(dolium_all PROPERTIES EXPORT_NAME dolium)
  add_library(dolium::dolium ALIAS dolium_all)
  if(DOLIUM_BUILD_TESTS OR DOLIUM_BUILD_FUZZERS)
    list(TRANSFORM layers APPEND _testing)
    add_library(dolium_testing INTERFACE)
    target_link_libraries(dolium_testing INTERFACE ${layers})
  endif()
  set_property(GLOBAL PROPERTY DOLIUM_LAYERS ${ARGN})
endfunction()

# Splits a list of files into sources, testing_sources, test_sources, fuzz_sources and
# benchmark_sources.
function(_dolium_sort all)
  foreach(kind sources testing_sources test_sources fuzz_sources benchmark_sources)
    set(${kind} "")
  endforeach()
  foreach(file IN LISTS all)
    if(file MATCHES "_test\\.cc$")
      list(APPEND test_sources "${file}")
    elseif(file MATCHES "_fuzz\\.cc$")
      list(APPEND fuzz_sources "${file}")
    elseif(file MATCHES "_benchmark\\.cc$")
      list(APPEND benchmark_sources "${file}")
    elseif(file MATCHES "/fuzz_replay_main\\.cc$")
      # A main(), linked to fuzz targets only.
    elseif(file MATCHES "/testing/")
      list(APPEND testing_sources "${file}")
    else()
      list(APPEND sources "${file}")
    endif()
  endforeach()
  foreach(kind sources testing_sources test_sources fuzz_sources benchmark_sources)
    set(${kind} "${${kind}}" PARENT_SCOPE)
  endforeach()
endfunction()

# What a target is compiled from: units that include DOLIUM_UNITY of its sources each, or the
# sources themselves if that is 0. Files for one instruction set stay apart, because they define the
# same names. Units name their sources from the root, so that ccache knows them in any clone.
# With FUNCTION, that function is called <source>_input in each source; these are sources of several
# layers, which use names of their own, so that fewer go together.
function(dolium_units units target sources)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "FUNCTION" "")
  set(most ${DOLIUM_UNITY})
  if(arg_FUNCTION AND (most GREATER 10 OR most EQUAL 0))
    set(most 10)
  endif()
  set(alone "${sources}")
  set(joined "${sources}")
  if(DOLIUM_UNITY OR arg_FUNCTION)
    list(FILTER joined EXCLUDE REGEX "_avx(2|512)\\.cc$")
    list(FILTER alone INCLUDE REGEX "_avx(2|512)\\.cc$")
  else()
    set(joined "")
  endif()
  # As few units as may be, of one size: the largest is what a build waits for.
  list(LENGTH joined total)
  if(total GREATER most)
    math(EXPR number "(${total} + ${most} - 1) / ${most}")
    math(EXPR most "(${total} + ${number} - 1) / ${number}")
  endif()
  set(written "")
  set(text "")
  set(count 0)
  foreach(source IN LISTS joined)
    file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${source}")
    if(arg_FUNCTION)
      get_filename_component(name "${source}" NAME_WE)
      string(APPEND text "#define ${arg_FUNCTION} ${name}_input\n#include \"${path}\"\n"
                         "#undef ${arg_FUNCTION}\n")
    else()
      string(APPEND text "#include \"${path}\"\n")
    endif()
    math(EXPR count "${count} + 1")
    if(count GREATER_EQUAL most)
      _dolium_write_unit()
    endif()
  endforeach()
  if(text)
    _dolium_write_unit()
  endif()
  set(${units} "${alone};${written}" PARENT_SCOPE)
endfunction()

macro(_dolium_write_unit)
  list(LENGTH written number)
  set(unit "${PROJECT_BINARY_DIR}/units/${target}_${number}.cc")
  file(CONFIGURE OUTPUT "${unit}" CONTENT "${text}" @ONLY)
  list(APPEND written "${unit}")
  set(text "")
  set(count 0)
endmacro()

function(_dolium_library target sources public_libs private_libs)
  if(sources)
    dolium_units(units ${target} "${sources}")
    add_library(${target} ${units})
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE ${private_libs} $<BUILD_INTERFACE:dolium_flags>)
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                                $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} ${scope} ${public_libs})
endfunction()

# One program per layer. ctest runs it in DOLIUM_TEST_SHARDS processes at most, because starting
# a program under sanitizers takes longer than most tests.
function(_dolium_test_program name library sources)
  if(NOT DOLIUM_BUILD_TESTS OR NOT sources)
    return()
  endif()
  set(program ${name}_test)
  dolium_units(units ${program} "${sources}")
  add_executable(${program} ${units})
  target_include_directories(${program} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${program} PRIVATE ${library} GTest::gmock_main dolium_flags)
  list(LENGTH sources shards)
  if(shards GREATER DOLIUM_TEST_SHARDS)
    set(shards ${DOLIUM_TEST_SHARDS})
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${program}.${shard} COMMAND ${program} --gtest_brief=1
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${program}.${shard} PROPERTIES TIMEOUT 600
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# With libFuzzer each target is a program. Without it, one program replays all corpora: each target
# keeps its function under its own name there, see dolium_replay_program().
function(_dolium_fuzz_programs library sources)
  foreach(source IN LISTS sources)
    get_filename_component(program "${source}" NAME_WE)
    if(DOLIUM_BUILD_FUZZERS)
      add_executable(${program} "${source}")
      target_link_libraries(${program} PRIVATE ${library} dolium_flags)
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    else()
      set_property(GLOBAL APPEND PROPERTY DOLIUM_FUZZ_SOURCES "${source}")
      get_filename_component(folder "${source}" DIRECTORY)
      add_test(NAME ${program}.ReplaysItsCorpus
               COMMAND fuzz_replay ${program} "${folder}/testdata/fuzz/${program}")
      set_tests_properties(${program}.ReplaysItsCorpus PROPERTIES TIMEOUT 300)
    endif()
  endforeach()
endfunction()

# fuzz_replay: all fuzz targets and a main() that runs a corpus through one of them.
function(dolium_replay_program)
  get_property(sources GLOBAL PROPERTY DOLIUM_FUZZ_SOURCES)
  if(NOT DOLIUM_BUILD_TESTS OR NOT sources)
    return()
  endif()
  set(rows "")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    string(APPEND rows "DOLIUM_FUZZ_TARGET(${name})\n")
  endforeach()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/units/fuzz_targets.inc" CONTENT "${rows}" @ONLY)
  dolium_units(units fuzz_replay "${sources}" FUNCTION LLVMFuzzerTestOneInput)
  add_executable(fuzz_replay "${PROJECT_SOURCE_DIR}/src/dolium/base/testing/fuzz_replay_main.cc"
                             ${units})
  target_include_directories(fuzz_replay PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/units")
  target_link_libraries(fuzz_replay PRIVATE dolium_testing dolium_flags)
endfunction()
