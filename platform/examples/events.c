// Events: core 0 sleeps (mc_wfe) until something comes, whatever it is. The odd cores of its cluster send a signal, the
// even ones a word, each in its own slot and after work of its own length. --trace shows which core worked when.
#include "manycore.h"
#include <stdio.h>

void mc_main_others(void)
{
    unsigned me = mc_core();
    if (mc_cluster() != 0)
        return;
    mc_region("work");
    for (volatile unsigned i = 0; i < 100 * me; i++) {
    }
    mc_region(0);
    if (me & 1) {
        mc_hws_signal(1, me / 2);
    } else {
        mc_hws_targets(1);
        mc_hws_send(me / 2, me);
    }
}

int main(void)
{
    unsigned signals = 0, words = 0, sum = 0;
    uint32_t begin = mc_cycles();
    while (signals + words < mc_cores() - 1) {
        mc_wfe();
        uint32_t pending = mc_hws_pending(); // bits 0 to 15: signals, 16 to 31: words
        for (unsigned slot = 0; slot < 16; slot++) {
            if (pending >> slot & 1) {
                mc_hws_wait(slot);
                signals++;
            }
            if (pending >> (16 + slot) & 1) {
                sum += mc_hws_receive(slot);
                words++;
            }
        }
    }
    uint32_t cycles = mc_cycles() - begin;
    printf("%u signals, %u words, sum %u\n", signals, words, sum);
    return cycles < 100 * (mc_cores() - 1); // the last one works longer than that
}
