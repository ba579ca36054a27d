# One of binding/targets.js, with zig: a C++ compiler for other systems and older ones, with their C libraries
# and a C++ library that becomes part of the addon. release/prebuild.js gives BOXOFFICE_ZIG, the program, and
# BOXOFFICE_ZIG_TARGET, what it calls the target.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BOXOFFICE_ZIG BOXOFFICE_ZIG_TARGET)

if(BOXOFFICE_ZIG_TARGET MATCHES windows)
  set(CMAKE_SYSTEM_NAME Windows)
elseif(BOXOFFICE_ZIG_TARGET MATCHES macos)
  set(CMAKE_SYSTEM_NAME Darwin)
else()
  set(CMAKE_SYSTEM_NAME Linux)
endif()
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR ${BOXOFFICE_ZIG_TARGET})

set(CMAKE_CXX_COMPILER ${BOXOFFICE_ZIG})
set(CMAKE_CXX_COMPILER_ARG1 "c++ -target ${BOXOFFICE_ZIG_TARGET}")
# What CMake finds out by linking a program, for which zig would build its libraries a second time, unoptimised.
set(CMAKE_CXX_COMPILER_ID_RUN TRUE)
set(CMAKE_CXX_COMPILER_ID Clang)
set(CMAKE_CXX_COMPILER_VERSION 17.0)
set(CMAKE_CXX_COMPILER_FRONTEND_VARIANT GNU)
set(CMAKE_CXX_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_SIZEOF_VOID_P 8)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# Nor does it find out then that there is no library for threads, which need none.
set(CMAKE_HAVE_LIBC_PTHREAD TRUE)
# CMake calls these with one word, and they are two.
set(CMAKE_CXX_ARCHIVE_CREATE "${BOXOFFICE_ZIG} ar qc <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_APPEND "${BOXOFFICE_ZIG} ar q <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_FINISH "${BOXOFFICE_ZIG} ranlib <TARGET>")
# No debug information of its C++ library, and nothing of it to be seen.
set(CMAKE_EXE_LINKER_FLAGS_INIT -s)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -s)
if(CMAKE_SYSTEM_NAME STREQUAL Linux)
  string(APPEND CMAKE_MODULE_LINKER_FLAGS_INIT
    " -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/../binding/exports.map")
endif()
