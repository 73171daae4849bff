/* OMP_ALLOCATOR: the initial default allocator.
 *
 * Does: reads the name of a predefined allocator, or of a predefined memory space, which traits may follow
 * ("omp_large_cap_mem_space:alignment=64,pinned=true"). A space without traits stands for its predefined allocator. A
 * space with traits becomes an allocator as omp_init_allocator makes them, which is never destroyed.
 * Called by environment/env.c while it reads the variables. Failures: one line, and omp_default_mem_alloc.
 * OpenMP 5.2 section 21.5.1. */
#include "allocator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "check.h"
#include "letters.h"
#include "ort.h"
#include "os.h"

#define TRAITS_MAX 16

struct word {
    const char *text;
    uintptr_t value;
};
static const struct word allocators[] = {{"omp_default_mem_alloc", ORT_ALLOCATOR_DEFAULT},
                                         {"omp_large_cap_mem_alloc", 2},
                                         {"omp_const_mem_alloc", 3},
                                         {"omp_high_bw_mem_alloc", ORT_ALLOCATOR_HIGH_BW},
                                         {"omp_low_lat_mem_alloc", 5},
                                         {"omp_cgroup_mem_alloc", 6},
                                         {"omp_pteam_mem_alloc", 7},
                                         {"omp_thread_mem_alloc", 8},
                                         {"ompx_gnu_pinned_mem_alloc", ORT_ALLOCATOR_PINNED},
                                         {"ompx_gnu_managed_mem_alloc", ORT_ALLOCATOR_MANAGED},
                                         {NULL, 0}};
/* The first five have the same order as the first five allocators. Without traits each of them stands for its
 * allocator. */
static const struct word spaces[] = {{"omp_default_mem_space", ORT_MEMSPACE_DEFAULT},
                                     {"omp_large_cap_mem_space", ORT_MEMSPACE_LARGE_CAP},
                                     {"omp_const_mem_space", ORT_MEMSPACE_CONST},
                                     {"omp_high_bw_mem_space", ORT_MEMSPACE_HIGH_BW},
                                     {"omp_low_lat_mem_space", ORT_MEMSPACE_LOW_LAT},
                                     {"ompx_gnu_managed_mem_space", ORT_MEMSPACE_MANAGED},
                                     {NULL, 0}};
static const struct word keys[] = {
    {"sync_hint", ORT_TRAIT_SYNC_HINT}, {"alignment", ORT_TRAIT_ALIGNMENT}, {"access", ORT_TRAIT_ACCESS},
    {"pool_size", ORT_TRAIT_POOL_SIZE}, {"fallback", ORT_TRAIT_FALLBACK},   {"fb_data", ORT_TRAIT_FB_DATA},
    {"pinned", ORT_TRAIT_PINNED},       {"partition", ORT_TRAIT_PARTITION}, {NULL, 0}};
static const struct word sync_hints[] = {{"contended", ORT_TRAIT_CONTENDED},
                                         {"uncontended", ORT_TRAIT_UNCONTENDED},
                                         {"serialized", ORT_TRAIT_SERIALIZED},
                                         {"private", ORT_TRAIT_PRIVATE},
                                         {NULL, 0}};
static const struct word accesses[] = {{"all", ORT_TRAIT_ALL},
                                       {"thread", ORT_TRAIT_THREAD},
                                       {"pteam", ORT_TRAIT_PTEAM},
                                       {"cgroup", ORT_TRAIT_CGROUP},
                                       {NULL, 0}};
static const struct word fallbacks[] = {{"default_mem_fb", ORT_TRAIT_DEFAULT_FB},
                                        {"null_fb", ORT_TRAIT_NULL_FB},
                                        {"abort_fb", ORT_TRAIT_ABORT_FB},
                                        {"allocator_fb", ORT_TRAIT_ALLOCATOR_FB},
                                        {NULL, 0}};
static const struct word truths[] = {{"true", ORT_TRAIT_TRUE}, {"false", ORT_TRAIT_FALSE}, {NULL, 0}};
static const struct word partitions[] = {{"environment", ORT_TRAIT_ENVIRONMENT},
                                         {"nearest", ORT_TRAIT_NEAREST},
                                         {"blocked", ORT_TRAIT_BLOCKED},
                                         {"interleaved", ORT_TRAIT_INTERLEAVED},
                                         {NULL, 0}};
