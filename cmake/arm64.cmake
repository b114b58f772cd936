# Toolchain file of scripts/arm64: Debian's cross compiler, the unpacked packages of arm64 in build/arm64-root, and QEMU's user
# emulation, with which ctest starts programs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(triplet aarch64-linux-gnu)
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-root ABSOLUTE)
set(CMAKE_C_COMPILER ${triplet}-gcc)
set(CMAKE_SYSROOT ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# The alternatives system of Debian would link to this folder from the one above.
set(openblas /usr/lib/${triplet}/openblas-pthread)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
set(ENV{PKG_CONFIG_LIBDIR}
  ${root}/usr/lib/${triplet}/pkgconfig:${root}/usr/share/pkgconfig:${root}${openblas}/pkgconfig)
add_link_options(-Wl,-rpath-link,${root}${openblas})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${root} -E LD_LIBRARY_PATH=${root}${openblas})
