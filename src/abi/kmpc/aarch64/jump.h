/* For assembly: JUMP jumps to a function; LANDING stands at each entry; say_landing_pads marks a file. */
#define JUMP b
#define LANDING hint #34 /* bti c */

/* clang-format off */
/* At the end of a file: says that every entry in it is a landing pad. The linker marks a library if all its objects say
 * so. */
    .macro  say_landing_pads
#if defined(__ARM_FEATURE_BTI_DEFAULT)
    .pushsection .note.gnu.property, "a"
    .balign 8
    .long   4, 16, 5
    .asciz  "GNU"
    .long   0xc0000000, 4, 1, 0
    .popsection
#endif
    .endm
