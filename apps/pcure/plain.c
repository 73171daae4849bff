/* pcure-plain K REPRESENTATIVES SHRINK keep|remove FILE.csv - the definition of cure.h once more, as plainly as it can
 * be written: all pairs' distances in a table, the least looked for anew in each step, one thread. For the tests; small
 * files only, no checks. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, DIM = 64 };

struct set {
    size_t num, size;
    double centre[DIM];
    double (*scattered)[DIM], (*points)[DIM];
};

static size_t n, dim;
static struct set set[MOST];
static double *table; /* squared distance of i > j */
static size_t owner[MOST];

static double distance2(const double *a, const double *b)
{
    double lane[4] = {0};

    for (size_t d = 0; d < dim; d++)
        lane[d % 4] += (a[d] - b[d]) * (a[d] - b[d]);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

static double least_distance2(const struct set *a, const struct set *b)
{
    double least = INFINITY;

    for (size_t p = 0; p < a->num; p++)
        for (size_t q = 0; q < b->num; q++)
            if (distance2(a->points[p], b->points[q]) < least)
                least = distance2(a->points[p], b->points[q]);
    return least;
}

static void read_points(const char *path)
{
    static char line[1 << 16];
    FILE *in = fopen(path, "r");

    if (!in)
        exit(2);
    for (; fgets(line, sizeof line, in); n++) {
        struct set *s = &set[n];
        size_t d = 0;
        for (char *t = strtok(line, ",\n"); t; t = strtok(NULL, ",\n"))
            s->centre[d++] = strtod(t, NULL);
        dim = d;
        s->num = s->size = 1;
        s->scattered = malloc(sizeof *s->scattered);
        s->points = malloc(sizeof *s->points);
        memcpy(s->scattered[0], s->centre, sizeof s->centre);
        memcpy(s->points[0], s->centre, sizeof s->centre);
    }
    fclose(in);
}

static void choose(double (*from)[DIM], size_t num, double (*to)[DIM], size_t wanted, const double *centre)
{
    char taken[2 * MOST] = {0};

    for (size_t p = 0; p < wanted; p++) {
        double greatest = -1;
        size_t best = 0;
        for (size_t q = 0; q < num; q++) {
            double least = p ? INFINITY : distance2(from[q], centre);
            for (size_t r = 0; r < p; r++)
                if (distance2(from[q], to[r]) < least)
                    least = distance2(from[q], to[r]);
            if (!taken[q] && least > greatest) {
                greatest = least;
                best = q;
            }
        }
        taken[best] = 1;
        memcpy(to[p], from[best], sizeof *to);
    }
}

static void merge(size_t low, size_t high, size_t representatives, double shrink)
{
    struct set *a = &set[low], *b = &set[high], m = {.size = a->size + b->size};
    size_t both = a->num + b->num;
    double(*all)[DIM] = malloc(both * sizeof *all);

    m.num = both < representatives ? both : representatives;
    m.scattered = malloc(m.num * sizeof *m.scattered);
    m.points = malloc(m.num * sizeof *m.points);
    for (size_t d = 0; d < dim; d++)
        m.centre[d] = ((double)a->size * a->centre[d] + (double)b->size * b->centre[d]) / (double)m.size;
    memcpy(all, a->scattered, a->num * sizeof *all);
    memcpy(all + a->num, b->scattered, b->num * sizeof *all);
    if (m.num == both)
        memcpy(m.scattered, all, both * sizeof *all);
    else
        choose(all, both, m.scattered, m.num, m.centre);
    for (size_t p = 0; p < m.num; p++)
        for (size_t d = 0; d < dim; d++)
            m.points[p][d] = m.scattered[p][d] + shrink * (m.centre[d] - m.scattered[p][d]);
    free(all);
    *b = m;
    a->num = 0;
    for (size_t i = 0; i < n; i++)
        if (owner[i] == low)
            owner[i] = high;
}

/* Removes sets that are smaller than `least`, unless fewer than k would remain; how many remain. */
static size_t remove_small(size_t clusters, size_t k, double least)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        kept += set[i].num && (double)set[i].size >= least;
    if (kept < k)
        return clusters;
    for (size_t i = 0; i < n; i++)
        if ((double)set[i].size < least)
            set[i].num = 0;
    return kept;
}

static size_t points_left(void)
{
    size_t points = 0;

    for (size_t i = 0; i < n; i++)
        points += set[i].num ? set[i].size : 0;
    return points;
}

/* The set with the representative that is closest to the point, if its own was removed. */
static size_t home(size_t i, double (*point)[DIM])
{
    struct set alone = {.num = 1, .points = point};
    size_t best = owner[i];
    double least = INFINITY;

    if (set[best].num)
        return best;
    for (size_t j = 0; j < n; j++)
        if (set[j].num && least_distance2(&alone, &set[j]) < least) {
            least = least_distance2(&alone, &set[j]);
            best = j;
        }
    return best;
}

int main(int argc, char **argv)
{
    static double point[MOST][1][DIM];

    if (argc != 6)
        return 2;
    size_t k = strtoul(argv[1], NULL, 10), representatives = strtoul(argv[2], NULL, 10);
    double shrink = strtod(argv[3], NULL);

    int phase = strcmp(argv[4], "remove") == 0 ? 0 : 2;

    read_points(argv[5]);
    table = malloc(n * n * sizeof *table);
    for (size_t i = 0; i < n; i++) {
        owner[i] = i;
        memcpy(point[i][0], set[i].centre, sizeof set[i].centre);
        for (size_t j = 0; j < i; j++)
            table[i * n + j] = least_distance2(&set[i], &set[j]);
    }
    for (size_t clusters = n; clusters > k;) {
        if (phase < 2 && clusters <= (phase == 0 ? n / 3 : 3 * k)) {
            double mean = (double)points_left() / (double)clusters;
            clusters = remove_small(clusters, k, phase == 0 ? 3 : mean / 10);
            phase++;
            continue;
        }
        clusters--;
        size_t low = 0, high = 0;
        double least = INFINITY;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                if (set[i].num && set[j].num && table[i * n + j] < least) {
                    least = table[i * n + j];
                    high = i;
                    low = j;
                }
        merge(low, high, representatives, shrink);
        for (size_t i = 0; i < n; i++)
            if (set[i].num && i != high)
                table[i > high ? i * n + high : high * n + i] =
                    least_distance2(&set[i > high ? i : high], &set[i > high ? high : i]);
    }
    size_t label[MOST], next = 0;
    for (size_t i = 0; i < n; i++)
        label[i] = n;
    for (size_t i = 0; i < n; i++) {
        size_t h = home(i, point[i]);
        if (label[h] == n)
            label[h] = next++;
        printf("%zu\n", label[h]);
    }
    return 0;
}
