// Node-API on Windows, where whoever uses a function of another module names the module: an import library
// would say node.exe, and the program that loads us may be another one. So the pointers that an import
// library would bring are here, and are filled from the program as soon as we are loaded.
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
