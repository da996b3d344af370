# python/: the extension module dolium._core, built by scikit-build-core (pyproject.toml).

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(nanobind CONFIG REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/src/*.cc")
dolium_units(units _core "${sources}")
nanobind_add_module(_core NB_STATIC ${units})
target_link_libraries(_core PRIVATE dolium::dolium dolium_flags)
target_include_directories(_core PRIVATE "${PROJECT_SOURCE_DIR}")
# Our libraries and fmt stay out of the process's symbol table: another module may bring its own.
target_link_options(_core PRIVATE -Wl,--exclude-libs,ALL)
add_custom_target(dolium_python DEPENDS _core)

install(TARGETS _core LIBRARY DESTINATION dolium COMPONENT python)
