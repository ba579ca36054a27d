# find_package(boxoffice): the library of src/, as boxoffice::boxoffice.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/boxoffice-targets.cmake)
