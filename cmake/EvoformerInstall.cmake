# What `cmake --install` puts where, and the package EvoformerMLIR through which
# another CMake project finds it (cmake/EvoformerMLIRConfig.cmake.in).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(tools GLOBAL PROPERTY EVOFORMER_TOOLS)
list(FILTER tools EXCLUDE REGEX "Tests$")
install(TARGETS ${tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)

# A statically linked build ships tools; its libraries name archives that were
# rewritten for that link.
if(EVOFORMER_STATIC)
  return()
endif()

get_property(libraries GLOBAL PROPERTY EVOFORMER_INSTALLED)
install(TARGETS ${libraries} EXPORT EvoformerMLIRTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries)
install(TARGETS EvoformerPlugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  COMPONENT libraries)
install(EXPORT EvoformerMLIRTargets NAMESPACE EvoformerMLIR::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/EvoformerMLIR COMPONENT libraries)

# Headers, the TableGen sources for those who build on them, what both generate.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/Evoformer
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libraries
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.def")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/Evoformer
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libraries
  FILES_MATCHING PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)

set(config ${PROJECT_BINARY_DIR}/EvoformerMLIRConfig.cmake)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/EvoformerMLIRConfig.cmake.in ${config}
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/EvoformerMLIR)
# Before 1.0 a minor version may change what others use.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/EvoformerMLIRConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${config} ${PROJECT_BINARY_DIR}/EvoformerMLIRConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/EvoformerMLIR COMPONENT libraries)
