# How every library, tool and test of the project is built: one place for
# flags, the precompiled header and the way LLVM is linked.

add_library(EvoformerOptions INTERFACE)
target_include_directories(EvoformerOptions SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS} ${LLD_INCLUDE_DIRS})
target_include_directories(EvoformerOptions INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
separate_arguments(evoformer_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(EvoformerOptions INTERFACE ${evoformer_definitions})
target_compile_options(EvoformerOptions INTERFACE
  # -fPIC for programs too: one precompiled header serves all.
  -fPIC -fno-exceptions -Wall -Wextra -Wno-unused-parameter
  -Werror -fdiagnostics-color)
# CMake's Release and RelWithDebInfo define NDEBUG; our own assertions stay on
# while developing. The packaged LLVM is unaffected (ABI checks are off in it).
if(EVOFORMER_ASSERTIONS)
  target_compile_options(EvoformerOptions INTERFACE -UNDEBUG)
endif()
if(EVOFORMER_SANITIZER)
  target_compile_options(EvoformerOptions INTERFACE
    -fsanitize=${EVOFORMER_SANITIZER} -fno-omit-frame-pointer -fno-sanitize-recover=all
    -fno-sanitize=vptr)
  target_link_options(EvoformerOptions INTERFACE -fsanitize=${EVOFORMER_SANITIZER})
endif()

# Objects are cached across build folders of one path. The precompiled header
# defeats ccache unless its macros are trusted and it carries no time stamps.
find_program(EVOFORMER_CCACHE ccache)
if(EVOFORMER_CCACHE)
  foreach(language C CXX)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${EVOFORMER_CCACHE})
  endforeach()
endif()
target_compile_options(EvoformerOptions INTERFACE
  "SHELL:-Xclang -fno-pch-timestamp")

# MLIR's headers dominate compile time: one precompiled header for all.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cpp
  CONTENT "// Carrier of the precompiled header.\n")
add_library(EvoformerPCH OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
target_link_libraries(EvoformerPCH PRIVATE EvoformerOptions)
target_precompile_headers(EvoformerPCH PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)

# What the final links use: the shared LLVM and MLIR while developing.
# What ships is linked with archives in either case.
include(EvoformerStatic)
add_library(EvoformerLLVM INTERFACE)
if(EVOFORMER_STATIC)
  target_link_libraries(EvoformerLLVM INTERFACE ${EVOFORMER_STATIC_LIBRARIES})
  target_link_options(EvoformerLLVM INTERFACE
    -Wl,--gc-sections -Wl,--as-needed -static-libstdc++ -static-libgcc)
else()
  target_link_libraries(EvoformerLLVM INTERFACE MLIR LLVM)
endif()

# evoformer_add_library(NAME SOURCES... [LINK_LIBS libs...] [DEPENDS targets...])
function(evoformer_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  # Our flags are ours: who links an installed library gets its headers only.
  target_link_libraries(${name} PUBLIC
    $<BUILD_INTERFACE:EvoformerOptions> ${ARG_LINK_LIBS})
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:include>)
  set_property(GLOBAL APPEND PROPERTY EVOFORMER_INSTALLED ${name})
  target_precompile_headers(${name} REUSE_FROM EvoformerPCH)
  # Generated headers are cheap; depending on all keeps the lists short.
  add_dependencies(${name} EvoformerHeaders ${ARG_DEPENDS})
endfunction()

# evoformer_add_tool(NAME SOURCES... [LINK_LIBS libs...])
function(evoformer_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE EvoformerOptions ${ARG_LINK_LIBS} EvoformerLLVM)
  target_precompile_headers(${name} REUSE_FROM EvoformerPCH)
  add_dependencies(${name} EvoformerHeaders)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set_property(GLOBAL APPEND PROPERTY EVOFORMER_TOOLS ${name})
endfunction()

# evoformer_add_unittest(NAME SOURCES... [LINK_LIBS libs...]): a GoogleTest
# program, run by lit. Its name ends in Tests.
if(EVOFORMER_TESTS)
  find_package(GTest REQUIRED)
endif()
function(evoformer_add_unittest name)
  evoformer_add_tool(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/unit/bin)
endfunction()

add_custom_target(EvoformerHeaders)
# evoformer_tablegen(TD OUT ARGS...): one generated file, known to EvoformerHeaders.
function(evoformer_tablegen td out)
  set(LLVM_TARGET_DEFINITIONS ${td})
  list(TRANSFORM MLIR_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE includes)
  mlir_tablegen(${out} ${ARGN} -I${PROJECT_SOURCE_DIR}/include ${includes})
  string(MAKE_C_IDENTIFIER "${CMAKE_CURRENT_BINARY_DIR}/${out}" id)
  add_custom_target(gen-${id} DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${out})
  add_dependencies(EvoformerHeaders gen-${id})
endfunction()

# Adds those of the named folders that have a CMakeLists.txt.
function(evoformer_add_subdirectories)
  foreach(folder ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()
