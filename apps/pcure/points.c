/* Points from CSV and .npy files (points.h). */
#include "points.h"
#include "program.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool wrong(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(const char *path, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "%s: %s", PROGRAM_NAME, path);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return false;
}

static bool no_memory(const char *path, size_t values) { return wrong(path, ": no memory for %zu numbers", values); }

/* What is wrong with a number, NULL: nothing. Squares of distances must not overflow. */
static const char *wrong_with(double value)
{
    if (!isfinite(value))
        return "is not finite; every number must be";
    return fabs(value) > 1e150 ? "is beyond 1e150; distances could not be squared" : NULL;
}

/* CSV */

/* One number of a line; *text moves behind it and its comma. */
static bool csv_number(const char *path, size_t line, size_t field, char **text, double *value)
{
    char *begin = *text + strspn(*text, " \t"), *end;
    size_t length = strcspn(begin, ",");

    *value = strtod(begin, &end);
    size_t rest = strspn(end, " \t");
    if (end == begin || (end[rest] && end[rest] != ',')) {
        while (length && strchr(" \t", begin[length - 1]))
            length--;
        return wrong(path, ":%zu: field %zu, '%.*s', is not a number", line, field, (int)(length > 40 ? 40 : length),
                     begin);
    }
    if (wrong_with(*value))
        return wrong(path, ":%zu: field %zu %s", line, field, wrong_with(*value));
    *text = end + rest;
    return true;
}

/* Whether the first line names the columns; *index: an index without a name stands before them. Names are no numbers,
 * but behind an index they may be 0, 1, 2 ..., as pandas names the columns of an array. */
static bool csv_header(const char *text, bool *index)
{
    const char *field = text + strspn(text, " \t");
    unsigned column = 0;

    *index = *field == ',' || strncmp(field, "\"\",", 3) == 0;
    for (field = *index ? strchr(field, ',') : field; field; field = strchr(field, ','), column++) {
        char *end;
        field += *field == ',';
        double number = strtod(field, &end);
        bool is_number = end != field && strchr(",", end[strspn(end, " \t")]);
        if (is_number && !(*index && number == column))
            return *index = false;
    }
    return true;
}

/* What has been read since rows were handed over: p->x begins there. */
struct held {
    const struct points_take *take; /* NULL: all is kept */
    size_t given;                   /* rows */
};

static size_t rows_at_once(const struct points_take *take, size_t dim)
{
    size_t rows = take->numbers / dim / take->multiple * take->multiple;
    return rows ? rows : take->multiple;
}

/* Hands over what is held, where there is enough of it or at the end. */
static bool hand_over(struct held *held, const struct points *p, bool end)
{
    size_t rows = p->num - held->given;

    if (!held->take || rows == 0 || (!end && rows < rows_at_once(held->take, p->dim)))
        return true;
    held->given = p->num;
    return held->take->take(held->take->arg, p->x, rows, p->dim);
}

/* Appends one line's numbers, without the first field where that is an index. The first line decides the dimension. */
static bool csv_line(const char *path, size_t line, bool index, char *text, struct points *p, size_t *capacity,
                     struct held *held)
{
    size_t field = 0;

    if (index && !(text = strchr(text, ',')))
        return wrong(path, ":%zu: an index and no number", line);
    text += index;
    for (bool more = true; more; field++) {
        size_t at = (p->num - held->given) * p->dim + field;
        if (at == *capacity) {
            size_t grown = *capacity ? *capacity * 2 : 1024;
            double *x = realloc(p->x, grown * sizeof *x);
            if (!x)
                return no_memory(path, grown);
            p->x = x;
            *capacity = grown;
        }
        if (!csv_number(path, line, field + index + 1, &text, &p->x[at]))
            return false;
        more = *text == ',';
        text += more;
        if (p->num && field == p->dim)
            return wrong(path, ":%zu: more than the %zu numbers of the lines before", line, p->dim);
    }
    if (p->num && field < p->dim)
        return wrong(path, ":%zu: %zu numbers, the lines before have %zu", line, field, p->dim);
    p->dim = field;
    p->num++;
    return hand_over(held, p, false);
}

static bool read_csv(const char *path, FILE *in, struct points *p, const struct points_take *take)
{
    struct held held = {take, 0};
    char *text = NULL;
    size_t room = 0, capacity = 0;
    ssize_t length;
    bool fine = true, first = true, index = false;

    for (size_t line = 1; fine && (length = getline(&text, &room, in)) != -1; line++) {
        while (length && (text[length - 1] == '\r' || text[length - 1] == '\n'))
            text[--length] = '\0';
        if (line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0) /* spreadsheets' mark for UTF-8 */
            memmove(text, text + 3, (size_t)(length -= 3) + 1);
        if (strlen(text) != (size_t)length)
            fine = wrong(path, ":%zu: a byte of value 0; this is neither CSV nor .npy", line);
        else if (text[0] != '#' && text[strspn(text, " \t")] && !(first && csv_header(text, &index)))
            fine = csv_line(path, line, index, text, p, &capacity, &held);
        first = first && (text[0] == '#' || !text[strspn(text, " \t")]);
    }
    if (fine && ferror(in))
        fine = wrong(path, ": %s", strerror(errno));
    free(text);
    return fine && hand_over(&held, p, true);
}

