// Functions that a copy of this library publishes to the other copies in its process, under their names.
//
// On macOS and Windows they are exported symbols. On Linux a program exports its symbols only if it is linked
// with -rdynamic, and a plugin may be linked with --exclude-libs or a version script. So there each function has
// an ELF note with its name and its place. The loader lists the notes of all modules, including the program.
#pragma once

#define BOXOFFICE_TEXT(symbol) #symbol
#define BOXOFFICE_TEXT_OF(symbol) BOXOFFICE_TEXT(symbol)

// BOXOFFICE_PUBLISHED comes before the definition of such a function, BOXOFFICE_PUBLISH(name); after it.
#ifdef _WIN32
#define BOXOFFICE_PUBLISHED extern "C" __declspec(dllexport)
#define BOXOFFICE_PUBLISH(function) static_assert(true)
#elif defined(__APPLE__)
#define BOXOFFICE_PUBLISHED extern "C" __attribute__((visibility("default")))
#define BOXOFFICE_PUBLISH(function) static_assert(true)
#else
// Hidden, because the distance from the note must not change when the module is loaded; used, because the
// compiler does not read the note.
#define BOXOFFICE_PUBLISHED extern "C" __attribute__((visibility("hidden"), used))
// The lengths of the name and of the content, a type, the name, and the content: the distance to the function.
// clang-format off
#define BOXOFFICE_PUBLISH(function)                     \
  asm(".pushsection .note.boxoffice, \"a\", %note\n"    \
      ".balign 4\n"                                     \
      ".long 2f - 1f, 4f - 3f, 1\n"                     \
      "1: .asciz \"" BOXOFFICE_TEXT_OF(function) "\"\n" \
      "2: .balign 4\n"                                  \
      "3: .long " BOXOFFICE_TEXT_OF(function) " - 3b\n"  \
      "4: .popsection\n")
// clang-format on
#endif

namespace boxoffice::platform {

/// The function that the first loaded copy publishes under that name, or null.
void* firstPublished(const char* name);

}  // namespace boxoffice::platform
