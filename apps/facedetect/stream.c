/* See stream.h. */
#include "stream.h"
#include "program.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, JPEG_BYTES_MAX = 1 << 28, RATE_MAX = 1000000 };

static bool complain(const struct stream *s, const char *what)
{
    if (s->frame)
        fprintf(stderr, "%s: %s: frame %lu: %s\n", PROGRAM_NAME, s->name, s->frame, what);
    else
        fprintf(stderr, "%s: %s: %s\n", PROGRAM_NAME, s->name, what);
    return false;
}

/* A line without its end; false: none ends within reason. */
static bool read_line(struct stream *s, char *line)
{
    size_t used = 0;
    int c;
    while ((c = getc(s->file)) != EOF && c != '\n') {
        if (c == 0 || used == LINE_MAX_BYTES - 1)
            return false;
        line[used++] = (char)c;
    }
    line[used] = 0;
    return c == '\n';
}

static bool room_for(struct stream *s, size_t size)
{
    if (size <= s->room)
        return true;
    size_t room = size < 1 << 16 ? 1 << 16 : size + size / 2;
    unsigned char *data = realloc(s->data, room);
    if (!data)
        return complain(s, "no memory for the frame");
    s->data = data;
    s->room = room;
    return true;
}

/* A size from 1 on; 0: that is none. */
static int read_size(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    return *end || end == text || value < 1 || value > IMAGE_SIDE_MAX ? 0 : (int)value;
}

/* How a frame's other planes are laid out; false: not known. */
static bool read_colour(struct stream *s, const char *text)
{
    size_t width = (size_t)s->width, height = (size_t)s->height, half = (width + 1) / 2;
    if (!strcmp(text, "420") || !strcmp(text, "420jpeg") || !strcmp(text, "420mpeg2") || !strcmp(text, "420paldv"))
        s->chroma = 2 * half * ((height + 1) / 2);
    else if (!strcmp(text, "422"))
        s->chroma = 2 * half * height;
    else if (!strcmp(text, "411"))
        s->chroma = 2 * ((width + 3) / 4) * height;
    else if (!strcmp(text, "444"))
        s->chroma = 2 * width * height;
    else if (!strcmp(text, "444alpha"))
        s->chroma = 3 * width * height;
    else if (!strcmp(text, "mono"))
        s->chroma = 0;
    else
        return false;
    return true;
}

