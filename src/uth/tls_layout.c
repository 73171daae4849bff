/* Finds out the layout of the C library's thread descriptor at run time.
 *
 * glibc's struct pthread is private and changes between versions. What blocks need to know about it comes from three
 * sources:
 * - the constants that glibc publishes for debuggers (nptl_db: _thread_db_*);
 * - public facts (pthread_self, __rseq_offset, the system call get_robust_list);
 * - a specimen: a kernel thread that is started on a stack of ours, and copies its own descriptor before it has done
 *   anything that changes it. be_specimen is its function.
 *
 * Each word of the copy is treated by what it points to. A word that points into the specimen's descriptor will point
 * to the same place of a new block's descriptor. A word that is the base of the specimen's stack, with the stack's size
 * behind it, tells where the stack's bounds are kept. Any other word that points into the specimen's stack is useless
 * to other threads, and is cleared. Everything else (guards, flags, "more than one thread") is right for a new thread
 * as it was copied. The specimen runs on a stack that was given to pthread_create. The C library's fork, when a thread
 * in a block calls it, relies on that: in the child it puts the descriptor into the list of user stacks and nowhere
 * else.
 *
 * One byte of the descriptor tells whether a thread has used keys. To find it, the specimen sets a key and looks what
 * has changed. The byte saves time when a short thread ends: where it is not found, all keys are looked through.
 *
 * Where anything is not as expected, there is no layout, and a reason is returned. Nothing is guessed.
 * Rejected: offsets by version (wrong at the first distribution patch). A descriptor of zeros with the known fields
 * filled in (every new field of glibc would begin wrong). Real kernel threads as donors of blocks (a parked thread for
 * each block). */
#define _GNU_SOURCE
#include "tls_layout.h"

#include "os.h"
#include "tls_blocks.h"
#include "tls_objects.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64))

/* the C library takes a program's static TLS, which may be large, from this stack */
#define SPECIMEN_STACK_BYTES (1u << 20)

struct specimen {
    struct uth_tls_layout *layout;
    unsigned char *stack;
    uintptr_t descriptor, robust_head;
    int tid;
};

/* Finds the resolver's state (__res_state) and the pointer to it in the C library's TLS segment. Called by the
 * specimen. The state is in the descriptor of a new thread; if it is elsewhere here, l->resolver stays 0. */
static void note_resolver(struct specimen *s)
{
    struct uth_tls_layout *l = s->layout;
    void *(*state)(void) = (void *(*)(void))uth_tls_symbol("__res_state");
    uintptr_t at = state != NULL ? (uintptr_t)state() : 0;
    const char *tp = __builtin_thread_pointer();
    l->resolver = 0;
    if (at < s->descriptor || at >= s->descriptor + l->descriptor_bytes)
        return;
    for (size_t i = 0; i + sizeof at <= l->libc_bytes; i += sizeof at)
        if (memcmp(tp + l->libc_from_tp + i, &at, sizeof at) == 0) {
            l->resolver = at - s->descriptor;
            l->resolver_pointer_from_tp = l->libc_from_tp + (ptrdiff_t)i;
        }
}

/* Returns true if the byte at offset `at` belongs to the area for restartable sequences, which the kernel may write at
 * any time. */
static bool is_of_kernel(const struct specimen *s, size_t at)
{
    size_t area = (uintptr_t)__builtin_thread_pointer() + (uintptr_t)s->layout->rseq_from_tp - s->descriptor;
    return s->layout->rseq_from_tp != 0 && at >= area && at - area < sizeof(struct uth_tls_rseq);
}

#define ARRAYS_OF_KEYS 32 /* PTHREAD_KEYS_MAX / KEYS_AN_ARRAY; the first of the arrays is in the descriptor */
#define KEYS_AN_ARRAY 32
#define BYTES_OF_KEY (2 * sizeof(uintptr_t))

/* Finds the byte that tells whether a thread has used keys. The specimen gives a key its first value, and compares its
 * descriptor with the copy made before. The byte is known if exactly one byte outside of the values has changed, from 0
 * to 1. The first array of values and the pointers to all arrays must also follow each other in memory. Otherwise
 * keys_used stays 0. */
static void note_keys_used(struct specimen *s)
{
    struct uth_tls_layout *l = s->layout;
    const unsigned char *now = (const unsigned char *)s->descriptor; // NOLINT(performance-no-int-to-ptr)
    uintptr_t first;
    pthread_key_t key;
    memcpy(&first, now + l->specific, sizeof first);
    size_t from = first - s->descriptor, to = l->specific + ARRAYS_OF_KEYS * sizeof(void *), changed = 0;
    l->keys_used = 0;
    if (from + KEYS_AN_ARRAY * BYTES_OF_KEY != l->specific || to > l->descriptor_bytes)
        return;
    if (pthread_key_create(&key, NULL) != 0)
        return;
    if (pthread_setspecific(key, s) == 0) {
        for (size_t i = 0; i < l->descriptor_bytes; i++) {
            if ((i >= from && i < to) || now[i] == l->image[i] || is_of_kernel(s, i))
                continue;
            l->keys_used = now[i] == 1 && l->image[i] == 0 ? i : 0;
            changed++;
        }
        pthread_setspecific(key, NULL);
    }
    pthread_key_delete(key);
    if (changed != 1)
        l->keys_used = 0;
    l->keys_from = from;
    l->keys_to = to;
}

