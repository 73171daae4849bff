/* Writes a page: its files, with the model as JSON between them. Times are in ns since the process's first event. An
 * interval is three numbers: the distance from the previous end, its length, its path. A bin is one letter for each
 * state: its share in 63rds. Only names and paths that are used are written. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "output.h"

#define LOCKS_SHOWN 200
#define CELLS_SHOWN 4000000 /* letters of bins in a page; for more, bins are joined */

extern const char page_html[], page_html_end[], page_css[], page_css_end[], page_chart_js[], page_chart_js_end[];
extern const char page_states_js[], page_states_js_end[], page_timeline_js[], page_timeline_js_end[];
extern const char page_tables_js[], page_tables_js_end[];

static void put_text_or_null(FILE *out, const char *text)
{
    if (text)
        output_json_text(out, text);
    else
        fputs("null", out);
}

static void put_numbers(FILE *out, const char *key, const uint64_t *numbers, size_t num)
{
    fprintf(out, "\"%s\":[", key);
    for (size_t i = 0; i < num; i++)
        fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)numbers[i]);
    fputs("]", out);
}

static void show_path(struct page_path *path, struct page_path **shown, uint32_t *num)
{
    if (!path || path->shown != PAGE_NONE)
        return;
    show_path(path->parent, shown, num); /* the parent comes first: so its number is smaller */
    path->shown = (*num)++;
    shown[path->shown] = path;
}

static void show_name(struct page_name *name, struct page_name **shown, uint32_t *num)
{
    if (name->shown != PAGE_NONE)
        return;
    name->shown = (*num)++;
    shown[name->shown] = name;
}

/* Numbers the names and paths that intervals and marks use, and writes the tables of them. */
static void put_names(struct page_model *m, FILE *out)
{
    size_t most = 0;
    uint32_t num_paths = 0, num_names = 0;
    struct page_name **names = memory_new((m->num_names + 1), sizeof *names);
    struct page_path **paths = NULL;
    for (int pass = 0; pass < 2; pass++) { /* the first pass only counts how many paths there are at most */
        for (size_t i = 0; i < m->num_processes; i++)
            for (size_t j = 0; j < m->processes[i]->num_tracks; j++) {
                struct page_track *t = m->processes[i]->tracks[j];
                const struct page_list *const lists[] = {&t->leaves, &t->outer};
                for (int k = 0; k < 2; k++)
                    for (size_t n = 0; n < lists[k]->num; n++) {
                        struct page_path *path = lists[k]->at[n].path;
                        if (pass == 1)
                            show_path(path, paths, &num_paths);
                        for (; pass == 0 && path; path = path->parent)
                            most++;
                    }
                for (size_t n = 0; pass == 1 && n < t->num_marks; n++)
                    show_name(t->marks[n].name, names, &num_names);
            }
        if (pass == 0)
            paths = memory_new((most + 1), sizeof *paths);
    }
    fputs("\"paths\":[", out);
    for (uint32_t i = 0; i < num_paths; i++) {
        show_name(paths[i]->name, names, &num_names);
        fprintf(out, "%s%d,%u", i ? "," : "", paths[i]->parent ? (int)paths[i]->parent->shown : -1,
                paths[i]->name->shown);
    }
    fputs("],\n\"names\":[", out);
    for (uint32_t i = 0; i < num_names; i++) {
        fputs(i ? ",[" : "[", out);
        output_json_text(out, names[i]->text);
        fprintf(out, ",%d,%d]", names[i]->state, names[i]->place ? (int)names[i]->place->index : -1);
    }
    fputs("],\n", out);
    free(names);
    free(paths);
}

static void put_places(struct page_model *m, FILE *out)
{
    fputs("\"places\":[", out);
    for (size_t i = 0; i < m->num_places; i++) {
        const struct page_place *p = m->places[i];
        fprintf(out, "%s\n{\"label\":", i ? "," : "");
        output_json_text(out, p->label);
        fputs(",\"file\":", out);
        put_text_or_null(out, p->file);
        fputs(",\"function\":", out);
        put_text_or_null(out, p->function && *p->function ? p->function : NULL);
        if (p->regions) {
            fprintf(out, ",\"regions\":%llu,\"wall\":%llu,\"threads\":%llu,\"capacity\":%llu,",
                    (unsigned long long)p->regions, (unsigned long long)p->wall, (unsigned long long)p->threads,
                    (unsigned long long)p->capacity);
            put_numbers(out, "states", p->region_state, PAGE_STATES);
        }
        if (p->tasks) {
            fprintf(out, ",\"tasks\":%llu,\"short\":%llu,\"useful\":%llu,", (unsigned long long)p->tasks,
                    (unsigned long long)p->short_tasks, (unsigned long long)p->task_useful);
            put_numbers(out, "sizes", p->sizes, PAGE_SIZES);
        }
        fputs("}", out);
    }
    fputs("],\n", out);
}

