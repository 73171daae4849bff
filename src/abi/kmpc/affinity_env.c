/* KMP_AFFINITY: [modifier,..]type[,permute[,offset]], in any order.
 *
 * It is read as libomp 19 reads it. A word is recognised by its beginning; text after the word is reported and ignored.
 * If two types are given, the first decides where places are, and the last whether threads are bound. Each of these is
 * reported by one line and ignored: a number that is neither permute nor offset, an unknown word, a list that cannot be
 * read. See affinity.c. */
#include <stdio.h>
#include <string.h>

#include "affinity.h"
#include "check.h"
#include "kmpc.h"
#include "os.h"
#include "spelling.h"

enum { TYPE = 1, VERBOSE = 2, WARNINGS = 4, RESPECT = 8, RESET = 16, DUPLICATES = 32, GRANULARITY = 64, LIST = 128 };

struct reader {
    const char *text, *p;
    struct kmpc_affinity *out;
    unsigned given; /* the kinds of items that were read already */
    unsigned number[2], numbers;
};

/* Reports that the item from `start` to the next comma is ignored. */
static void complain_of_item(const struct reader *r, const char *start, const char *what)
{
    char item[64];
    snprintf(item, sizeof item, "%.*s", (int)strcspn(start, ","), start);
    ps_warn("KMP_AFFINITY=\"%s\": \"%s\" %s; using the rest instead", r->text, item, what);
}

static void pass_comma(struct reader *r)
{
    r->p += strcspn(r->p, ",");
    r->p += *r->p == ',';
}

/* Notes that an item of the kind `what` is given. Returns false, with a message, if one was given before. */
static bool first_of_its_kind(struct reader *r, unsigned what, const char *start)
{
    bool first = (r->given & what) == 0;
    if (!first)
        complain_of_item(r, start, "is there already");
    r->given |= what;
    return first;
}

static bool take_word(struct reader *r)
{
    static const struct {
        const char *word;
        unsigned what;
        unsigned value;
    } words[] = {
        {"none", TYPE, KMPC_NONE},           {"scatter", TYPE, KMPC_SCATTER},   {"compact", TYPE, KMPC_COMPACT},
        {"logical", TYPE, KMPC_LOGICAL},     {"physical", TYPE, KMPC_PHYSICAL}, {"explicit", TYPE, KMPC_EXPLICIT},
        {"balanced", TYPE, KMPC_BALANCED},   {"disabled", TYPE, KMPC_DISABLED}, {"verbose", VERBOSE, true},
        {"noverbose", VERBOSE, false},       {"warnings", WARNINGS, true},      {"nowarnings", WARNINGS, false},
        {"respect", RESPECT, true},          {"norespect", RESPECT, false},     {"reset", RESET, true},
        {"noreset", RESET, false},           {"duplicates", DUPLICATES, true},  {"dups", DUPLICATES, true},
        {"noduplicates", DUPLICATES, false}, {"nodups", DUPLICATES, false}};
    const char *start = r->p;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!spelling_begins(&r->p, words[i].word))
            continue;
        bool first = first_of_its_kind(r, words[i].what, start);
        r->out->typed |= words[i].what == TYPE;
        if (words[i].what == TYPE)
            r->out->policy = words[i].value != KMPC_NONE && words[i].value != KMPC_DISABLED;
        if (first && words[i].what == TYPE)
            r->out->type = (enum kmpc_affinity_type)words[i].value;
        else if (first && words[i].what == VERBOSE)
            r->out->verbose = words[i].value;
        else if (first && words[i].what == RESPECT)
            r->out->beyond = !words[i].value;
        else if (first && words[i].what == RESET)
            r->out->reset = words[i].value;
        else if (first && words[i].what == DUPLICATES)
            r->out->duplicates = words[i].value;
        return true;
    }
    return false;
}

/* Reads the layer after "granularity=". LAYERS: unknown. *there: false if libomp, as distributions build it, finds no
 * such layer on any machine. */
static enum layer read_granularity(const char **p, bool *there)
{
    static const struct {
        const char *word;
        enum layer layer;
        bool there;
    } words[] = {{"core_type", CORE, false}, {"core_eff", CORE, false},   {"socket", SOCKET, true},
                 {"package", SOCKET, true},  {"proc_group", CORE, false}, {"numa_domain", CORE, false},
                 {"node", CORE, false},      {"die", CORE, false},        {"ll_cache", L3, true},
                 {"l3_cache", L3, true},     {"tile", CORE, false},       {"module", CORE, false},
                 {"l2_cache", L2, true},     {"l1_cache", CORE, false},   {"core", CORE, true},
                 {"thread", THREAD, true},   {"fine", THREAD, true}};
    static const enum layer levels[] = {THREAD, CORE, SOCKET, SOCKET};
    unsigned long level;
    *there = true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (spelling_begins(p, words[i].word)) {
            *there = words[i].there;
            return words[i].layer;
        }
    if (!spelling_digits(p, 3, &level))
        return LAYERS;
    *there = level < 3;
    return levels[level];
}