static bool open_y4m(struct stream *s)
{
    char line[LINE_MAX_BYTES] = "", *rest = NULL;
    const char *colour = "420";
    if (!read_line(s, line) || strncmp(line, "UV4MPEG2 ", 9) != 0)
        return complain(s, "the header of a Y4M stream is expected (YUV4MPEG2 W... H... F...)");
    for (char *word = strtok_r(line + 9, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (*word == 'W')
            s->width = read_size(word + 1);
        else if (*word == 'H')
            s->height = read_size(word + 1);
        else if (*word == 'C')
            colour = word + 1;
        else if (!strcmp(word, "XCOLORRANGE=FULL"))
            s->full = true;
        else if (*word == 'F') {
            char *end;
            double above = strtod(word + 1, &end), below = *end == ':' ? strtod(end + 1, &end) : 0;
            if (above > 0 && below > 0 && above / below <= RATE_MAX)
                s->rate = above / below; /* else it says none */
        }
    }
    if (!s->width || !s->height || (long)s->width * s->height > IMAGE_PIXELS_MAX)
        return complain(s, "the Y4M header's width (W...) and height (H...) give no image that can be read");
    s->luma = (size_t)s->width * (size_t)s->height;
    if (!read_colour(s, colour)) {
        for (char *c = line; c < line + sizeof line; c++) /* a terminal is to survive the message */
            *c = (char)(*c && !isprint((unsigned char)*c) ? '?' : *c);
        fprintf(stderr, "%s: %s: pixel format '%.40s'; eight bits a sample are expected (C420, C422, C444, Cmono)\n",
                PROGRAM_NAME, s->name, colour);
        return false;
    }
    return true;
}

bool stream_open(struct stream *s, FILE *file, const char *name)
{
    *s = (struct stream){.file = file, .name = name};
    int first = getc(file);
    if (first == EOF)
        return complain(s, ferror(file) ? strerror(errno) : "nothing there; a Y4M or MJPEG stream is expected");
    if (first == 'Y') {
        s->y4m = true;
        return open_y4m(s);
    }
    ungetc(first, file);
    return first == 0xff || complain(s, "neither a Y4M nor an MJPEG stream");
}

static enum stream_state next_y4m(struct stream *s)
{
    int c = getc(s->file);
    if (c == EOF)
        return ferror(s->file) ? complain(s, strerror(errno)), STREAM_BROKEN : STREAM_END;
    ungetc(c, s->file);
    s->frame++;
    char line[LINE_MAX_BYTES] = "";
    if (!read_line(s, line) || strncmp(line, "FRAME", 5) != 0 || (line[5] && line[5] != ' '))
        return complain(s, "the line FRAME is expected"), STREAM_BROKEN;
    s->size = s->luma + s->chroma;
    if (!room_for(s, s->size))
        return STREAM_BROKEN;
    if (fread(s->data, 1, s->size, s->file) != s->size)
        return complain(s, "the stream ends inside of it"), STREAM_BROKEN;
    return STREAM_FRAME;
}

/* The next byte, kept; EOF: the end, or too many. */
static int take(struct stream *s)
{
    if (s->size == s->room && (s->size >= JPEG_BYTES_MAX || !room_for(s, s->size + 1)))
        return EOF;
    int c = getc_unlocked(s->file);
    if (c != EOF)
        s->data[s->size++] = (unsigned char)c;
    return c;
}

/* A JPEG's segments up to its end; in entropy-coded data a marker is what follows FF and is not 00 nor a restart. */
static enum stream_state next_jpeg(struct stream *s)
{
    s->size = 0;
    int c = take(s);
    for (; c == 0 && s->frame; c = take(s)) /* cameras fill up with zeros */
        s->size = 0;
    if (c == EOF)
        return ferror(s->file) ? complain(s, strerror(errno)), STREAM_BROKEN : STREAM_END;
    s->frame++;
    if (c != 0xff || take(s) != 0xd8)
        return complain(s, "a JPEG image is expected"), STREAM_BROKEN;
    bool coded = false; /* between a scan's header and the next marker */
    for (;;) {
        do
            c = take(s);
        while (coded && c != 0xff && c != EOF);
        while (c == 0xff)
            c = take(s);
        if (c == EOF)
            return complain(s, "the stream ends inside of it"), STREAM_BROKEN;
        if (c == 0xd9)
            return STREAM_FRAME;
        if (coded && (c == 0 || (c >= 0xd0 && c <= 0xd7)))
            continue;
        if (s->data[s->size - 2] != 0xff)
            return complain(s, "damaged: a marker is expected"), STREAM_BROKEN;
        int marker = c, high = take(s), low = take(s);
        if (high == EOF || low == EOF)
            return complain(s, "the stream ends inside of it"), STREAM_BROKEN;
        for (int left = high * 256 + low - 2; left > 0; left--)
            if (take(s) == EOF)
                return complain(s, "the stream ends inside of it"), STREAM_BROKEN;
        coded = marker == 0xda;
    }
}

enum stream_state stream_next(struct stream *s) { return s->y4m ? next_y4m(s) : next_jpeg(s); }

bool stream_decode(struct stream *s, struct image *image)
{
    if (!s->y4m) {
        char name[80];
        snprintf(name, sizeof name, "%.40s: frame %lu", s->name, s->frame);
        return image_decode_jpeg(image, s->data, s->size, true, name);
    }
    if (!image->pixels) {
        image->pixels = malloc(s->luma);
        if (!image->pixels)
            return complain(s, "no memory for the frame");
        image->width = s->width;
        image->height = s->height;
        image->channels = 1;
    }
    for (size_t k = 0; k < s->luma; k++) {
        int value = s->full ? s->data[k] : (s->data[k] - 16) * 255 / 219;
        image->pixels[k] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
    return true;
}

bool stream_waiting(const struct stream *s)
{
    struct pollfd fd = {.fd = fileno(s->file), .events = POLLIN};
    return poll(&fd, 1, 0) > 0;
}

void stream_close(struct stream *s)
{
    free(s->data);
    *s = (struct stream){0};
}
