# Run at install time: man pages and bash completion, as the installed command prints them.

set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(program "${prefix}/bin/dolium")

function(capture file)
  execute_process(COMMAND "${program}" ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE "${prefix}/share/${file}" "${text}")
endfunction()

execute_process(COMMAND "${program}" --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "\nverbs:\n(  [^\n]*\n)+" verbs "${help}")
string(REGEX MATCHALL "\n  [a-z]+" verbs "${verbs}")
if(NOT verbs)
  message(FATAL_ERROR "${program} --help lists no verbs")
endif()
capture(man/man1/dolium.1 help --man)
foreach(verb IN LISTS verbs)
  string(STRIP "${verb}" verb)
  capture("man/man1/dolium-${verb}.1" help --man ${verb})
endforeach()
capture(bash-completion/completions/dolium completion bash)