/* .npy */

enum { NPY_MAGIC = 6, NPY_LONGEST = 1 << 20 };
static const char npy_magic[NPY_MAGIC] = "\x93NUMPY";

/* The text behind 'key': in the header's dictionary, NULL where there is none. */
static const char *npy_key(const char *header, const char *key)
{
    const char *at = strstr(header, key);

    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, " ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

struct npy {
    bool fortran, swapped;
    char kind;      /* f: floating point, i: signed, u: unsigned */
    unsigned width; /* bytes of a number: 1, 2, 4 or 8 */
};

static bool npy_shape(const char *path, const char *text, struct points *p)
{
    uint64_t axes[2] = {0, 0};
    unsigned num = 0;
    char *end;

    if (*text++ != '(')
        return wrong(path, ": the header's shape cannot be read");
    for (; text += strspn(text, " ,"), *text != ')'; text = end, num++) {
        errno = 0;
        uint64_t axis = strtoull(text, &end, 10);
        if (end == text || errno)
            return wrong(path, ": the header's shape cannot be read");
        if (num < 2)
            axes[num] = axis;
    }
    if (num != 2)
        return wrong(path, ": an array of %u axes; expected 2 (points, dimension)", num);
    if (axes[0] && axes[1] > SIZE_MAX / 8 / axes[0])
        return wrong(path, ": a shape of %" PRIu64 " x %" PRIu64 " does not fit in memory", axes[0], axes[1]);
    p->num = axes[0];
    p->dim = axes[1];
    return true;
}

static bool npy_header(const char *path, FILE *in, struct npy *npy, struct points *p)
{
    unsigned char start[NPY_MAGIC + 6];
    size_t want = NPY_MAGIC + 4, length;

    if (fread(start, 1, want, in) != want)
        return wrong(path, ": the .npy header is cut off");
    if (start[6] < 1 || start[6] > 3)
        return wrong(path, ": .npy of version %d; versions 1 to 3 are known", start[6]);
    length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        if (fread(start + want, 1, 2, in) != 2)
            return wrong(path, ": the .npy header is cut off");
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (length > NPY_LONGEST)
        return wrong(path, ": a .npy header of %zu bytes; this is no plain array", length);
    char *header = malloc(length + 1);
    if (!header)
        return no_memory(path, length);
    bool fine = fread(header, 1, length, in) == length;
    if (!fine) {
        wrong(path, ": the .npy header is cut off");
    } else {
        header[length] = '\0';
        const char *type = npy_key(header, "'descr'"), *order = npy_key(header, "'fortran_order'"),
                   *shape = npy_key(header, "'shape'");
        uint16_t probe = 1;
        bool little = *(unsigned char *)&probe;
        if (!type || !order || !shape) {
            fine = wrong(path, ": the .npy header lacks descr, fortran_order or shape");
        } else if (strlen(type) < 5 || type[0] != '\'' || !strchr("<>=|", type[1]) || !strchr("fiu", type[2]) ||
                   !strchr(type[2] == 'f' ? "48" : "1248", type[3]) || type[4] != '\'') {
            int shown = (int)strcspn(type, ",}");
            fine = wrong(path, ": numbers of type %.*s; expected integers, float32 or float64", shown > 60 ? 60 : shown,
                         type);
        } else {
            npy->kind = type[2];
            npy->width = (unsigned)(type[3] - '0');
            npy->swapped = type[1] == (little ? '>' : '<');
            npy->fortran = strncmp(order, "True", 4) == 0;
            fine = npy_shape(path, shape, p);
        }
    }
    free(header);
    return fine;
}

/* One number of the file's bytes. */
static double npy_number(const unsigned char *bytes, const struct npy *npy)
{
    union {
        unsigned char bytes[8];
        double f8;
        float f4;
        int64_t i8;
        int32_t i4;
        int16_t i2;
        int8_t i1;
        uint64_t u8;
        uint32_t u4;
        uint16_t u2;
        uint8_t u1;
    } n;

    for (unsigned b = 0; b < npy->width; b++)
        n.bytes[b] = bytes[npy->swapped ? npy->width - 1 - b : b];
    switch (npy->width) {
    case 1:
        return npy->kind == 'i' ? n.i1 : n.u1;
    case 2:
        return npy->kind == 'i' ? n.i2 : n.u2;
    case 4:
        return npy->kind == 'f' ? (double)n.f4 : npy->kind == 'i' ? (double)n.i4 : (double)n.u4;
    default:
        return npy->kind == 'f' ? n.f8 : npy->kind == 'i' ? (double)n.i8 : (double)n.u8;
    }
}

/* Some rows, or a part of some columns: values that stand one behind the other in the file. */
struct span {
    size_t values;
    size_t row, column; /* of the first one */
    size_t rows;        /* Fortran order: how many belong to each column; p->x has those from first on */
    size_t first;       /* the row that p->x begins with */
};

/* Reads the values from where the file stands. */
static bool npy_piece(const char *path, FILE *in, const struct npy *npy, const struct points *p, struct span s)
{
    unsigned char piece[1 << 16];

    for (size_t done = 0; done < s.values;) {
        size_t num = sizeof piece / npy->width < s.values - done ? sizeof piece / npy->width : s.values - done;
        if (fread(piece, npy->width, num, in) != num)
            return wrong(path, ": the file is cut off after %zu of %zu numbers", s.row * p->dim + done,
                         p->num * p->dim);
        for (size_t i = 0; i < num; i++, done++) {
            size_t row = s.row + (npy->fortran ? done % s.rows : done / p->dim);
            size_t column = s.column + (npy->fortran ? done / s.rows : done % p->dim);
            double value = npy_number(piece + i * npy->width, npy);
            if (wrong_with(value))
                return wrong(path, ": row %zu, column %zu %s", row + 1, column + 1, wrong_with(value));
            p->x[(row - s.first) * p->dim + column] = value;
        }
    }
    return true;
}

/* Reads and hands over some rows at a time; p->x is their room. */
static bool stream_npy(const char *path, FILE *in, const struct npy *npy, struct points *p,
                       const struct points_take *take)
{
    size_t most = rows_at_once(take, p->dim) < p->num ? rows_at_once(take, p->dim) : p->num;
    off_t begin = ftello(in);

    p->x = malloc(most * p->dim * sizeof *p->x);
    if (!p->x)
        return no_memory(path, most * p->dim);
    for (size_t row = 0, rows; row < p->num; row += rows) {
        rows = most < p->num - row ? most : p->num - row;
        struct span s = {.values = npy->fortran ? rows : rows * p->dim, .row = row, .rows = rows, .first = row};
        for (; s.column < (npy->fortran ? p->dim : 1); s.column++) {
            if (npy->fortran && fseeko(in, begin + (off_t)((s.column * p->num + row) * npy->width), SEEK_SET))
                return wrong(path, ": numbers in Fortran order: %s", strerror(errno));
            if (!npy_piece(path, in, npy, p, s))
                return false;
        }
        if (!take->take(take->arg, p->x, rows, p->dim))
            return false;
    }
    return true;
}

static bool read_npy(const char *path, FILE *in, struct points *p, const struct points_take *take)
{
    struct npy npy = {0};
    struct stat file;

    if (!npy_header(path, in, &npy, p))
        return false;
    size_t values = p->num * p->dim, promised = values * npy.width;
    off_t at = ftello(in);
    if (fstat(fileno(in), &file) == 0 && S_ISREG(file.st_mode) && at >= 0 &&
        (uint64_t)(file.st_size - at) < (uint64_t)promised)
        return wrong(path, ": %" PRIu64 " bytes of numbers, the header promises %zu (%zu x %zu): the file is cut off",
                     (uint64_t)(file.st_size - at), promised, p->num, p->dim);
    if (!values)
        return true; /* the caller says what is wrong with none */
    if (take)
        return stream_npy(path, in, &npy, p, take);
    p->x = malloc(values * sizeof *p->x);
    if (!p->x)
        return no_memory(path, values);
    return npy_piece(path, in, &npy, p, (struct span){.values = values, .rows = p->num});
}

static bool read_file(const char *path, struct points *p, const struct points_take *take)
{
    *p = (struct points){0};
    FILE *in = fopen(path, "rb");
    if (!in)
        return wrong(path, ": %s", strerror(errno));
    struct stat file;
    if (fstat(fileno(in), &file) == 0 && S_ISDIR(file.st_mode)) {
        fclose(in);
        return wrong(path, ": a folder; expected a CSV or .npy file");
    }
    int first = getc(in);
    if (first != EOF)
        ungetc(first, in);
    bool fine = first == (unsigned char)npy_magic[0] ? read_npy(path, in, p, take) : read_csv(path, in, p, take);
    fclose(in);
    if (fine && (p->num == 0 || p->dim == 0))
        fine = wrong(path, ": no points in it; expected at least one");
    if (!fine || take) {
        free(p->x);
        p->x = NULL;
    }
    return fine;
}

bool points_read(const char *path, struct points *p) { return read_file(path, p, NULL); }

bool points_stream(const char *path, const struct points_take *take, struct points *p)
{
    return read_file(path, p, take);
}
