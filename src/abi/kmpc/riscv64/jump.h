/* For assembly: a jump to a function, what stands at an entry, and what a file says of its entries. */
#define JUMP tail
#define LANDING

/* clang-format off */
    .macro  say_landing_pads
    .endm
