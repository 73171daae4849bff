/* Tools that stand before MPI: profilers and checkers that define MPI_Recv and call PMPI_Recv, as MPI's profiling
 * interface provides. A tool comes first, as it would without this library, and sees each call of the program. Its
 * calls of PMPI come to this library.
 *
 * psrun preloads this library after the tools, so the program's calls go to a tool. Here the tool's own calls of
 * PMPI_... are redirected to this library's MPI_... of the same name, by changing entries of the tool's global offset
 * table. An object is a tool if it defines an MPI_X that is interposed here, and refers to PMPI_X. MPI's own libraries
 * are no tools: each defines PMPI_X itself, or does not define MPI_X.
 *
 * This is done once, before main, when all objects that the program is linked to are loaded and relocated. Two kinds of
 * tools are not found: those loaded later, and those that look PMPI_X up by dlsym. Their calls go to MPI unchanged.
 *
 * Rejected: to export PMPI_X here. MPI's own libraries call one another by these names, with locks held, and must not
 * wait here. Rejected: to look at the caller's address. A tool's last call is a jump, so the address is not the
 * tool's. */
#include "loaded_object.h"
#include "mpi_layer.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OBJECTS_MAX 512

struct loaded {
    struct ps_loaded o;
    ElfW(Addr) base, relro, relro_end; /* the part that the dynamic linker makes read-only after relocation */
    const char *path;
};

static struct loaded objects[OBJECTS_MAX];
static unsigned num_objects;

static int note_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct loaded *l = &objects[num_objects];
    (void)bytes, (void)arg;
    if (num_objects == OBJECTS_MAX)
        return 1;
    *l = (struct loaded){.o = ps_loaded_of(info), .base = info->dlpi_addr, .path = info->dlpi_name};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_GNU_RELRO)
            l->relro = l->base + p->p_vaddr, l->relro_end = l->relro + p->p_memsz;
    }
    num_objects += l->o.symbols && l->o.strings;
    return 0;
}

/* Returns the name to which the relocation refers, if it is a PMPI name that another object defines; else NULL. */
static const char *asks_pmpi(const struct loaded *l, const ElfW(Rela) * r)
{
    const ElfW(Sym) *s = &l->o.symbols[ELF64_R_SYM(r->r_info)];
    const char *name = l->o.strings + s->st_name;
    bool asked = s->st_shndx == SHN_UNDEF && (strncmp(name, "PMPI_", 5) == 0 || strncmp(name, "pmpi_", 5) == 0);
    return asked ? name : NULL;
}

static bool defines(const struct loaded *l, const char *name)
{
    Dl_info here, there;
    void *handle = dlopen(*l->path ? l->path : NULL, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = handle ? dlsym(handle, name) : NULL;
    if (handle)
        dlclose(handle);
    return symbol && dladdr(symbol, &there) && dladdr(l->o.section, &here) && here.dli_fbase == there.dli_fbase;
}

static void write_entry(const struct loaded *l, ElfW(Addr) at, void *value)
{
    ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE), from = at & -page;
    bool locked = at >= l->relro && at < (l->relro_end & -page);
    if (locked && mprotect((void *)from, page, PROT_READ | PROT_WRITE) != 0)
        return;
    *(void **)at = value;
    if (locked)
        mprotect((void *)from, page, PROT_READ);
}

/* own: this library. write == false: returns whether the object is a tool. write == true: redirects its calls. */
static bool lead(const struct loaded *l, void *own, bool write)
{
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; l->o.relocations[t] && i < l->o.num_relocations[t]; i++) {
            const ElfW(Rela) *r = &l->o.relocations[t][i];
            const char *name = asks_pmpi(l, r);
            void *answer = name ? dlsym(own, name + 1) : NULL;
            if (answer && write && r->r_addend == 0)
                write_entry(l, l->base + r->r_offset, answer);
            else if (answer && defines(l, name + 1))
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
