/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/check_symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const unsigned char *bytes;
    size_t size;
};

/* count items of size bytes at offset, or NULL if they do not lie within the file. */
static const void *at(const struct image *image, uint64_t offset, uint64_t count, uint64_t size)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || offset > image->size || bytes > image->size - offset)
        return NULL;
    return image->bytes + offset;
}

static int walk_table(const struct image *image, const Elf64_Shdr *table, const Elf64_Shdr *strings,
                      check_symbol_seen seen, void *context)
{
    const char *names = at(image, strings->sh_offset, strings->sh_size, 1);
    if (!names || strings->sh_size == 0 || names[strings->sh_size - 1] != '\0')
        return -1;
    uint64_t n = table->sh_size / sizeof(Elf64_Sym);
    const unsigned char *rows = at(image, table->sh_offset, n, sizeof(Elf64_Sym));
    if (!rows)
        return -1;
    for (uint64_t i = 0; i < n; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, rows + i * sizeof symbol, sizeof symbol);
        if (symbol.st_name >= strings->sh_size)
            return -1;
        const char *name = names + symbol.st_name;
        int binding = ELF64_ST_BIND(symbol.st_info);
        if (name[0] && binding != STB_LOCAL)
            seen(context, name, symbol.st_shndx != SHN_UNDEF, binding == STB_WEAK);
    }
    return 0;
}

static int walk(const struct image *image, check_symbol_seen seen, void *context)
{
    Elf64_Ehdr header;
    if (image->size < sizeof header)
        return -1;
    memcpy(&header, image->bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shentsize != sizeof(Elf64_Shdr))
        return -1;
    const unsigned char *sections = at(image, header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr));
    if (!sections)
        return -1;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr table, strings;
        memcpy(&table, sections + i * sizeof table, sizeof table);
        if (table.sh_type != SHT_DYNSYM)
            continue;
        if (table.sh_link >= header.e_shnum)
            return -1;
        memcpy(&strings, sections + table.sh_link * sizeof strings, sizeof strings);
        return walk_table(image, &table, &strings, seen, context);
    }
    return -1;
}

int check_symbols(const char *path, check_symbol_seen seen, void *context, struct dpf_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        error_at(error, DPF_FAULT_PLUGIN, path, 0, "cannot be read: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    struct image image = {NULL, (size_t)info.st_size};
    void *mapped = image.size ? mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (mapped == MAP_FAILED)
        return error_at(error, DPF_FAULT_PLUGIN, path, 0, "cannot be mapped");
    image.bytes = mapped;
    int status = walk(&image, seen, context);
    munmap(mapped, image.size);
    if (status != 0)
        return error_at(error, DPF_FAULT_PLUGIN, path, 0,
                        "is not a 64-bit little-endian ELF file with a dynamic symbol table");
    return 0;
}
