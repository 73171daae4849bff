/* Frames from standard input: Y4M (YUV4MPEG2, eight bits a sample) or MJPEG (JPEG images one after the other, zeros
 * between them or none). */
#ifndef FACEDETECT_STREAM_H
#define FACEDETECT_STREAM_H

#include "image.h"

#include <stdio.h>

struct stream {
    FILE *file;
    const char *name;    /* in messages */
    double rate;         /* frames a second that the stream says; 0: it says none */
    unsigned long frame; /* the number of the last one read, from 1 */
    bool y4m;
    int width, height;
    size_t luma, chroma; /* bytes of a frame's planes */
    bool full;           /* samples from 0 to 255, not from 16 to 235 */
    unsigned char *data; /* the frame as it came */
    size_t size, room;
};

enum stream_state { STREAM_FRAME, STREAM_END, STREAM_BROKEN };

/* Looks at the first bytes. False: neither of the two, and it was told so. */
bool stream_open(struct stream *stream, FILE *file, const char *name);

/* Takes the next frame in; broken: it was told why. */
enum stream_state stream_next(struct stream *stream);

/* The frame's picture, in grey. The image's memory is used again. */
bool stream_decode(struct stream *stream, struct image *image);

/* Whether more has come than was taken in; what the C library's buffer holds (4096 bytes) does not count. */
bool stream_waiting(const struct stream *stream);

void stream_close(struct stream *stream);

#endif
