/* Where a thread waits: the innermost word on its stack that is an address in code, but neither in the runtime nor in
 * the C library. On x86-64 this address must also follow a call instruction, as return addresses do.
 *
 * The address is shown as OBJECT+OFFSET for addr2line, with the function's name if the object has symbols. The dump
 * searches the stack, and does not unwind it; gdb shows the whole stack (tools/gdb). Rejected: the unwinder of libgcc_s
 * (it takes the dynamic linker's lock, and sees only its own process). */
#include "dump_target.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SCAN_BYTES 16384 /* how much of a stack is searched, from its saved stack pointer */

static const struct dump_map *map_at(uintptr_t address)
{
    for (unsigned i = 0; i < dump_target.num_maps; i++)
        if (address >= dump_target.map[i].start && address < dump_target.map[i].end)
            return &dump_target.map[i];
    return NULL;
}

static bool read_file_at(int file, uint64_t offset, void *to, size_t bytes)
{
    return pread(file, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Looks in one symbol table for the function that contains `address`, a virtual address of the object. Returns whether
 * it has copied the function's name. */
static bool name_in(int file, const ElfW(Shdr) * table, const ElfW(Shdr) * strings, uintptr_t address, char *name,
                    size_t bytes)
{
    ElfW(Sym) chunk[64];
    uint64_t found = 0;
    bool some = false;
    for (uint64_t done = 0; done < table->sh_size; done += sizeof chunk) {
        size_t part = table->sh_size - done < sizeof chunk ? table->sh_size - done : sizeof chunk;
        if (!read_file_at(file, table->sh_offset + done, chunk, part))
            break;
        for (size_t i = 0; i < part / sizeof chunk[0]; i++) {
            const ElfW(Sym) *s = &chunk[i];
            if ((s->st_info & 15) == STT_FUNC && s->st_shndx != SHN_UNDEF && address >= s->st_value &&
                address < s->st_value + s->st_size) {
                found = s->st_name;
                some = true;
            }
        }
    }
    if (!some)
        return false;
    memset(name, 0, bytes);
    return pread(file, name, bytes - 1, (off_t)(strings->sh_offset + found)) > 0 && name[0];
}

/* Finds the function in the object's file: in its static symbols, otherwise in its dynamic ones. */
static bool function_name(const char *path, uintptr_t address, char *name, size_t bytes)
{
    ElfW(Ehdr) head;
    ElfW(Shdr) table, strings;
    bool some = false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (read_file_at(file, 0, &head, sizeof head) && !memcmp(head.e_ident, ELFMAG, SELFMAG))
        for (unsigned wanted = SHT_SYMTAB; !some && wanted; wanted = wanted == SHT_SYMTAB ? SHT_DYNSYM : 0)
            for (unsigned i = 0; i < head.e_shnum && !some; i++)
                some = read_file_at(file, head.e_shoff + (uint64_t)i * head.e_shentsize, &table, sizeof table) &&
                       table.sh_type == wanted &&
                       read_file_at(file, head.e_shoff + (uint64_t)table.sh_link * head.e_shentsize, &strings,
                                    sizeof strings) &&
                       name_in(file, &table, &strings, address, name, bytes);
    close(file);
    return some;
}

/* Returns the object's virtual address (as in its symbol table) of the byte that is mapped at `address`. */
static uintptr_t link_address(const struct dump_map *map, uintptr_t address)
{
    uintptr_t offset = address - map->start + map->offset;
    ElfW(Ehdr) head;
    ElfW(Phdr) segment;
    int file = open(map->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return offset;
    if (read_file_at(file, 0, &head, sizeof head))
        for (unsigned i = 0; i < head.e_phnum; i++)
            if (read_file_at(file, head.e_phoff + (uint64_t)i * head.e_phentsize, &segment, sizeof segment) &&
                segment.p_type == PT_LOAD && offset >= segment.p_offset &&
                offset < segment.p_offset + segment.p_filesz) {
                offset = offset - segment.p_offset + segment.p_vaddr;
                break;
            }
    close(file);
    return offset;
}

static void name_code_place(uintptr_t address, char *text, size_t bytes)
{
    const struct dump_map *map = map_at(address);
    char name[80];
    if (!map) {
        snprintf(text, bytes, "%#lx", (unsigned long)address);
        return;
    }
    uintptr_t in_object = link_address(map, address);
    const char *base = strrchr(map->path, '/');
    int used = snprintf(text, bytes, "%s+%#lx", base ? base + 1 : map->path, (unsigned long)in_object);
    if (function_name(map->path, in_object, name, sizeof name))
        snprintf(text + used, bytes - (size_t)used, " (%s)", name);
}

static bool is_library(const struct dump_map *map)
{
    const char *base = strrchr(map->path, '/');
    base = base ? base + 1 : map->path;
    return (map->start < dump_target.runtime_end && map->end > dump_target.runtime_start) ||
           !strncmp(base, "libc.so", 7) || !strncmp(base, "ld-", 3) || base[0] == '[';
}

static bool follows_call(uintptr_t address)
{
#if defined(__x86_64__)
    uint8_t code[8];
    if (dump_copy(address - sizeof code, code, sizeof code) != 0)
        return false;
    if (code[3] == 0xe8)
        return true;
    for (unsigned i = 1; i < 7; i++) /* a call through a register or memory: ff /2, 2 to 7 bytes */
        if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
            return true;
    return false;
#else
    return address % 2 == 0;
#endif
}

void dump_where(uintptr_t uth, char *text, size_t bytes)
{
    static uintptr_t stack[SCAN_BYTES / sizeof(uintptr_t)];
    uintptr_t sp = (uintptr_t)dump_number(uth + dump_field("uth.ctx"), sizeof(uintptr_t));
    size_t got = sizeof stack;
    snprintf(text, bytes, "an unknown place");
    if (!sp || !dump_field("reg.cfa"))
        return;
    while (got > 256 && dump_copy(sp, stack, got) != 0) /* the stack may end before SCAN_BYTES */
        got /= 2;
    for (size_t i = 0; i < got / sizeof stack[0]; i++) {
        const struct dump_map *map = map_at(stack[i]);
        if (map && !is_library(map) && follows_call(stack[i])) {
            name_code_place(stack[i] - 1, text, bytes);
            return;
        }
    }
}
