/* SHOT for one point (shot_parts.h). */
#include "shot_parts.h"

#include "mc.h"

#include <string.h>

static float root(float x) { return __builtin_sqrtf(x); }
static float magnitude(float x) { return x < 0 ? -x : x; }
static float dot(const float *a, const float *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

void shot_surface(struct shot_point *points, unsigned num)
{
    static const float hills[4][4] = {
        {0.3f, 0.3f, 0.25f, 30}, {0.7f, 0.6f, -0.2f, 20}, {0.2f, 0.8f, 0.15f, 50}, {0.8f, 0.1f, 0.2f, 40}};
    uint32_t state = 99;

    for (unsigned i = 0; i < num; i++) {
        float x = (float)(mc_random(&state) >> 8) * 0x1p-24f, y = (float)(mc_random(&state) >> 8) * 0x1p-24f;
        float z = 0, slope_x = 0, slope_y = 0;
        for (unsigned h = 0; h < 4; h++) {
            float dx = x - hills[h][0], dy = y - hills[h][1], f = 1 / (1 + hills[h][3] * (dx * dx + dy * dy));
            z += hills[h][2] * f;
            slope_x -= 2 * hills[h][2] * hills[h][3] * dx * f * f;
            slope_y -= 2 * hills[h][2] * hills[h][3] * dy * f * f;
        }
        float length = root(slope_x * slope_x + slope_y * slope_y + 1);
        points[i] = (struct shot_point){{x, y, z, 0}, {-slope_x / length, -slope_y / length, 1 / length, 0}};
    }
}

/* m: xx, yy, zz, xy, xz, yz; vectors: columns. Jacobi's rotations, six rounds (1846). */
static void eigenvectors(float m[6], float v[3][3])
{
    static const unsigned char pairs[3][4] = {{0, 1, 3, 2}, {0, 2, 4, 1}, {1, 2, 5, 0}};
    float a[3][3] = {{m[0], m[3], m[4]}, {m[3], m[1], m[5]}, {m[4], m[5], m[2]}};

    memset(v, 0, sizeof(float[3][3]));
    v[0][0] = v[1][1] = v[2][2] = 1;
    for (unsigned turn = 0; turn < 18; turn++) {
        unsigned p = pairs[turn % 3][0], q = pairs[turn % 3][1], r = pairs[turn % 3][3];
        if (a[p][q] == 0)
            continue;
        float theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        float t = (theta < 0 ? -1.0f : 1.0f) / (magnitude(theta) + root(theta * theta + 1));
        float c = 1 / root(t * t + 1), s = t * c, apq = a[p][q], arp = a[r][p], arq = a[r][q];
        a[p][p] -= t * apq;
        a[q][q] += t * apq;
        a[p][q] = a[q][p] = 0;
        a[r][p] = a[p][r] = c * arp - s * arq;
        a[r][q] = a[q][r] = s * arp + c * arq;
        for (unsigned k = 0; k < 3; k++) {
            float vp = v[k][p], vq = v[k][q];
            v[k][p] = c * vp - s * vq;
            v[k][q] = s * vp + c * vq;
        }
    }
    m[0] = a[0][0];
    m[1] = a[1][1];
    m[2] = a[2][2];
}

/* From the key to a point; the squared distance. */
static float way(const struct shot_point *points, unsigned key, unsigned i, float *to)
{
    for (unsigned k = 0; k < 3; k++)
        to[k] = points[i].at[k] - points[key].at[k];
    return dot(to, to);
}

/* Turns the axis to where more of the points lie; where as many lie on both sides, its largest part is positive. */
static void turn(const struct shot_point *points, unsigned num, unsigned key, float radius, float *axis)
{
    int surplus = 0;
    float to[3];

    for (unsigned i = 0; i < num; i++)
        if (way(points, key, i, to) <= radius * radius)
            surplus += (dot(to, axis) > 0) - (dot(to, axis) < 0);
    if (surplus == 0) {
        unsigned largest = magnitude(axis[1]) > magnitude(axis[0]);
        largest = magnitude(axis[2]) > magnitude(axis[largest]) ? 2 : largest;
        surplus = axis[largest] < 0 ? -1 : 1;
    }
    for (unsigned k = 0; surplus < 0 && k < 3; k++)
        axis[k] = -axis[k];
}

void shot_frame(const struct shot_point *points, unsigned num, unsigned key, float radius, float *frame)
{
    float m[6] = {0}, weights = 0, v[3][3], to[3];
    unsigned most = 0, least = 0;

    for (unsigned i = 0; i < num; i++) {
        float squares = way(points, key, i, to);
        if (squares > radius * radius)
            continue;
        float weight = radius - root(squares);
        weights += weight;
        m[0] += weight * to[0] * to[0];
        m[1] += weight * to[1] * to[1];
        m[2] += weight * to[2] * to[2];
        m[3] += weight * to[0] * to[1];
        m[4] += weight * to[0] * to[2];
        m[5] += weight * to[1] * to[2];
    }
    for (unsigned k = 0; k < 6; k++)
        m[k] /= weights; /* the key itself is in: more than 0 */
    eigenvectors(m, v);
    for (unsigned k = 1; k < 3; k++) {
        most = m[k] > m[most] ? k : most;
        least = m[k] <= m[least] ? k : least;
    }
    for (unsigned k = 0; k < 3; k++) {
        frame[k] = v[k][most];
        frame[6 + k] = v[k][least];
    }
    turn(points, num, key, radius, frame);
    turn(points, num, key, radius, frame + 6);
    frame[3] = frame[7] * frame[2] - frame[8] * frame[1];
    frame[4] = frame[8] * frame[0] - frame[6] * frame[2];
    frame[5] = frame[6] * frame[1] - frame[7] * frame[0];
    frame[9] = frame[10] = frame[11] = 0;
}

/* The angle of (x, y) in eighths of a turn, from 0 on; within 2e-5 (a polynomial in the smaller over the larger). */
static float eighths(float x, float y)
{
    float ax = magnitude(x), ay = magnitude(y), larger = ax > ay ? ax : ay, smaller = ax > ay ? ay : ax;

    if (larger == 0)
        return 0;
    float q = smaller / larger, s = q * q;
    float angle = ((((-0.0117212f * s + 0.05265332f) * s - 0.11643287f) * s + 0.19354346f) * s - 0.33262347f) * s;
    angle = (angle + 0.99997726f) * q * 1.2732395f;
    angle = ay > ax ? 2 - angle : angle;
    angle = x < 0 ? 4 - angle : angle;
    return y < 0 ? 8 - angle : angle;
}

/* The two bins, of `bins` with centres at 0.5, 1.5 ..., that share a position, and the second one's part. */
struct pair {
    unsigned bin[2];
    float part[2];
};

static struct pair between(float position, unsigned bins, bool round)
{
    float from = position - 0.5f;
    struct pair p = {{0, 0}, {1, 0}};

    if (round && from < 0)
        from += (float)bins;
    if (from < 0)
        return p;
    unsigned low = mc_least((unsigned)from, bins - 1);
    p.bin[0] = p.bin[1] = low;
    p.part[1] = from - (float)low;
    if (low + 1 < bins)
        p.bin[1] = low + 1;
    else if (round)
        p.bin[1] = 0;
    else
        p.part[1] = 0;
    p.part[0] = 1 - p.part[1];
    return p;
}

static void add(float *histogram, const struct pair *p)
{
    for (unsigned choice = 0; choice < 16; choice++) {
        unsigned a = choice & 1, e = choice >> 1 & 1, d = choice >> 2 & 1, c = choice >> 3;
        float weight = p[0].part[a] * p[1].part[e] * p[2].part[d] * p[3].part[c];
        if (weight != 0)
            histogram[((p[0].bin[a] * 2 + p[1].bin[e]) * 2 + p[2].bin[d]) * SHOT_COSINE + p[3].bin[c]] += weight;
    }
}

void shot_histogram(const struct shot_point *points, unsigned num, unsigned key, float radius, const float *frame,
                    float *histogram)
{
    float to[3], sum = 0;

    memset(histogram, 0, SHOT_BINS * sizeof *histogram);
    for (unsigned i = 0; i < num; i++) {
        float squares = way(points, key, i, to);
        if (squares > radius * radius || squares == 0)
            continue;
        float distance = root(squares), cosine = dot(points[i].normal, frame + 6);
        cosine = cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
        struct pair p[4] = {between(eighths(dot(to, frame), dot(to, frame + 3)), SHOT_AZIMUTH, true),
                            between(dot(to, frame + 6) / distance + 1, SHOT_ELEVATION, false),
                            between(distance / radius * 2, SHOT_DISTANCE, false),
                            between((cosine + 1) * (0.5f * (SHOT_COSINE - 1)) + 0.5f, SHOT_COSINE, false)};
        add(histogram, p);
    }
    for (unsigned b = 0; b < SHOT_BINS; b++)
        sum += histogram[b] * histogram[b];
    float length = root(sum);
    for (unsigned b = 0; length > 0 && b < SHOT_BINS; b++)
        histogram[b] /= length;
}
