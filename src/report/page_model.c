/* The model of a page: see page.h. The open slices of a track are a stack. The track's time is cut into leaves:
 * intervals in which the innermost slice does not change. Each leaf is added to the bins and sums. It is also kept as
 * an interval if it is among the longest. */
#include "page.h"

#include <search.h>
#include <string.h>

struct page_process *page_add_process(struct page_model *m, const char *file)
{
    struct page_process *p = memory_new(1, sizeof *p);
    p->file = file;
    p->rank = -1;
    p->first = UINT64_MAX;
    m->processes = memory_more(m->processes, (m->num_processes + 1) * sizeof *m->processes);
    m->processes[m->num_processes++] = p;
    return p;
}

struct page_track *page_add_track(struct page_process *p, uint64_t uuid)
{
    struct page_track *t = memory_new(1, sizeof *t);
    t->uuid = uuid;
    t->first = UINT64_MAX;
    t->process = p;
    p->tracks = page_grow(p->tracks, p->num_tracks, &p->room_tracks, sizeof *p->tracks);
    p->tracks[p->num_tracks++] = t;
    return t;
}

static int compare_numbers(uintptr_t a, uintptr_t b) { return (a > b) - (a < b); }

static int compare_places(const void *a, const void *b)
{
    return strcmp(((const struct page_place *)a)->label, ((const struct page_place *)b)->label);
}

/* Returns the place with this label; makes it if it is new. The first file and function that come with a label are
 * kept. */
struct page_place *page_find_place(struct page_model *m, const char *label, const char *file, const char *function,
                                   uint32_t line)
{
    struct page_place key = {.label = (char *)label};
    struct page_place **found = tfind(&key, &m->places_tree, compare_places);
    if (found)
        return *found;
    struct page_place *place = memory_new(1, sizeof *place);
    place->label = memory_text("%s", label);
    place->file = file ? memory_text("%s", file) : NULL;
    place->function = function ? memory_text("%s", function) : NULL;
    place->line = line;
    place->index = m->num_places;
    m->places = page_grow(m->places, m->num_places, &m->room_places, sizeof *m->places);
    m->places[m->num_places++] = place;
    tsearch(place, &m->places_tree, compare_places);
    return place;
}

static enum page_kind kind_of(const char *category)
{
    static const struct {
        const char *category;
        enum page_kind kind;
    } kinds[] = {{"region", PAGE_REGION}, {"member", PAGE_MEMBER}, {"task", PAGE_TASK},
                 {"loop", PAGE_LOOP},     {"wait", PAGE_WAIT},     {"sched", PAGE_SCHEDULER}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(category, kinds[i].category) == 0)
            return kinds[i].kind;
    return PAGE_OTHER;
}

static enum page_state state_of(enum page_kind kind, const char *text)
{
    static const struct {
        const char *begin;
        enum page_state state;
    } waits[] = {{"task", PAGE_TASKS},   {"dependence", PAGE_TASKS}, {"lock", PAGE_LOCKS},
                 {"nest", PAGE_LOCKS},   {"mutex", PAGE_LOCKS},      {"critical", PAGE_LOCKS},
                 {"atomic", PAGE_LOCKS}, {"ordered", PAGE_LOCKS},    {"MPI", PAGE_MPI},
                 {"outside", PAGE_MPI},  {"barrier", PAGE_BARRIER},  {"implicit", PAGE_BARRIER},
                 {"join", PAGE_BARRIER}, {"reduction", PAGE_BARRIER}};
    if (kind == PAGE_MEMBER || kind == PAGE_TASK || kind == PAGE_LOOP)
        return PAGE_USEFUL;
    if (kind == PAGE_SCHEDULER && strncmp(text, "park", 4) == 0)
        return PAGE_PARKED;
    for (size_t i = 0; kind == PAGE_WAIT && i < sizeof(waits) / sizeof(waits[0]); i++)
        if (strncmp(text, waits[i].begin, strlen(waits[i].begin)) == 0)
            return waits[i].state;
    return PAGE_RUNTIME;
}

static int compare_names(const void *a, const void *b)
{
    const struct page_name *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    if (order == 0)
        order = (x->kind > y->kind) - (x->kind < y->kind);
    return order ? order : compare_numbers((uintptr_t)x->place, (uintptr_t)y->place);
}

