#include "cli/program.h"

int main(int argc, char** argv) { return dolium::cli::RunProgram(argc, argv); }