static bool take_granularity(struct reader *r)
{
    const char *start = r->p;
    bool there;
    if (!spelling_begins(&r->p, "granularity") && !spelling_begins(&r->p, "gran"))
        return false;
    r->p = spelling_skip(r->p);
    enum layer layer = *r->p == '=' ? (r->p = spelling_skip(r->p + 1), read_granularity(&r->p, &there)) : LAYERS;
    if (layer == LAYERS) {
        r->p = start;
        return false;
    }
    if (!there)
        complain_of_item(r, start, "names a layer that libomp finds in no machine, a core or package counts");
    if (first_of_its_kind(r, GRANULARITY, start))
        r->out->granularity = layer;
    return true;
}

static bool take_list(struct reader *r)
{
    const char *start = r->p;
    struct ort_places list = {0};
    if (!spelling_begins(&r->p, "proclist"))
        return false;
    r->p = spelling_skip(r->p);
    if (*r->p == '=')
        r->p = spelling_skip(r->p + 1);
    if (*r->p != '[') {
        r->p = start;
        return false;
    }
    r->p++;
    const char *fault = place_parse_proclist(&r->p, ']', &list);
    if (fault != NULL) {
        complain_of_item(r, start, fault);
        r->p += strcspn(r->p, "]");
        return true;
    }
    r->p++;
    if (first_of_its_kind(r, LIST, start))
        r->out->list = list;
    else
        place_free(&list);
    return true;
}

static bool take_affinity_number(struct reader *r)
{
    unsigned long v;
    const char *start = r->p;
    if (!spelling_digits(&r->p, INT32_MAX, &v))
        return false;
    if (r->numbers < 2)
        r->number[r->numbers] = (unsigned)v;
    else
        complain_of_item(r, start, "is one number more than there can be");
    r->numbers++;
    return true;
}

/* Called when the whole text has been read. Decides the type, which a proclist may change. Then sets permute and offset
 * from the numbers of the text: how they count depends on the type. */
static void settle_affinity(struct reader *r)
{
    struct kmpc_affinity *a = r->out;
    if ((r->given & LIST) != 0 && (r->given & TYPE) == 0) {
        ps_warn("KMP_AFFINITY has a proclist and no type; using explicit instead");
        a->type = KMPC_EXPLICIT;
        a->typed = a->policy = true;
    } else if ((r->given & LIST) != 0 && a->type != KMPC_EXPLICIT) {
        ps_warn("KMP_AFFINITY has a proclist and is not explicit; using the type without it instead");
        place_free(&a->list);
    } else if (a->type == KMPC_EXPLICIT && (r->given & LIST) == 0) {
        ps_warn("KMP_AFFINITY is explicit and has no proclist; using none instead");
        a->type = KMPC_NONE;
    }
    unsigned taken = a->type == KMPC_LOGICAL || a->type == KMPC_PHYSICAL                              ? 1
                     : a->type == KMPC_COMPACT || a->type == KMPC_SCATTER || a->type == KMPC_BALANCED ? 2
                                                                                                      : 0;
    if (r->numbers > taken && taken < 2)
        ps_warn("KMP_AFFINITY=\"%s\" has a number more than its type takes; using the others instead", r->text);
    if (taken == 2 && r->numbers > 0)
        a->permute = r->number[0];
    if (taken > 0 && r->numbers >= taken)
        a->offset = r->number[taken - 1];
    if (a->type == KMPC_LOGICAL)
        a->type = KMPC_COMPACT;
    if (a->type == KMPC_PHYSICAL)
        a->type = KMPC_SCATTER;
}

void kmpc_affinity_parse(const char *text, struct kmpc_affinity *out)
{
    struct reader r = {.text = text, .p = spelling_skip(text), .out = out};
    while (*r.p != '\0') {
        const char *start = r.p;
        if (!take_word(&r) && !take_granularity(&r) && !take_list(&r) && !take_affinity_number(&r)) {
            complain_of_item(&r, start, "is not known");
            pass_comma(&r);
            continue;
        }
        r.p = spelling_skip(r.p);
        if (*r.p == ',') {
            r.p = spelling_skip(r.p + 1);
        } else if (*r.p != '\0') {
            complain_of_item(&r, r.p, "follows where a comma would");
            pass_comma(&r);
        }
    }
    settle_affinity(&r);
}