struct page_name *page_find_name(struct page_model *m, const char *text, const char *category, struct page_place *place)
{
    struct page_name key = {.text = (char *)text, .kind = kind_of(category), .place = place};
    struct page_name **found = tfind(&key, &m->names_tree, compare_names);
    if (found)
        return *found;
    struct page_name *name = memory_new(1, sizeof *name);
    *name = key;
    name->text = memory_text("%s", text);
    name->state = state_of(name->kind, text);
    name->index = m->num_names;
    name->shown = PAGE_NONE;
    m->names = page_grow(m->names, m->num_names, &m->room_names, sizeof *m->names);
    m->names[m->num_names++] = name;
    tsearch(name, &m->names_tree, compare_names);
    return name;
}

static int compare_paths(const void *a, const void *b)
{
    const struct page_path *x = a, *y = b;
    int order = compare_numbers((uintptr_t)x->name, (uintptr_t)y->name);
    return order ? order : compare_numbers((uintptr_t)x->parent, (uintptr_t)y->parent);
}

/* Returns the path of `name` inside `parent`; makes it if it is new. Its time belongs to the innermost region. */
static struct page_path *find_path(struct page_model *m, struct page_path *parent, struct page_name *name)
{
    struct page_path key = {.parent = parent, .name = name};
    struct page_path **found = tfind(&key, &m->paths_tree, compare_paths);
    if (found)
        return *found;
    struct page_path *path = memory_new(1, sizeof *path);
    *path = key;
    path->shown = PAGE_NONE;
    bool opens = name->kind == PAGE_REGION || name->kind == PAGE_MEMBER;
    path->region = opens ? name->place : parent ? parent->region : NULL;
    tsearch(path, &m->paths_tree, compare_paths);
    return path;
}

/* Extends the process's time to contain begin and end. If that needs wider bins, or another first bin, moves the
 * contents of all bins to where they belong then. */
static void widen(struct page_process *p, uint64_t begin, uint64_t end)
{
    uint64_t first = begin < p->first ? begin : p->first, last = end > p->last ? end : p->last;
    unsigned shift = p->shift;
    while ((last >> shift) - (first >> shift) >= PAGE_BINS)
        shift++;
    uint64_t base = first >> shift;
    bool moves = p->first != UINT64_MAX && (shift != p->shift || base != p->bin_base);
    for (size_t i = 0; moves && i < p->num_tracks; i++) {
        struct page_track *t = p->tracks[i];
        if (!t->bins)
            continue;
        uint64_t(*bins)[PAGE_STATES] = memory_new(PAGE_BINS, sizeof *bins);
        for (uint64_t j = 0; j < PAGE_BINS && p->bin_base + j <= p->last >> p->shift; j++)
            for (int s = 0; s < PAGE_STATES; s++)
                bins[((p->bin_base + j) >> (shift - p->shift)) - base][s] += t->bins[j][s];
        free(t->bins);
        t->bins = bins;
    }
    p->first = first;
    p->last = last;
    p->shift = shift;
    p->bin_base = base;
}

static void put_into_bins(struct page_track *t, uint64_t begin, uint64_t end, enum page_state state)
{
    struct page_process *p = t->process;
    if (!t->bins)
        t->bins = memory_new(PAGE_BINS, sizeof *t->bins);
    for (uint64_t bin = begin >> p->shift; begin < end; bin++) {
        uint64_t until = (bin + 1) << p->shift;
        uint64_t to = end < until ? end : until;
        t->bins[bin - p->bin_base][state] += to - begin;
        begin = to;
    }
}

static void drop_short_ones(struct page_model *m, struct page_track *t, struct page_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->num; i++)
        if (list->at[i].end - list->at[i].begin >= m->shortest)
            list->at[kept++] = list->at[i];
    t->dropped += list->num - kept;
    m->num_intervals -= list->num - kept;
    list->num = kept;
}

