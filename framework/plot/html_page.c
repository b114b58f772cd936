/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/html_page.h"

#include <string.h>

/* Series have the colours of Okabe and Ito first, which readers who see colours differently can tell apart;
   markers and dashes differ as well. Dark themes need lighter ones. */
static const char colours[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1b1b1f;--muted:#5c5f66;--rule:#d9dbe0;--soft:#f4f5f7;"
    "--link:#0b57b0;--good:#e8f4ec;--good-edge:#1a7f4b;--warn:#fff3e2;--warn-edge:#c65d00;--warn-text:#"
    "a34b00;"
    "--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#b3508f;--s4:#b07d00;--s5:#2a9fd6;--s6:#1b1b1f;--s7:#7a7a7a;"
    "--s8:#8c564b;--s9:#7d8a00;--s10:#0e8f9c;--s11:#7b52ab}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--bg:#16181c;--fg:#e6e7ea;--muted:#a2a6ae;"
    "--rule:#363a42;--soft:#20232a;--link:#8ab8ff;--good:#15281d;--good-edge:#4cc38a;--warn:#33240f;"
    "--warn-edge:#f0983e;--warn-text:#f0983e;--s0:#5cb3e8;--s1:#ff8c3f;--s2:#3ccf9f;--s3:#e69ac8;--s4:#"
    "f0b840;--s5:#8fd3ff;"
    "--s6:#f2f2f2;--s7:#a8a8a8;--s8:#cf9a8e;--s9:#cddc39;--s10:#4dd0dc;--s11:#bfa1ea}}\n";

static const char texts[] =
    "*{box-sizing:border-box}\n"
    "body{font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",sans-serif;color:var(--fg);background:var(--bg);"
    "max-width:76rem;margin:0 auto;padding:1rem 1.25rem 3rem;overflow-wrap:break-word}\n"
    "h1{font-size:1.65rem;line-height:1.25;margin:.6rem 0;text-wrap:balance}"
    "h2{font-size:1.25rem;margin:2.4rem 0 .6rem;border-bottom:1px solid var(--rule);padding-bottom:.2rem}"
    "h3{font-size:1rem;margin:1.2rem 0 .3rem}p{margin:.6rem 0;max-width:52rem}\n"
    "a{color:var(--link)}nav{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.925rem}\n"
    "figcaption,.note{color:var(--muted);font-size:.875rem}\n"
    "code,pre{font:.875rem/1.45 ui-monospace,\"DejaVu Sans Mono\",monospace}"
    "pre{background:var(--soft);padding:.7rem "
    ".9rem;border-radius:4px;white-space:pre-wrap}pre.statement{white-space:pre;overflow-x:auto;"
    "font-size:clamp(.7rem,2.2vw,.875rem)}\n"
    "ul.changes{margin:.2rem 0 "
    ".8rem;padding-left:1.2rem;columns:26rem;column-gap:2rem}.affects{color:var(--warn-text)}"
    "dl.facts{margin:.6rem 0;max-width:52rem;display:grid;grid-template-columns:max-content 1fr;gap:.15rem "
    "1rem}"
    ".facts dt{color:var(--muted)}.facts dd{margin:0}\n"
    ".box{border-left:4px solid var(--rule);background:var(--soft);padding:.6rem .9rem;margin:.8rem 0;"
    "border-radius:0 4px 4px 0}"
    ".answer{border-color:var(--good-edge);background:var(--good)}"
    ".private,.warn{border-color:var(--warn-edge);background:var(--warn)}\n"
    "details{margin:.5rem 0}summary{cursor:pointer;color:var(--link);font-size:.9rem}\n";

/* On a narrow page the cells of a row that is too wide stand below its name, each under the title of its
   column. */
static const char tables[] =
    ".wide{overflow-x:auto;margin:.5rem 0}"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}"
    "caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    "\nth,td{padding:.28rem .55rem;text-align:right;vertical-align:top;border-bottom:1px solid var(--rule)}"
    "thead th{border-bottom:2px solid var(--muted);vertical-align:bottom}"
    "th[scope=row]{font-weight:600}td.r,td.s,th.s{white-space:nowrap}th.l,td.l{text-align:left}"
    "td.na{color:var(--muted)}.sd{color:var(--muted);font-size:.85em}"
    "\nth[scope=row]{position:sticky;left:0;background:var(--bg);max-width:22rem}"
    "\n@media (max-width:45rem){.wide table:not(.few),.wide :not(.few)>tbody{display:block}"
    ".wide :not(.few)>thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    ".wide "
    ":not(.few)>tbody>tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(5.4rem,1fr));gap:.15rem "
    ".8rem;padding:.45rem 0;border-bottom:1px solid var(--rule)}"
    ".wide :not(.few)>tbody th,.wide :not(.few)>tbody "
    "td{border:0;padding:0;text-align:left;white-space:normal;position:static;max-width:none}"
    ".wide :not(.few)>tbody th[scope=row]{grid-column:1/-1}"
    ".wide :not(.few)>tbody "
    "td::before{content:attr(data-l);display:block;color:var(--muted);font-size:.78rem;line-height:1.3}"
    ".wide :not(.few)>tbody td .sd{display:block}}\n";

