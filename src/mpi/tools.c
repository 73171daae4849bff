/* Tools that stand before MPI: profilers and checkers that define MPI_Recv and call PMPI_Recv, as MPI's profiling
 * interface has it. A tool comes first, as without this library, and sees each call that the program makes. What the
 * tool then asks of PMPI is answered by this library.
 *
 * psrun preloads this library behind the tools. So a program's calls go to a tool. Here the tool's own calls of
 * PMPI_... are led to this library's MPI_... of the same name: the entries of the tool's global offset table are
 * written anew. An object is a tool if it defines one of the names MPI_X that are answered here, and refers to PMPI_X.
 * MPI's own libraries do not: each defines PMPI_X itself, or does not define MPI_X.
 *
 * Called once, before main, when all objects that the program is linked to are there and relocated. Not seen: a tool
 * that is loaded later, and one that looks PMPI_X up by dlsym. Its calls go to MPI as they are.
 *
 * Rejected: to export PMPI_X here. MPI's own libraries call one another by these names, with locks held, and must not
 * wait here. Rejected: to look at the caller's address. A tool's last call is a jump, so the address is not the
 * tool's. */
#include "mpi_layer.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OBJECTS_MAX 512

struct loaded {
    ElfW(Addr) base, relro, relro_end; /* what is read-only once it is relocated */
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * table[2];
    size_t entries[2];
    void *inside; /* an address in it */
    const char *path;
};

static struct loaded objects[OBJECTS_MAX];
static unsigned num_objects;

static int note_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct loaded *o = &objects[num_objects];
    const ElfW(Dyn) *d = NULL;
    (void)bytes, (void)arg;
    if (num_objects == OBJECTS_MAX)
        return 1;
    *o = (struct loaded){.base = info->dlpi_addr, .path = info->dlpi_name};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_DYNAMIC)
            d = o->inside = (void *)(o->base + p->p_vaddr);
        if (p->p_type == PT_GNU_RELRO)
            o->relro = o->base + p->p_vaddr, o->relro_end = o->relro + p->p_memsz;
    }
    for (; d && d->d_tag != DT_NULL; d++) {
        ElfW(Addr) at = d->d_un.d_ptr < o->base ? d->d_un.d_ptr + o->base : d->d_un.d_ptr;
        switch (d->d_tag) {
        case DT_SYMTAB:
            o->symbols = (const void *)at;
            break;
        case DT_STRTAB:
            o->names = (const void *)at;
            break;
        case DT_JMPREL:
            o->table[0] = (const void *)at;
            break;
        case DT_PLTRELSZ:
            o->entries[0] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_RELA:
            o->table[1] = (const void *)at;
            break;
        case DT_RELASZ:
            o->entries[1] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        default:
            break;
        }
    }
    num_objects += o->symbols && o->names;
    return 0;
}

/* The name that the reference is to, if it is a PMPI one of another object's; else NULL. */
static const char *asks_pmpi(const struct loaded *o, const ElfW(Rela) * r)
{
    const ElfW(Sym) *s = &o->symbols[ELF64_R_SYM(r->r_info)];
    const char *name = o->names + s->st_name;
    bool asked = s->st_shndx == SHN_UNDEF && (strncmp(name, "PMPI_", 5) == 0 || strncmp(name, "pmpi_", 5) == 0);
    return asked ? name : NULL;
}

static bool defines(const struct loaded *o, const char *name)
{
    Dl_info here, there;
    void *handle = dlopen(*o->path ? o->path : NULL, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = handle ? dlsym(handle, name) : NULL;
    if (handle)
        dlclose(handle);
    return symbol && dladdr(symbol, &there) && dladdr(o->inside, &here) && here.dli_fbase == there.dli_fbase;
}

static void write_entry(const struct loaded *o, ElfW(Addr) at, void *value)
{
    ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE), from = at & -page;
    bool locked = at >= o->relro && at < (o->relro_end & -page);
    if (locked && mprotect((void *)from, page, PROT_READ | PROT_WRITE) != 0)
        return;
    *(void **)at = value;
    if (locked)
        mprotect((void *)from, page, PROT_READ);
}

/* own: this library. write: false: only whether it is a tool. */
static bool lead(const struct loaded *o, void *own, bool write)
{
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; o->table[t] && i < o->entries[t]; i++) {
            const ElfW(Rela) *r = &o->table[t][i];
            const char *name = asks_pmpi(o, r);
            void *answer = name ? dlsym(own, name + 1) : NULL;
            if (answer && write && r->r_addend == 0)
                write_entry(o, o->base + r->r_offset, answer);
            else if (answer && defines(o, name + 1))
                return true;
        }
    return write;
}

__attribute__((constructor)) static void lead_tools_here(void)
{
    Dl_info self;
    void *own = dladdr((void *)lead_tools_here, &self) ? dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    dl_iterate_phdr(note_object, NULL);
    for (unsigned i = 0; own && i < num_objects; i++)
        if (lead(&objects[i], own, false))
            lead(&objects[i], own, true);
}