static int compare_locks(const void *a, const void *b)
{
    const struct page_name *x = *(struct page_name *const *)a, *y = *(struct page_name *const *)b;
    int order = (x->wait_ns < y->wait_ns) - (x->wait_ns > y->wait_ns);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static void put_locks(struct page_model *m, FILE *out)
{
    size_t num = 0;
    struct page_name **locks = memory_new((m->num_names + 1), sizeof *locks);
    for (size_t i = 0; i < m->num_names; i++)
        if (m->names[i]->state == PAGE_LOCKS && m->names[i]->waits)
            locks[num++] = m->names[i];
    qsort(locks, num, sizeof *locks, compare_locks);
    fprintf(out, "\"num_locks\":%zu,\"locks\":[", num);
    for (size_t i = 0; i < num && i < LOCKS_SHOWN; i++) {
        fputs(i ? ",{\"name\":" : "{\"name\":", out);
        output_json_text(out, locks[i]->text);
        fprintf(out, ",\"region\":%d,\"elsewhere\":%s,\"waits\":%llu,\"ns\":%llu,\"longest\":%llu}",
                locks[i]->region ? (int)locks[i]->region->index : -1, locks[i]->elsewhere ? "true" : "false",
                (unsigned long long)locks[i]->waits, (unsigned long long)locks[i]->wait_ns,
                (unsigned long long)locks[i]->longest);
    }
    fputs("],\n", out);
    free(locks);
}

/* Writes a list of intervals. from: the time of the process's first event. */
static void put_list(FILE *out, const char *key, const struct page_list *list, uint64_t from)
{
    uint64_t last = from;
    fprintf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < list->num; i++) {
        const struct page_interval *at = &list->at[i];
        /* Outer slices are in the order of their ends. So a slice may begin before the previous end, and the first
         * number may be negative. */
        fprintf(out, "%s%lld,%llu,%u", i ? "," : "", (long long)(at->begin - last),
                (unsigned long long)(at->end - at->begin), at->path->shown);
        last = at->end;
    }
    fputs("]", out);
}

/* Writes the bins of a track, each `join` of them as one. */
static void put_bins(FILE *out, const struct page_track *t, unsigned join, uint64_t num)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    double width = (double)join * (UINT64_C(1) << t->process->shift);
    fputs(",\"bins\":\"", out);
    for (uint64_t i = 0; i < num && t->bins; i += join)
        for (int s = 0; s < PAGE_STATES; s++) {
            uint64_t sum = 0;
            for (uint64_t j = i; j < i + join && j < PAGE_BINS; j++)
                sum += t->bins[j][s];
            double share = 63 * sum / width; /* a share that is not 0 gets at least 1, so that it is visible */
            putc(letters[sum && share < 1 ? 1 : share > 63 ? 63 : (int)(share + 0.5)], out);
        }
    fputs("\"", out);
}

static void put_track(FILE *out, const struct page_track *t, unsigned join, uint64_t bins)
{
    const struct page_process *p = t->process;
    fputs("{\"name\":", out);
    output_json_text(out, t->name ? t->name : "track");
    fprintf(out, ",\"steals\":%llu,\"parks\":%llu,\"stalls\":%llu,\"dropped\":%llu,", (unsigned long long)t->steals,
            (unsigned long long)t->parks, (unsigned long long)t->stalls, (unsigned long long)t->dropped);
    put_numbers(out, "states", t->state, PAGE_STATES);
    put_bins(out, t, join, bins);
    put_list(out, "leaves", &t->leaves, p->first);
    put_list(out, "outer", &t->outer, p->first);
    fputs(",\"marks\":[", out);
    for (size_t i = 0; i < t->num_marks; i++)
        fprintf(out, "%s%llu,%u", i ? "," : "", (unsigned long long)(t->marks[i].time - p->first),
                t->marks[i].name->shown);
    fputs("]}", out);
}