/* The words that a trait's value may be, by the trait's key; NULL: the value is a number. */
static const struct word *const values[] = {
    [ORT_TRAIT_SYNC_HINT] = sync_hints, [ORT_TRAIT_ACCESS] = accesses, [ORT_TRAIT_FALLBACK] = fallbacks,
    [ORT_TRAIT_FB_DATA] = allocators,   [ORT_TRAIT_PINNED] = truths,   [ORT_TRAIT_PARTITION] = partitions};

const char *ort_allocator_name(uintptr_t allocator)
{
    for (const struct word *w = allocators; w->text != NULL; w++)
        if (w->value == allocator)
            return w->text;
    return NULL;
}

/* Finds the word at *p in `words`; case does not matter. Moves *p behind the word and the blanks that follow. Returns
 * NULL if it is none of them. */
static const struct word *read_trait_word(const char **p, const struct word *words)
{
    const char *at = os_skip_blanks(*p);
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    for (const struct word *w = words; w->text != NULL; w++)
        if (strlen(w->text) == length && strncasecmp(at, w->text, length) == 0) {
            *p = os_skip_blanks(at + length);
            return w;
        }
    return NULL;
}

static bool read_value(const char **p, struct ort_alloctrait *trait)
{
    const struct word *words = values[trait->key];
    if (words != NULL) {
        const struct word *w = read_trait_word(p, words);
        trait->value = w != NULL ? w->value : 0;
        return w != NULL;
    }
    char *end;
    const char *at = os_skip_blanks(*p);
    if (!isdigit((unsigned char)*at))
        return false;
    errno = 0;
    trait->value = strtoul(at, &end, 10);
    *p = os_skip_blanks(end);
    /* A text may not give the number that stands for a default. */
    return errno == 0 && trait->value != ORT_TRAIT_DEFAULT;
}

/* Reads "key=value,key=value" to the end of the text. Returns the number of traits; -1: it cannot be read. */
static int read_traits(const char *p, struct ort_alloctrait *traits)
{
    for (int n = 0; n < TRAITS_MAX; p++) {
        const struct word *key = read_trait_word(&p, keys);
        if (key == NULL || *p++ != '=')
            return -1;
        traits[n].key = (int)key->value;
        if (!read_value(&p, &traits[n++]))
            return -1;
        if (*p == '\0')
            return n;
        if (*p != ',')
            return -1;
    }
    return -1;
}

static uintptr_t read_allocator(const char *text, const char **wrong)
{
    struct ort_alloctrait traits[TRAITS_MAX];
    const char *p = text;
    const struct word *w = read_trait_word(&p, allocators);
    *wrong = "is neither a predefined allocator nor a memory space with traits (NAME=VALUE,...)";
    if (w != NULL)
        return *p == '\0' ? w->value : ORT_ALLOCATOR_NULL;
    w = read_trait_word(&p, spaces);
    if (w == NULL)
        return ORT_ALLOCATOR_NULL;
    if (*p == '\0')
        return w->value == ORT_MEMSPACE_MANAGED ? ORT_ALLOCATOR_MANAGED : allocators[w - spaces].value;
    int n = *p == ':' ? read_traits(p + 1, traits) : -1;
    if (n < 0)
        return ORT_ALLOCATOR_NULL;
    *wrong = "asks for traits that cannot be had";
    return ort_allocator_make(w->value, n, traits);
}

void ort_allocator_env_read(void)
{
    const char *text = os_env("OMP_ALLOCATOR"), *wrong;
    if (text == NULL)
        return;
    uintptr_t allocator = read_allocator(text, &wrong);
    if (allocator != ORT_ALLOCATOR_NULL)
        ort_settings.initial.default_allocator = allocator;
    else
        ps_warn("OMP_ALLOCATOR=\"%s\" %s; using %s instead", text, wrong, ort_allocator_name(ORT_ALLOCATOR_DEFAULT));
}
