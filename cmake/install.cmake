# cmake --install BUILD --prefix PREFIX: the library of src/ and its headers, for find_package(boxoffice).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/boxoffice)

install(TARGETS boxoffice EXPORT boxoffice)
install(EXPORT boxoffice NAMESPACE boxoffice:: FILE boxoffice-targets.cmake
  DESTINATION ${package_dir})
target_include_directories(boxoffice PUBLIC
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/boxoffice>)
install(DIRECTORY src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/boxoffice
  FILES_MATCHING PATTERN *.h)
write_basic_package_version_file(boxoffice-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/boxoffice-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/boxoffice-config-version.cmake DESTINATION ${package_dir})
