/* The parameters of the Convolutional Face Finder (Garcia and Delakis, 2004): 951 numbers that training finds.
 *
 * A window of 32 x 36 pixels gives one output, about 1 for a face and -1 for anything else:
 *
 *   C1   four maps, each a 5 x 5 convolution of the window                      4 x (25 + 1) = 104
 *   S1   means of 2 x 2, times a coefficient, plus a bias, squashed             4 x 2        =   8
 *   C2   eight maps, 3 x 3 convolutions of one map of S1 (two each);            8 x (9 + 1)  =  80
 *        six maps, sums of a 3 x 3 convolution of each of two maps (each pair)  6 x (18 + 1) = 114
 *   S2   as S1                                                                  14 x 2       =  28
 *   N1   fourteen neurons, each sees one whole map of S2 (6 x 7)                14 x (42 + 1) = 602
 *   N2   one neuron                                                             14 + 1       =  15
 *
 * What is kept here is folded: S's coefficient is multiplied into C's masks and biases. The mean of 2 x 2 results of a
 * mask is the mask's result for the mean of 2 x 2 inputs, so the kernels take those means first, once for all masks. */
#ifndef FACEDETECT_NET_H
#define FACEDETECT_NET_H

#include <stdbool.h>

enum {
    NET_PARAMETERS = 951,
    NET_WIDTH = 32,
    NET_HEIGHT = 36,
    NET_STEP = 4, /* pixels from one output to the next */
    NET_FIRST = 4,
    NET_SINGLE = 8,
    NET_PAIRS = 6,
    NET_SECOND = NET_SINGLE + NET_PAIRS,
    NET_FIELD_WIDTH = 6, /* of N1 in a map of S2 */
    NET_FIELD_HEIGHT = 7,
    NET_FIELD = NET_FIELD_WIDTH * NET_FIELD_HEIGHT,
};

struct net {
    float first[NET_FIRST][25], first_bias[NET_FIRST];
    float single[NET_SINGLE][9];
    float pair[NET_PAIRS][2][9];
    float second_bias[NET_SECOND];
    float neuron[NET_SECOND][NET_FIELD], neuron_bias[NET_SECOND];
    float last[NET_SECOND], last_bias;
};

/* The maps of S1 that C2's k-th pair sees. */
extern const unsigned char net_pairs[NET_PAIRS][2];

/* The parameters in the order of weights.txt: C1's masks, its biases, S1's coefficients, its biases, C2's single
 * masks, their biases, its pairs' masks, their biases, S2's coefficients, its biases, N1's masks, its biases, N2's
 * weights, its bias. */
void net_fold(struct net *net, const float parameters[NET_PARAMETERS]);

/* The network that gives for an image what `net` gives for the image's mirror image. */
void net_mirror(struct net *mirrored, const struct net *net);

/* The committed ones. */
extern const float net_weights[NET_PARAMETERS];

/* Reads such a file: numbers between blanks, # begins a comment. False: one line on standard error has said what is
 * wrong. */
bool net_read(struct net *net, const char *path);

#endif
