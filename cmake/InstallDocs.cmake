# Run at install time: the command's other name, and man pages and bash completion as the
# installed command prints them.

get_filename_component(installed "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
set(prefix "$ENV{DESTDIR}${installed}")
set(program "${prefix}/bin/dolium")

function(capture file)
  execute_process(COMMAND "${program}" ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE "${prefix}/share/${file}" "${text}")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${installed}/share/${file}")
  set(CMAKE_INSTALL_MANIFEST_FILES "${CMAKE_INSTALL_MANIFEST_FILES}" PARENT_SCOPE)
endfunction()

file(CREATE_LINK dolium "${prefix}/bin/shardpack" SYMBOLIC)
list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${installed}/bin/shardpack")

execute_process(COMMAND "${program}" --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "\nverbs:\n(  [^\n]*\n)+" verbs "${help}")
string(REGEX MATCHALL "\n  [a-z]+( [a-z]+)?" verbs "${verbs}")
if(NOT verbs)
  message(FATAL_ERROR "${program} --help lists no verbs")
endif()
capture(man/man1/dolium.1 help --man)
capture(man/man1/shardpack.1 help --man pack)
foreach(verb IN LISTS verbs)
  string(STRIP "${verb}" verb)
  string(REPLACE " " "-" page "${verb}")
  string(REPLACE " " ";" words "${verb}")
  capture("man/man1/dolium-${page}.1" help --man ${words})
endforeach()
capture(bash-completion/completions/dolium completion bash)
capture(bash-completion/completions/shardpack completion bash)