static void *be_specimen(void *arg)
{
    struct specimen *s = arg;
    s->descriptor = (uintptr_t)pthread_self();
    s->tid = os_thread_id();
    s->robust_head = (uintptr_t)os_robust_list(); /* 0 under emulators, which do not implement the system call */
    note_resolver(s);
    s->layout->descriptor_from_tp = (ptrdiff_t)(s->descriptor - (uintptr_t)__builtin_thread_pointer());
    memcpy(s->layout->image, (void *)s->descriptor, s->layout->descriptor_bytes);
    note_keys_used(s);
    return NULL;
}

/* Stores the offset of a field, from the triple {bits, elements, offset} that glibc publishes for debuggers as `name`.
 * False: the C library has no such name. */
static bool published_offset(const char *name, size_t *out)
{
    const uint32_t *description = uth_tls_symbol(name);
    if (description == NULL)
        return false;
    *out = description[2];
    return true;
}

static uintptr_t word_at(const struct uth_tls_layout *l, size_t offset)
{
    uintptr_t word;
    memcpy(&word, l->image + offset, sizeof word);
    return word;
}

static void set_word(struct uth_tls_layout *l, size_t offset, uintptr_t word)
{
    memcpy(l->image + offset, &word, sizeof word);
}

/* Makes the copy independent of the place of the specimen's descriptor and stack. Returns NULL, or why it cannot. */
static const char *detach_image(struct uth_tls_layout *l, const struct specimen *s)
{
    uintptr_t stack = (uintptr_t)s->stack;
    l->stack_base = l->stack_size = 0;
    for (size_t at = 0; at + sizeof(uintptr_t) <= l->descriptor_bytes; at += sizeof(uintptr_t)) {
        uintptr_t word = word_at(l, at);
        bool in_list = at >= l->list && at < l->list + 2 * sizeof(uintptr_t);
        if (in_list) {
            /* the descriptor becomes a list of one: code that unlinks it then finds a valid list */
            word = s->descriptor + l->list;
        }
        if (word >= s->descriptor && word < s->descriptor + l->descriptor_bytes) {
            if (l->own_pointers == UTH_TLS_MAX_FIXES)
                return "the C library's thread descriptor has too many pointers to itself";
            l->own_pointer[l->own_pointers].at = (uint32_t)at;
            l->own_pointer[l->own_pointers++].to = (uint32_t)(word - s->descriptor);
        } else if (word == stack && at + 2 * sizeof word <= l->descriptor_bytes &&
                   word_at(l, at + sizeof word) == SPECIMEN_STACK_BYTES) {
            if (l->stack_base != 0)
                return "the C library's thread descriptor has its stack twice";
            l->stack_base = at;
            l->stack_size = at + sizeof word;
            at += sizeof word;
        } else if (word >= stack && word < stack + SPECIMEN_STACK_BYTES) {
            set_word(l, at, 0);
        }
    }
    return l->stack_base == 0 ? "the stack's bounds are not found in the C library's thread descriptor" : NULL;
}

static const char *check_image(struct uth_tls_layout *l, const struct specimen *s)
{
    int tid;
    if (l->tid + sizeof tid > l->descriptor_bytes || l->list + 2 * sizeof(void *) > l->descriptor_bytes ||
        l->specific + 32 * sizeof(void *) > l->descriptor_bytes)
        return "the C library publishes offsets beyond its thread descriptor";
    memcpy(&tid, l->image + l->tid, sizeof tid);
    if (tid != s->tid)
        return "the thread number is not where the C library publishes it";
    /* While a thread holds no robust mutex, the head of its list of robust mutexes points to itself. */
    size_t robust = s->robust_head - s->descriptor;
    if (s->robust_head == 0)
        return NULL;
    if (robust + sizeof(uintptr_t) > l->descriptor_bytes || word_at(l, robust) != s->robust_head)
        return "the list of robust mutexes is not in the C library's thread descriptor";
    l->robust = robust;
    return NULL;
}

static const char *take_specimen(struct uth_tls_layout *l)
{
    struct specimen s = {.layout = l, .stack = os_map(SPECIMEN_STACK_BYTES)};
    pthread_attr_t attr;
    pthread_t thread;
    const char *why = "no memory";
    l->refused_now = true;
    l->image = os_map(l->descriptor_bytes);
    if (s.stack == NULL || l->image == NULL || pthread_attr_init(&attr) != 0)
        goto out;
    why = "no kernel thread could be started to learn the C library's layout";
    int error = pthread_attr_setstack(&attr, s.stack, SPECIMEN_STACK_BYTES);
    if (error == 0)
        error = pthread_create(&thread, &attr, be_specimen, &s);
    pthread_attr_destroy(&attr);
    if (error != 0)
        goto out;
    pthread_join(thread, NULL);
    l->refused_now = false;
    why = check_image(l, &s);
    if (why == NULL)
        why = detach_image(l, &s);
out:
    if (s.stack != NULL)
        os_unmap(s.stack, SPECIMEN_STACK_BYTES);
    if (why != NULL && l->image != NULL)
        os_unmap(l->image, l->descriptor_bytes);
    return why;
}

