// Node-API on Windows, where an import names the module that exports a function. An import library
// would name node.exe, but the program that loads the addon may have another name. So this file
// defines the pointers that an import library would, and fills them from the program as soon as the
// addon is loaded.
#include <windows.h>

// node_api_functions.inc: BOXOFFICE_FUNCTION(name) for each of them, made by CMake.
extern "C" {
#define BOXOFFICE_FUNCTION(name) FARPROC __imp_##name = nullptr;
#include "node_api_functions.inc"
#undef BOXOFFICE_FUNCTION
}

namespace {

struct Imports {
  Imports() {
    const HMODULE program = GetModuleHandleW(nullptr);
#define BOXOFFICE_FUNCTION(name) __imp_##name = GetProcAddress(program, #name);
#include "node_api_functions.inc"
#undef BOXOFFICE_FUNCTION
  }
};

const Imports imports;

}  // namespace
