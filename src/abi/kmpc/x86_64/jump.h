/* For assembly: JUMP jumps to a function; LANDING stands at each entry; say_landing_pads marks a file. */
#define JUMP jmp
#define LANDING endbr64

/* clang-format off */
    .macro  say_landing_pads
    .endm