static void keep_interval(struct page_model *m, struct page_track *t, struct page_list *list,
                          struct page_interval interval)
{
    if (interval.end - interval.begin < m->shortest) {
        t->dropped++;
        return;
    }
    list->at = page_grow(list->at, list->num, &list->room, sizeof *list->at);
    list->at[list->num++] = interval;
    m->num_intervals++;
    while (m->num_intervals > PAGE_INTERVALS) {
        m->shortest = m->shortest ? 2 * m->shortest : 1;
        for (size_t i = 0; i < m->num_processes; i++)
            for (size_t j = 0; j < m->processes[i]->num_tracks; j++) {
                struct page_track *other = m->processes[i]->tracks[j];
                drop_short_ones(m, other, &other->leaves);
                drop_short_ones(m, other, &other->outer);
            }
    }
}

/* Moves the track's time to `time`, or to its last event's time if that is later. Returns the new time. The time since
 * the last event belongs to the innermost slice. */
static uint64_t advance(struct page_model *m, struct page_track *t, uint64_t time)
{
    if (t->first == UINT64_MAX)
        t->first = t->last = time;
    if (time < t->last)
        time = t->last;
    widen(t->process, t->last, time);
    if (t->num_open && time > t->last) {
        struct page_path *path = t->open[t->num_open - 1].path;
        enum page_state state = path->name->state;
        uint64_t ns = time - t->last;
        put_into_bins(t, t->last, time, state);
        keep_interval(m, t, &t->leaves, (struct page_interval){t->last, time, path});
        t->state[state] += ns;
        if (path->region)
            path->region->region_state[state] += ns;
        for (size_t i = t->num_open; state == PAGE_USEFUL && i-- > 0;) /* counted for the innermost task or member */
            if (t->open[i].path->name->kind == PAGE_TASK || t->open[i].path->name->kind == PAGE_MEMBER) {
                t->open[i].useful += ns;
                break;
            }
    }
    t->last = time;
    t->in_use = true;
    return time;
}

/* Waits for locks. A thread that waits may leave its vp: then its slices end there, those around the wait as well. They
 * begin again where the thread goes on. A wait that has ended before that has no slice there. */

static bool is_of_lock(const struct page_name *name) { return name->kind == PAGE_WAIT && name->state == PAGE_LOCKS; }

static struct page_wait *wait_of(const struct page_track *t, const struct page_slice *s)
{
    return id_table_get(&t->process->lock_waits, s->id);
}

static void wait_lasts(struct page_wait *w, uint64_t time)
{
    if (time <= w->end)
        return;
    w->name->wait_ns += time - w->end;
    w->end = time;
    if (w->name->longest < time - w->begin)
        w->name->longest = time - w->begin;
}

static void begin_wait(struct page_track *t, const struct page_slice *s)
{
    struct page_name *name = s->path->name;
    struct page_wait *w = wait_of(t, s);
    bool around = name->kind == PAGE_MEMBER || name->kind == PAGE_TASK;
    if (w && s->resumed && (around ? w->has_left : w->name == name))
        wait_lasts(w, s->begin);
    if (!is_of_lock(name) || (s->resumed && w && w->name == name))
        return;
    if (!w)
        id_table_put(&t->process->lock_waits, s->id, w = memory_new(1, sizeof *w));
    *w = (struct page_wait){s->begin, s->begin, name, false};
    name->waits++;
    name->elsewhere = name->elsewhere || (name->region && name->region != s->path->region);
    name->region = name->region ? name->region : s->path->region;
}

static void end_wait(struct page_track *t, const struct page_slice *s, uint64_t time)
{
    struct page_wait *w = wait_of(t, s);
    if (w && s->path->name == w->name)
        wait_lasts(w, time);
    else if (w)
        w->has_left = w->end == time;
}

void page_begin(struct page_model *m, struct page_track *t, uint64_t time, struct page_name *name,
                const struct page_slice *more)
{
    time = advance(m, t, time);
    if (t->num_open)
        t->open[t->num_open - 1].inner = true;
    t->open = page_grow(t->open, t->num_open, &t->room_open, sizeof *t->open);
    t->open[t->num_open] = *more;
    t->open[t->num_open].begin = time;
    t->open[t->num_open].path = find_path(m, t->num_open ? t->open[t->num_open - 1].path : NULL, name);
    begin_wait(t, &t->open[t->num_open]);
    t->num_open++;
}