/* Writes the processes. If there are several and all have the end of MPI_Init, their times count from there. Otherwise
 * all times are taken as those of one machine's clock. */
static void put_processes(struct page_model *m, FILE *out)
{
    uint64_t rows = 0;
    bool ranks = m->num_processes > 1;
    for (size_t i = 0; i < m->num_processes; i++) {
        ranks = ranks && m->processes[i]->mpi_init_ns > 0;
        rows += m->processes[i]->num_tracks;
    }
    unsigned join = 1;
    while (rows * PAGE_BINS * PAGE_STATES / join > CELLS_SHOWN && join < PAGE_BINS)
        join *= 2;
    fprintf(out, "\"joined_by_mpi\":%s,\"processes\":[", ranks ? "true" : "false");
    for (size_t i = 0; i < m->num_processes; i++) {
        const struct page_process *p = m->processes[i];
        bool any = p->first != UINT64_MAX;
        uint64_t width = UINT64_C(1) << p->shift, bins = any ? (p->last >> p->shift) - p->bin_base + 1 : 0;
        fprintf(out, "%s\n{\"file\":", i ? "," : "");
        output_json_text(out, p->file);
        fputs(",\"name\":", out);
        put_text_or_null(out, p->name);
        fputs(",\"command\":", out);
        put_text_or_null(out, p->command);
        fputs(",\"version\":", out);
        put_text_or_null(out, p->version);
        fprintf(out,
                ",\"pid\":%lld,\"rank\":%lld,\"wall\":%llu,\"events\":%llu,\"lost\":%llu,\"processors\":%llu,"
                "\"vps\":%llu,\"from\":%lld,\"length\":%llu,\"bin\":%llu,\"bins_from\":%lld,\"tracks\":[",
                (long long)p->pid, (long long)p->rank, (unsigned long long)p->wall_ns, (unsigned long long)p->events,
                (unsigned long long)p->lost, (unsigned long long)p->processors, (unsigned long long)p->vps,
                any ? (long long)(p->first - (ranks ? p->mpi_init_ns : 0)) : 0,
                any ? (unsigned long long)(p->last - p->first) : 0, (unsigned long long)width * join,
                any ? (long long)((p->bin_base << p->shift) - p->first) : 0);
        bool before = false;
        for (size_t j = 0; j < p->num_tracks; j++) {
            if (!p->tracks[j]->in_use || p->tracks[j]->is_process)
                continue;
            fputs(before ? ",\n" : "\n", out);
            put_track(out, p->tracks[j], join, bins);
            before = true;
        }
        fputs("]}", out);
    }
    fputs("],\n", out);
}

static void put_data(struct page_model *m, FILE *out)
{
    fputs("{", out);
    put_names(m, out);
    put_places(m, out);
    put_locks(m, out);
    put_processes(m, out);
    fprintf(out, "\"shortest\":%llu,\"lost_marks\":%llu,", (unsigned long long)m->shortest,
            (unsigned long long)m->lost_marks);
    put_numbers(out, "distances", m->distances, PAGE_DISTANCES);
    fputs("}", out);
}

/* Writes the page. page.html has marks such as @css@, each on a line of its own, which are replaced. */
void page_write(struct page_model *m, FILE *out)
{
    static const struct {
        const char *mark, *begin, *end; /* begin NULL: the data */
    } parts[] = {{"@css@\n", page_css, page_css_end},
                 {"@data@\n", NULL, NULL},
                 {"@chart@\n", page_chart_js, page_chart_js_end},
                 {"@states@\n", page_states_js, page_states_js_end},
                 {"@timeline@\n", page_timeline_js, page_timeline_js_end},
                 {"@tables@\n", page_tables_js, page_tables_js_end}};
    const char *at = page_html;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const char *mark = memmem(at, page_html_end - at, parts[i].mark, strlen(parts[i].mark));
        fwrite(at, 1, mark - at, out);
        if (parts[i].begin)
            fwrite(parts[i].begin, 1, parts[i].end - parts[i].begin, out);
        else
            put_data(m, out);
        at = mark + strlen(parts[i].mark);
    }
    fwrite(at, 1, page_html_end - at, out);
}
