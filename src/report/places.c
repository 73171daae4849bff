/* Finds places by libdw: see places.h. An address of the tool interface is a return address. So the byte before it is
 * looked up, which belongs to the call. */
#include "places.h"

#include <ctype.h>
#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <string.h>

#include "memory.h"
#include "output.h"

struct object {
    const char *path;
    Dwfl_Module *module; /* NULL: the file is gone, or is another one now */
    uint64_t bias;       /* what the module adds to addresses in the file */
};

struct of_recording {
    const struct recording_file *file;
    struct place *place[REC_MAX_CODES];
};

struct places {
    Dwfl *dwfl;
    struct object *objects;
    unsigned num_objects, num_recordings;
    struct of_recording **recordings;
    char *(*demangle)(const char *name, char *buffer, size_t *bytes, int *status);
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

struct places *places_new(void)
{
    struct places *p = memory_new(1, sizeof *p);
    p->dwfl = dwfl_begin(&callbacks);
    /* A machine on which C++ programs run has this library. Without it names stay mangled. */
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (library)
        *(void **)&p->demangle = dlsym(library, "__cxa_demangle");
    return p;
}

/* Returns whether the file is the one that was mapped, as far as the build-ids tell. */
static bool is_the_same(Dwfl_Module *module, const struct recording_code *c)
{
    const unsigned char *id;
    GElf_Addr at;
    int bytes = dwfl_module_build_id(module, &id, &at);
    return c->build_id_bytes == 0 || c->build_id_bytes > sizeof c->build_id || bytes <= 0 ||
           ((uint32_t)bytes == c->build_id_bytes && memcmp(id, c->build_id, c->build_id_bytes) == 0);
}

static struct object *object_of(struct places *p, const char *path, const struct recording_code *c)
{
    for (unsigned i = 0; i < p->num_objects; i++)
        if (strcmp(p->objects[i].path, path) == 0)
            return &p->objects[i];
    p->objects = memory_more(p->objects, (p->num_objects + 1) * sizeof *p->objects);
    struct object *o = &p->objects[p->num_objects++];
    *o = (struct object){.path = memory_text("%s", path)};
    if (p->dwfl && *path == '/')
        o->module = dwfl_report_offline(p->dwfl, path, path, -1);
    GElf_Addr bias = 0;
    Elf *elf = o->module ? dwfl_module_getelf(o->module, &bias) : NULL;
    if (elf && is_the_same(o->module, c))
        o->bias = bias;
    else
        o->module = NULL;
    return o;
}

static bool is_of_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Reduces "double space::f<int>(int) const" to the name: the text between the last list of parameters and the last
 * space before it. Parentheses and spaces inside other brackets do not count: "(anonymous namespace)",
 * "{lambda(int)#1}", types of templates. */
static void keep_bare_name(char *readable)
{
    char *name = readable, *last = NULL, *end = NULL;
    bool of_type = false; /* true: behind "operator", where spaces belong to the name ("operator unsigned long") */
    unsigned depth = 0;
    for (char *at = readable; *at; at++) {
        if (depth == 0 && strncmp(at, "operator", 8) == 0 && !is_of_word(at[8]) &&
            (at == readable || !is_of_word(at[-1]))) {
            of_type = true;
            at += 7;
            if (at[1] == '(')
                at += 2;
            else
                at += strspn(at + 1, "<>=-");
        } else if (strchr("({[<", *at)) {
            if (depth++ == 0 && *at == '(') {
                last = at;
                end = name;
            }
        } else if (strchr(")}]>", *at)) {
            depth -= depth > 0;
            if (depth == 0 && at[1] == ':')
                last = NULL; /* "(..)::" was a scope, not a list of parameters */
        } else if (depth == 0 && *at == ' ' && !of_type) {
            name = at + 1;
        }
    }
    if (!last || last == end)
        return;
    *last = '\0';
    memmove(readable, end, strlen(end) + 1);
}

/* Returns the function's name as in the source, without what compilers add for the body of a region or task. */
static char *readable_name(const struct places *p, const char *symbol)
{
    static const char *const added[] = {"._omp_fn.",   ".omp_outlined", ".omp_task_entry", ".isra.", ".part.",
                                        ".constprop.", ".cold"};
    char *name = output_clean_text(symbol);
    for (unsigned i = 0; i < sizeof added / sizeof *added; i++) {
        char *at = strstr(name, added[i]);
        if (at && at > name)
            *at = '\0';
    }
    int status = -1;
    char *readable = p->demangle ? p->demangle(name, NULL, NULL, &status) : NULL;
    if (!readable)
        return name;
    free(name);
    keep_bare_name(readable);
    return readable;
}

static const char *after_slash(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the source file of the address, and its line in *number; NULL: unknown. libdw's quick way needs the table
 * .debug_aranges, which clang does not write: then each compilation unit is searched. */
static const char *find_line(Dwfl_Module *module, GElf_Addr at, int *number)
{
    Dwfl_Line *line = dwfl_module_getsrc(module, at);
    if (line)
        return dwfl_lineinfo(line, NULL, number, NULL, NULL, NULL);
    Dwarf_Addr bias;
    for (Dwarf_Die *unit = NULL; (unit = dwfl_module_nextcu(module, unit, &bias));) {
        Dwarf_Line *row = dwarf_haspc(unit, at - bias) > 0 ? dwarf_getsrc_die(unit, at - bias) : NULL;
        if (row && dwarf_lineno(row, number) == 0)
            return dwarf_linesrc(row, NULL, NULL);
    }
    return NULL;
}

static void look_up(const struct places *p, const struct object *o, struct place *place)
{
    GElf_Addr at = o->bias + place->offset - 1;
    const char *symbol = dwfl_module_addrname(o->module, at);
    if (symbol)
        place->function = readable_name(p, symbol);
    int number = 0;
    const char *file = find_line(o->module, at, &number);
    if (file && number > 0) {
        place->file = output_clean_text(file);
        place->line = (unsigned)number;
    }
}

static struct place *make_place(struct places *p, const struct recording_file *f, unsigned code)
{
    struct place *place = memory_new(1, sizeof *place);
    uint64_t address = 0;
    if (code < f->num_codes)
        address = ps_load_acquire(&f->codes[code].address);
    const char *path = address ? recording_file_text(f, f->codes[code].path) : "";
    if (*path) {
        place->object = output_clean_text(path);
        place->offset = f->codes[code].offset;
        const struct object *o = object_of(p, path, &f->codes[code]);
        if (o->module)
            look_up(p, o, place);
    }
    place->is_library = strcmp(after_slash(path), "libpsthreads-pools.so") == 0;
    if (place->is_library)
        place->brief = memory_text("library's job");
    else if (place->file)
        place->brief = memory_text("%s:%u", after_slash(place->file), place->line);
    else if (place->function)
        place->brief = place->function;
    else if (place->object)
        place->brief = memory_text("%s+0x%llx", after_slash(place->object), (unsigned long long)place->offset);
    else if (address)
        place->brief = memory_text("0x%llx", (unsigned long long)address);
    else
        place->brief = memory_text("unknown");
    return place;
}

const struct place *places_find(struct places *p, const struct recording_file *f, unsigned code)
{
    struct of_recording *r = NULL;
    for (unsigned i = p->num_recordings; i-- > 0 && !r;)
        if (p->recordings[i]->file == f)
            r = p->recordings[i];
    if (!r) {
        r = memory_new(1, sizeof *r);
        r->file = f;
        p->recordings = memory_more(p->recordings, (p->num_recordings + 1) * sizeof(void *));
        p->recordings[p->num_recordings++] = r;
    }
    code = code < REC_MAX_CODES ? code : 0;
    if (!r->place[code])
        r->place[code] = make_place(p, f, code);
    return r->place[code];
}

static void free_place(struct place *place)
{
    if (place->brief != place->function)
        free((char *)place->brief);
    free((char *)place->function);
    free((char *)place->file);
    free((char *)place->object);
    free(place);
}

void places_free(struct places *p)
{
    for (unsigned i = 0; i < p->num_recordings; i++) {
        for (unsigned code = 0; code < REC_MAX_CODES; code++)
            if (p->recordings[i]->place[code])
                free_place(p->recordings[i]->place[code]);
        free(p->recordings[i]);
    }
    for (unsigned i = 0; i < p->num_objects; i++)
        free((char *)p->objects[i].path);
    free(p->objects);
    free(p->recordings);
    if (p->dwfl)
        dwfl_end(p->dwfl);
    free(p);
}