void page_end(struct page_model *m, struct page_track *t, uint64_t time)
{
    time = advance(m, t, time);
    if (!t->num_open) {
        t->process->unmatched++;
        return;
    }
    struct page_slice *s = &t->open[--t->num_open];
    struct page_name *name = s->path->name;
    uint64_t ns = time - s->begin;
    if (s->inner && ns > 0)
        keep_interval(m, t, &t->outer, (struct page_interval){s->begin, time, s->path});
    if (name->state == PAGE_PARKED)
        t->parks++;
    end_wait(t, s, time);
    if (name->kind == PAGE_TASK || name->kind == PAGE_REGION) {
        m->parts = page_grow(m->parts, m->num_parts, &m->room_parts, sizeof *m->parts);
        m->parts[m->num_parts++] = (struct page_part){
            s->id, s->begin, time, s->useful, name, (uint32_t)m->num_processes - 1, s->threads, s->resumed};
    }
}

void page_mark(struct page_model *m, struct page_track *t, uint64_t time, struct page_name *name)
{
    widen(t->process, time, time);
    t->in_use = true;
    if (m->num_marks == PAGE_MARKS) {
        m->lost_marks++;
        return;
    }
    t->marks = page_grow(t->marks, t->num_marks, &t->room_marks, sizeof *t->marks);
    t->marks[t->num_marks++] = (struct page_mark){time, name};
    m->num_marks++;
}

static int compare_tracks(const void *a, const void *b)
{
    const struct page_track *x = *(struct page_track *const *)a, *y = *(struct page_track *const *)b;
    int order = (x->rank > y->rank) - (x->rank < y->rank);
    return order ? order : (x->uuid > y->uuid) - (x->uuid < y->uuid);
}

/* Ends the slices that are still open: those of a killed program end with its trace. */
void page_close(struct page_model *m, struct page_process *p)
{
    for (size_t i = 0; i < p->num_tracks; i++)
        while (p->tracks[i]->num_open)
            page_end(m, p->tracks[i], p->last);
    for (size_t i = 0; i < p->lock_waits.capacity; i++)
        free(p->lock_waits.entry[i].value);
    id_table_free(&p->lock_waits);
    if (p->num_tracks)
        qsort(p->tracks, p->num_tracks, sizeof *p->tracks, compare_tracks);
}

static int compare_parts(const void *a, const void *b)
{
    const struct page_part *x = a, *y = b;
    int order = (x->process > y->process) - (x->process < y->process);
    if (order == 0)
        order = (x->id > y->id) - (x->id < y->id);
    return order ? order : (x->begin > y->begin) - (x->begin < y->begin);
}

static void sum_task(struct page_place *place, uint64_t useful)
{
    int slot = useful ? 63 - __builtin_clzll(useful) : 0;
    place->tasks++;
    place->short_tasks += useful < 1000;
    place->task_useful += useful;
    place->sizes[slot < PAGE_SIZES ? slot : PAGE_SIZES - 1]++;
}

static void sum_region(struct page_place *place, uint64_t wall, uint64_t threads, uint64_t vps)
{
    place->regions++;
    place->wall += wall;
    place->threads += threads;
    if (vps && threads > vps)
        threads = vps;
    place->capacity += wall * (threads ? threads : 1);
}

/* Sums tasks and regions by place. The parts of one task or region have the same id; a part without an id counts by
 * itself. */
void page_sum_parts(struct page_model *m)
{
    if (m->num_parts)
        qsort(m->parts, m->num_parts, sizeof *m->parts, compare_parts);
    for (size_t i = 0, j; i < m->num_parts; i = j) {
        struct page_part *first = &m->parts[i];
        uint64_t useful = first->useful, end = first->end;
        for (j = i + 1; j < m->num_parts && first->id && m->parts[j].id == first->id &&
                        m->parts[j].process == first->process && m->parts[j].name->kind == first->name->kind;
             j++) {
            useful += m->parts[j].useful;
            end = m->parts[j].end > end ? m->parts[j].end : end;
        }
        if (first->name->kind == PAGE_TASK)
            sum_task(first->name->place, useful);
        else
            sum_region(first->name->place, end - first->begin, first->threads, m->processes[first->process]->vps);
    }
}
