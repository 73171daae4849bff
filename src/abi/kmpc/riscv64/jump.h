/* For assembly: JUMP jumps to a function; LANDING stands at each entry; say_landing_pads marks a file. */
#define JUMP tail
#define LANDING

/* clang-format off */
    .macro  say_landing_pads
    .endm