static const char plots[] =
    ".shapes{position:absolute}"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));gap:1.4rem "
    "2.5rem}"
    "figure{margin:0;min-width:0}figure h3{margin:.4rem 0 .5rem}\n"
    ".label{color:var(--muted);font-size:.85rem;line-height:1.25rem}"
    ".label.x{text-align:center;padding-left:3.4rem}\n"
    "svg.plot{display:block;width:calc(100% - 4.2rem);height:15rem;margin:1.5rem .8rem 1.7rem 3.4rem;"
    "overflow:visible;font-size:.8rem;font-variant-numeric:tabular-nums}\n"
    ".grid line{stroke:var(--rule);shape-rendering:crispEdges}.grid line.base{stroke:var(--muted)}"
    ".grid text{fill:var(--muted)}text.y{text-anchor:end}text.x{text-anchor:middle}"
    "text.v{text-anchor:end;fill:var(--fg);display:none;pointer-events:none}.pt:hover text.v{display:block}\n"
    ".line{fill:none;stroke:currentColor;stroke-width:1.8;vector-effect:non-scaling-stroke}"
    ".bar{stroke:currentColor;stroke-width:1.2}use{fill:currentColor;stroke:currentColor;stroke-width:1.4}"
    ".hollow use{fill:var(--bg)}.hit{fill:transparent}.pt:hover use{stroke-width:4}"
    ".quiet use{opacity:0}.quiet .pt:hover use{opacity:1}\n"
    ".key{list-style:none;margin:.5rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;"
    "font-size:.85rem}.key svg{vertical-align:middle;margin-right:.4rem;overflow:visible}\n"
    ".s0{color:var(--s0)}.s1{color:var(--s1)}.s2{color:var(--s2)}.s3{color:var(--s3)}.s4{color:var(--s4)}"
    ".s5{color:var(--s5)}.s6{color:var(--s6)}.s7{color:var(--s7)}.s8{color:var(--s8)}.s9{color:var(--s9)}"
    ".s10{color:var(--s10)}.s11{color:var(--s11)}\n"
    ".line.s1,.line.s7{stroke-dasharray:7 3}.line.s2,.line.s8{stroke-dasharray:2 3}"
    ".line.s3,.line.s9{stroke-dasharray:9 3 2 3}.line.s4,.line.s10{stroke-dasharray:4 2}"
    ".line.s5,.line.s11{stroke-dasharray:12 4}\n";

/* Paper: two plots side by side, low ones, so that pages are full; what is folded away stays so. */
static const char print[] =
    "@page{margin:16mm 14mm}@media "
    "print{body{max-width:none;padding:0;font-size:9.5pt}nav,details,.screen{display:none}"
    "h1{font-size:15pt}h2{font-size:12pt;margin:1.1rem 0 .4rem}h2,h3,h2+.note,figure "
    ".label{break-after:avoid}"
    "p,.note,figcaption,.key,.label{font-size:8.5pt}table{font-size:8pt}th,td{padding:.15rem .4rem}"
    "td.r{white-space:normal}pre.statement{font-size:8pt}"
    "tr,figure,.box,li{break-inside:avoid}.plots{grid-template-columns:1fr 1fr;gap:.6rem 1.2rem}"
    "svg.plot{height:7.5rem;margin:.6rem .8rem 1.2rem 3rem;font-size:7pt}figure h3{margin:.1rem "
    "0}.wide{overflow:visible}th[scope=row]{position:static}"
    "table.many,table.many tbody{display:block}table.many thead{display:none}"
    "table.many tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(5.2rem,1fr));gap:0 .6rem;"
    "border-bottom:1px solid var(--rule);padding:.2rem 0}"
    "table.many th,table.many td{border:0;padding:0;text-align:left}table.many "
    "th[scope=row]{grid-column:1/-1}"
    "table.many td::before{content:attr(data-l);display:block;color:var(--muted);font-size:.85em}"
    ".box{border:1px solid var(--rule);border-left:4px solid "
    "var(--muted)}a{color:inherit;text-decoration:none}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n";

void html_page_style(struct text *style)
{
    text_add(style, "%s%s%s%s%s", colours, texts, tables, plots, print);
}

void html_page_begin(struct text *page, const char *title)
{
    text_add(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                   "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
                   "<meta name=\"color-scheme\" content=\"light dark\"/>\n");
    html_element(page, "title", title);
    text_add(page, "\n<style>\n");
    html_page_style(page);
    text_add(page, "</style></head>\n<body>\n<header>");
    html_element(page, "h1", title);
    text_add(page, "</header>\n<main>\n");
}

void html_page_end(struct text *page)
{
    text_add(page, "</main></body></html>\n");
}

void html_page_contents(struct text *page, const struct html_section *sections, size_t n)
{
    text_add(page, "<nav aria-label=\"On this page\">");
    for (size_t i = 0; i < n; i++) {
        if (!sections[i].is_there)
            continue;
        text_add(page, "<a href=\"#%s\">", sections[i].id);
        html_text(page, sections[i].title);
        text_add(page, "</a> ");
    }
    text_add(page, "</nav>\n");
}

void html_page_section(struct text *page, const char *id, const char *title)
{
    text_add(page, "<h2 id=\"%s\">", id);
    html_text(page, title);
    text_add(page, "</h2>\n");
}

void html_page_box(struct text *page, const char *kind, const char *what)
{
    text_add(page, "<p class=\"box%s%s\">", *kind ? " " : "", kind);
    while (*what) {
        const size_t length = strcspn(what, "\n");
        struct text line = {0};
        text_add(&line, "%.*s", (int)length, what);
        html_text(page, line.data);
        text_free(&line);
        what += length;
        if (*what)
            text_add(page, "<br/>");
        what += *what == '\n';
    }
    text_add(page, "</p>\n");
}

void html_page_note(struct text *page, const char *what)
{
    html_element(page, "p class=\"note\"", what);
    text_add(page, "\n");
}

void html_page_table(struct text *page, struct sheet *table)
{
    sheet_write(table, SHEET_HTML, 0, page);
    sheet_free(table);
}
