# EVOFORMER_STATIC: links LLVM, MLIR and lld from archives, so that a program
# needs only the C and C++ libraries, zlib and zstd where it is taken.
#
# Defines EVOFORMER_STATIC_LIBRARIES, to be linked last. The packaged archives
# name the shared libraries LLVM and MLIR as dependencies; linking both would
# register LLVM's options twice, so these names are removed first.

set(EVOFORMER_STATIC_TARGETS ${LLVM_NATIVE_ARCH} AMDGPU NVPTX)
list(REMOVE_DUPLICATES EVOFORMER_STATIC_TARGETS)

get_property(mlir_libraries GLOBAL PROPERTY MLIR_ALL_LIBS)
list(FILTER mlir_libraries EXCLUDE REGEX "Test|CAPI")
foreach(library ${mlir_libraries})
  get_target_property(type ${library} TYPE)
  if(NOT type STREQUAL STATIC_LIBRARY)
    list(REMOVE_ITEM mlir_libraries ${library})
  endif()
endforeach()
get_property(imported DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY IMPORTED_TARGETS)
foreach(library ${imported})
  get_target_property(dependencies ${library} INTERFACE_LINK_LIBRARIES)
  if(library MATCHES "^(MLIR|lld)" AND dependencies)
    list(REMOVE_ITEM dependencies LLVM MLIR "$<LINK_ONLY:LLVM>")
    set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${dependencies}")
  endif()
endforeach()
# Polly is named but its archive is not packaged; a stub stands for it.
set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES LLVMSupport)

llvm_map_components_to_libnames(llvm_libraries
  ${EVOFORMER_STATIC_TARGETS} Analysis AsmParser BitReader BitWriter Core
  DTLTO ExecutionEngine IRReader JITLink Linker LTO MC Object Option OrcJIT
  OrcTargetProcess Passes Remarks Support Target TargetParser TransformUtils
  WindowsDriver)
set(EVOFORMER_STATIC_LIBRARIES ${mlir_libraries} ${llvm_libraries})

# MLIR and lld initialise every target that LLVM was built with.
set(stubs "// Stands for what is not linked in. Generated.\nextern \"C\" {\n")
foreach(target ${LLVM_TARGETS_TO_BUILD})
  if(NOT target IN_LIST EVOFORMER_STATIC_TARGETS)
    foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser Disassembler)
      string(APPEND stubs "void LLVMInitialize${target}${part}() {}\n")
    endforeach()
  endif()
endforeach()
string(APPEND stubs "}\n"
  "#include \"llvm/Plugins/PassPlugin.h\"\n"
  "llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }\n")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/static-stubs.cpp CONTENT "${stubs}")
add_library(EvoformerStaticStubs STATIC ${PROJECT_BINARY_DIR}/static-stubs.cpp)
target_link_libraries(EvoformerStaticStubs PRIVATE EvoformerOptions)
target_compile_options(EvoformerStaticStubs PRIVATE -Wno-missing-prototypes)
list(APPEND EVOFORMER_STATIC_LIBRARIES EvoformerStaticStubs)