/* Finds the C library's TLS segment without the dynamic linker's lock. In a forked child this lock may belong to a
 * thread that does not exist there; os_objects_visit then asks nothing. */
static void find_libc_by_address(struct uth_tls_layout *l)
{
    const uint32_t *offset_at = uth_tls_symbol("_thread_db_link_map_l_tls_offset");
    const void *start_of_libc;
    const struct link_map *libc = os_object_at((const void *)l->ctype_init, &start_of_libc);
    if (offset_at == NULL || libc == NULL)
        return;
    const ElfW(Ehdr) *header = start_of_libc;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return;
    ptrdiff_t offset;
    memcpy(&offset, (const char *)libc + offset_at[2], sizeof offset);
#if defined(__x86_64__)
    offset = -offset;
#endif
    const ElfW(Phdr) *segment = (const void *)((const char *)header + header->e_phoff);
    uintptr_t start = (uintptr_t)__builtin_thread_pointer() + (uintptr_t)offset, e = (uintptr_t)&errno;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_TLS && e >= start && e < start + segment[i].p_memsz) {
            l->libc_from_tp = offset;
            l->libc_bytes = segment[i].p_memsz;
        }
}

/* A callback of os_objects_visit: finds the C library's TLS segment, which is the one that contains errno. */
static int find_libc(struct dl_phdr_info *info, size_t bytes, void *layout)
{
    struct uth_tls_layout *l = layout;
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum && info->dlpi_tls_data != NULL; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = (uintptr_t)info->dlpi_tls_data, e = (uintptr_t)&errno;
        if (segment->p_type == PT_TLS && e >= start && e < start + segment->p_memsz) {
            l->libc_from_tp = (ptrdiff_t)(start - (uintptr_t)__builtin_thread_pointer());
            l->libc_bytes = segment->p_memsz;
            return 1;
        }
    }
    return 0;
}

const char *uth_tls_find_layout(struct uth_tls_layout *l)
{
    memset(l, 0, sizeof *l);
    l->allocate = (void *(*)(void *))uth_tls_symbol("_dl_allocate_tls");
    l->deallocate = (void (*)(void *, bool))uth_tls_symbol("_dl_deallocate_tls");
    l->initialise = (void *(*)(void *, bool))uth_tls_symbol("_dl_allocate_tls_init");
    l->ctype_init = (void (*)(void))uth_tls_symbol("__ctype_init");
    l->call_destructors = (void (*)(void))uth_tls_symbol("__call_tls_dtors");
    l->keys = uth_tls_symbol("__pthread_keys");
    const uint32_t *size = uth_tls_symbol("_thread_db_sizeof_pthread");
    if (l->allocate == NULL || l->deallocate == NULL || l->initialise == NULL || l->ctype_init == NULL ||
        l->call_destructors == NULL)
        return "the dynamic linker does not give thread-local blocks";
    if (size == NULL || l->keys == NULL || !published_offset("_thread_db_pthread_tid", &l->tid) ||
        !published_offset("_thread_db_pthread_list", &l->list) ||
        !published_offset("_thread_db_pthread_specific", &l->specific))
        return "the C library does not publish its thread descriptor's layout";
    l->descriptor_bytes = *size;
    const ptrdiff_t *rseq_offset = uth_tls_symbol("__rseq_offset");
    const unsigned *rseq_size = uth_tls_symbol("__rseq_size");
    l->rseq_from_tp = rseq_offset != NULL && rseq_size != NULL && *rseq_size != 0 ? *rseq_offset : 0;
    l->libc_bytes = 0;
    find_libc_by_address(l);
    if (l->libc_bytes == 0 && (!os_objects_visit(find_libc, l) || l->libc_bytes == 0))
        return "the C library's own thread-local storage is not found";
    uintptr_t segment = (uintptr_t)__builtin_thread_pointer() + (uintptr_t)l->libc_from_tp;
    l->shared_segment = (uintptr_t)uth_tls_current_in(__builtin_thread_pointer()) - segment < l->libc_bytes;
    l->free_state = (void (*)(void))uth_tls_symbol("__libc_thread_freeres");
    if (l->shared_segment && l->free_state == NULL)
        return "the C library gives no function that frees what it keeps for a thread";
    if (!l->shared_segment && l->libc_bytes > UTH_TLS_MAX_LIBC_BYTES)
        return "the C library's own thread-local storage is too big";
    return take_specimen(l);
}

#else

const char *uth_tls_find_layout(struct uth_tls_layout *l)
{
    (void)l;
    return "only glibc on x86_64, aarch64 and riscv64 is known";
}

#endif
