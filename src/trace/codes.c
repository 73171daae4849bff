/* Numbers the addresses in the program, in the order in which they are first seen. See recording.h.
 *
 * A known number is found without a lock. A new one is made under the lock: /proc/self/maps tells which file is mapped
 * at the address, and that file's headers in memory tell by how much it was moved. The dynamic linker is not asked: its
 * lock may be held by a thread that waits for this one (a constructor with a region). Code that is generated at run
 * time has no file.
 * The table here belongs to the process; each recording, also a child's, gets a copy. */
#include "recorder.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PLACES = 4096, TEXTS = 1 << 17 };
static struct {
    _Atomic uintptr_t address;
    _Atomic uint32_t code;
} place[PLACES];
static struct recording_code known[REC_MAX_CODES];
static _Atomic unsigned num_known = 1; /* code 0 is the unknown one; written under the lock */
static char texts[TEXTS];              /* begins with "" */
static uint64_t texts_used = 1;

/* A mapped file. Its first page, with its headers, is at `start`. */
struct mapped {
    uintptr_t start;
    char path[1024];
};

uint64_t codes_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct recording *r = recorder_own->recording;
    for (uint64_t at = 1; at < texts_used; at += strlen(texts + at) + 1)
        if (strcmp(texts + at, text) == 0)
            return at;
    if (bytes > TEXTS - texts_used)
        return 0;
    uint64_t at = texts_used;
    memcpy(texts + at, text, bytes);
    texts_used += bytes;
    if (r != NULL) {
        memcpy((char *)r + r->texts_at + at, text, bytes);
        ps_store_release(&r->texts_used, texts_used);
    }
    return at;
}

/* Reads one line of maps. A line with a file's beginning is noted in m. Returns true if the address is in this line's
 * mapping, and m has the beginning of the same file. */
static bool line_has(const char *line, uintptr_t address, struct mapped *m)
{
    unsigned long start, end, offset;
    int path = 0;
    if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &start, &end, &offset, &path) < 3 || path == 0)
        return false;
    const char *name = line + path;
    if (offset == 0 && name[0] == '/') {
        m->start = start;
        snprintf(m->path, sizeof m->path, "%s", name);
    }
    return address >= start && address < end && name[0] == '/' && strcmp(m->path, name) == 0;
}

static bool find_mapped(uintptr_t address, struct mapped *m)
{
    static char text[16384]; /* used under the lock */
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool found = false;
    long there = 0, n;
    m->path[0] = '\0';
    while (fd >= 0 && !found && (n = syscall(SYS_read, fd, text + there, sizeof text - 1 - (size_t)there)) > 0) {
        there += n;
        text[there] = '\0';
        char *line = text;
        for (char *end; !found && (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            found = line_has(line, address, m);
        }
        there = (long)strlen(line);
        memmove(text, line, (size_t)there);
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    return found;
}

static void read_build_id(struct recording_code *c, const ElfW(Nhdr) * note, size_t bytes)
{
    for (const char *at = (const char *)note, *end = at + bytes; end - at > (long)sizeof *note;) {
        const ElfW(Nhdr) *n = (const void *)at;
        size_t name = (n->n_namesz + 3) & ~3U, body = (n->n_descsz + 3) & ~3U;
        if ((size_t)(end - at) < sizeof *n + name + body)
            return;
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && n->n_descsz <= sizeof c->build_id) {
            memcpy(c->build_id, at + sizeof *n + name, n->n_descsz);
            c->build_id_bytes = n->n_descsz;
        }
        at += sizeof *n + name + body;
    }
}

/* Sets c's offset and build-id from the headers of the mapped file. Does nothing if they are not in its first page. */
static void read_headers(struct recording_code *c, const struct mapped *m)
{
    enum { PAGE = 4096 };
    const ElfW(Ehdr) *e = (const void *)m->start; // NOLINT(performance-no-int-to-ptr)
    if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_phoff > PAGE ||
        e->e_phnum * sizeof(ElfW(Phdr)) > PAGE - e->e_phoff)
        return;
    const ElfW(Phdr) *p = (const void *)((const char *)e + e->e_phoff);
    ElfW(Addr) first = 0;
    for (unsigned i = e->e_phnum; i-- > 0;)
        if (p[i].p_type == PT_LOAD)
            first = p[i].p_vaddr - p[i].p_offset;
    uint64_t moved = m->start - first;
    c->offset = c->address - moved;
    for (unsigned i = 0; i < e->e_phnum; i++)
        if (p[i].p_type == PT_NOTE && p[i].p_offset + p[i].p_filesz <= PAGE)
            read_build_id(c, (const void *)((const char *)e + p[i].p_offset), p[i].p_filesz);
}

static void add_code(struct recording *r, uintptr_t address, unsigned code)
{
    struct recording_code *c = &known[code];
    struct mapped m = {0};
    *c = (struct recording_code){.address = address, .offset = address};
    if (find_mapped(address, &m)) {
        c->path = codes_text(m.path);
        read_headers(c, &m);
    }
    struct recording_code *to = (struct recording_code *)(void *)((char *)r + r->codes_at) + code;
    memcpy((char *)to + sizeof to->address, (char *)c + sizeof c->address, sizeof *c - sizeof c->address);
    ps_store_release(&to->address, address);
    ps_store_release(&r->num_codes, code + 1);
}

static unsigned find_locked(uintptr_t address, unsigned at)
{
    struct recording *r = recorder_own->recording;
    uintptr_t there;
    while ((there = ps_load_relaxed(&place[at].address)) != 0 && there != address)
        at = (at + 1) % PLACES;
    if (there == address)
        return ps_load_relaxed(&place[at].code);
    unsigned code = ps_load_relaxed(&num_known);
    if (code == REC_MAX_CODES) {
        ps_add_relaxed(&r->codes_refused, 1);
        return 0;
    }
    ps_store_relaxed(&num_known, code + 1);
    add_code(r, address, code);
    ps_store_relaxed(&place[at].code, code);
    ps_store_release(&place[at].address, address);
    return code;
}

unsigned codes_find(const void *address_of_code)
{
    uintptr_t address = (uintptr_t)address_of_code;
    unsigned first = (unsigned)((address ^ address >> 12) % PLACES), at = first;
    for (uintptr_t there; (there = ps_load_acquire(&place[at].address)) != 0; at = (at + 1) % PLACES)
        if (there == address)
            return ps_load_relaxed(&place[at].code);
    if (address == 0 || recorder_own->recording == NULL || ps_load_relaxed(&num_known) == REC_MAX_CODES)
        return 0;
    recorder_lock(&recorder_own->lock);
    unsigned code = find_locked(address, first);
    recorder_unlock(&recorder_own->lock);
    return code;
}

void codes_publish(struct recording *r)
{
    memcpy((char *)r + r->texts_at, texts, texts_used);
    ps_store_relaxed(&r->texts_used, texts_used);
    unsigned n = ps_load_relaxed(&num_known);
    memcpy((char *)r + r->codes_at, known, n * sizeof *known);
    ps_store_release(&r->num_codes, n);
}
