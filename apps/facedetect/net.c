/* See net.h. */
#include "net.h"
#include "program.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const unsigned char net_pairs[NET_PAIRS][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static const float *take(const float **from, int count)
{
    const float *here = *from;
    *from += count;
    return here;
}

void net_fold(struct net *net, const float parameters[NET_PARAMETERS])
{
    const float *p = parameters;
    const float *first = take(&p, NET_FIRST * 25), *first_bias = take(&p, NET_FIRST);
    const float *s1 = take(&p, NET_FIRST), *s1_bias = take(&p, NET_FIRST);
    const float *single = take(&p, NET_SINGLE * 9), *single_bias = take(&p, NET_SINGLE);
    const float *pair = take(&p, NET_PAIRS * 18), *pair_bias = take(&p, NET_PAIRS);
    const float *s2 = take(&p, NET_SECOND), *s2_bias = take(&p, NET_SECOND);
    for (int m = 0; m < NET_FIRST; m++) {
        for (int k = 0; k < 25; k++)
            net->first[m][k] = first[m * 25 + k] * s1[m];
        net->first_bias[m] = first_bias[m] * s1[m] + s1_bias[m];
    }
    for (int m = 0; m < NET_SINGLE; m++)
        for (int k = 0; k < 9; k++)
            net->single[m][k] = single[m * 9 + k] * s2[m];
    for (int m = 0; m < NET_PAIRS; m++)
        for (int k = 0; k < 18; k++)
            net->pair[m][k / 9][k % 9] = pair[m * 18 + k] * s2[NET_SINGLE + m];
    for (int m = 0; m < NET_SECOND; m++) {
        float bias = m < NET_SINGLE ? single_bias[m] : pair_bias[m - NET_SINGLE];
        net->second_bias[m] = bias * s2[m] + s2_bias[m];
    }
    memcpy(net->neuron, take(&p, NET_SECOND * NET_FIELD), sizeof net->neuron);
    memcpy(net->neuron_bias, take(&p, NET_SECOND), sizeof net->neuron_bias);
    memcpy(net->last, take(&p, NET_SECOND), sizeof net->last);
    net->last_bias = *take(&p, 1);
}

static void mirror_rows(float *to, const float *from, int count, int width)
{
    for (int k = 0; k < count; k++)
        to[k] = from[k / width * width + width - 1 - k % width];
}

void net_mirror(struct net *mirrored, const struct net *net)
{
    *mirrored = *net;
    mirror_rows(mirrored->first[0], net->first[0], NET_FIRST * 25, 5);
    mirror_rows(mirrored->single[0], net->single[0], NET_SINGLE * 9, 3);
    mirror_rows(mirrored->pair[0][0], net->pair[0][0], NET_PAIRS * 18, 3);
    mirror_rows(mirrored->neuron[0], net->neuron[0], NET_SECOND * NET_FIELD, NET_FIELD_WIDTH);
}

/* Adds the line's numbers to the found ones; false: what is wrong has been said. */
static bool read_line(char *line, const char *path, unsigned number, float *found, unsigned *count)
{
    char *comment = strchr(line, '#'), *rest = NULL;
    if (comment)
        *comment = 0;
    for (char *word = strtok_r(line, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest)) {
        char *end;
        float value = strtof(word, &end);
        if (*end || !isfinite(value)) {
            fprintf(stderr, "%s: %s:%u: '%s' is not a number\n", PROGRAM_NAME, path, number, word);
            return false;
        }
        if (*count == NET_PARAMETERS) {
            fprintf(stderr, "%s: %s:%u: more than %d numbers\n", PROGRAM_NAME, path, number, NET_PARAMETERS);
            return false;
        }
        found[(*count)++] = value;
    }
    return true;
}

bool net_read(struct net *net, const char *path)
{
    float found[NET_PARAMETERS];
    unsigned count = 0, number = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s: %s: %s\n", PROGRAM_NAME, path, strerror(errno));
        return false;
    }
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    while (good && getline(&line, &size, file) >= 0)
        good = read_line(line, path, ++number, found, &count);
    free(line);
    if (good && ferror(file)) {
        fprintf(stderr, "%s: %s: %s\n", PROGRAM_NAME, path, strerror(errno));
        good = false;
    } else if (good && count < NET_PARAMETERS) {
        fprintf(stderr, "%s: %s:%u: the file ends after %u numbers, %d are expected\n", PROGRAM_NAME, path, number,
                count, NET_PARAMETERS);
        good = false;
    }
    fclose(file);
    if (good)
        net_fold(net, found);
    return good;
}
