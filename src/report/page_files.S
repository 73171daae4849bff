/* Contains the page's files in the program; page_write.c puts them together. PAGE_CHART names the file of the library
 * that draws plots (Chart.js). Without it the program writes a message instead of a page. */

    .macro  carry name, file
    .globl  \name, \name\()_end
    .hidden \name, \name\()_end
\name:
    .incbin "\file"
\name\()_end:
    .endm

    .section .rodata
    carry   page_html, "page.html"
    carry   page_css, "page.css"
    carry   page_states_js, "page_states.js"
    carry   page_timeline_js, "page_timeline.js"
    carry   page_tables_js, "page_tables.js"
#ifdef PAGE_CHART
    carry   page_chart_js, PAGE_CHART
#else
    .globl  page_chart_js, page_chart_js_end
    .hidden page_chart_js, page_chart_js_end
page_chart_js:
page_chart_js_end:
#endif
    .section .note.GNU-stack, "", %progbits
