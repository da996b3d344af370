# python/: the extension module dolium._core, with the command line in it, built by scikit-build-core (pyproject.toml) for wheels,
# and with the sanitizers by `./dev test`, which names its interpreter (Python_EXECUTABLE).

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT nanobind_DIR)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
                  OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
find_package(nanobind CONFIG REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/src/*.cc"
     "${PROJECT_SOURCE_DIR}/python/src/formats/*.cc")
dolium_units(units _core "${sources}")
nanobind_add_module(_core NB_STATIC ${units})
target_link_libraries(_core PRIVATE dolium_cli dolium::dolium dolium_flags)
target_include_directories(_core PRIVATE "${PROJECT_SOURCE_DIR}")
# Our libraries and fmt stay out of the process's symbol table: another module may bring its own.
target_link_options(_core PRIVATE -Wl,--exclude-libs,ALL)
add_custom_target(dolium_python DEPENDS _core)

# A package that can be imported from the build folder: Python files as they are in the source.
if(NOT SKBUILD)
  set(package "${PROJECT_BINARY_DIR}/python")
  set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${package}/dolium")
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/dolium/*.py*"
       "${PROJECT_SOURCE_DIR}/python/dolium/py.typed")
  file(MAKE_DIRECTORY "${package}/dolium")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    file(CREATE_LINK "${file}" "${package}/dolium/${name}" SYMBOLIC)
  endforeach()
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/python/shardpack" "${package}/shardpack" SYMBOLIC)
endif()

install(TARGETS _core LIBRARY DESTINATION dolium COMPONENT python)
