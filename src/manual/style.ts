import { palette } from '../http/pages/palette.js'

/** The manual's stylesheet: light and dark by system setting, three columns on wide screens, and print. */
export const styleSheet = /* css */ `
${palette}:root {
  --panel: #161922; --panel-line: #313849; --panel-ink: #f2f4f9; --panel-soft: #aab3c5;
  --string: #7fe3b4; --word: #ffc777; --name: #9cc8ff; --comment: #aab3c5;
  --get: #0b6bb0; --post: var(--good); --put: #8a5300; --patch: #8a5300; --delete: var(--bad); --warm: #fdf2dc; --warm-line: #e9c46a;
  --mono: ui-monospace, "SFMono-Regular", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
  --top: 3.5rem;
}
@media (prefers-color-scheme: dark) {
  :root { --panel: #0d0f14; --get: #7cc0ff; --put: #f3c464; --patch: #f3c464; --warm: #34280e; --warm-line: #8a6d1f; }
}
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-top: calc(var(--top) + 1rem); -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--sheet); color: var(--text); font: 1rem/1.6 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
a { color: var(--accent); text-underline-offset: .18em; text-decoration-thickness: .06em; }
a:focus-visible, summary:focus-visible, pre:focus-visible, .scroll:focus-visible, button:focus-visible, input:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .2rem; }
code { font: .875em/1.5 var(--mono); background: var(--raised); border-radius: .25rem; padding: .1em .3em; overflow-wrap: break-word; }
p, ul, ol { margin: 0 0 1rem; }
.skip { position: absolute; left: -100vw; z-index: 3; background: var(--sheet); padding: .75rem 1rem; }
.skip:focus { left: .5rem; top: .5rem; }

.top { position: sticky; top: 0; z-index: 2; min-height: var(--top); display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0 1rem;
  padding: 0 1.25rem; background: var(--sheet); border-bottom: 1px solid var(--line); }
.brand { display: flex; align-items: center; gap: .6rem; font-weight: 650; color: inherit; text-decoration: none; white-space: nowrap; }
.top nav { display: flex; gap: 1.25rem; font-size: .9rem; }
.top nav a { padding: .6rem 0; }
@media (max-width: 26rem) { .top { padding: 0 1rem; gap: 0 .5rem; } .top nav { gap: .9rem; font-size: .85rem; } }
@media (max-width: 22rem) { .brand img { display: none; } }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.open-search { margin-left: auto; min-height: 2.25rem; padding: 0 .8rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--raised); color: inherit; font: inherit; font-size: .9rem; cursor: pointer; }
.open-search ~ .open-search { margin-left: 0; }
a.open-search { display: inline-flex; align-items: center; text-decoration: none; }
.open-search:hover { border-color: var(--accent); }
.search { width: min(40rem, 100vw - 2rem); max-height: min(40rem, 100dvh - 2rem); margin: 1rem auto; padding: 0; overflow: hidden; border: 1px solid var(--line); border-radius: .8rem; background: var(--sheet); color: var(--text); }
.search[open] { display: flex; flex-direction: column; }
.search::backdrop { background: rgb(13 15 20 / 55%); }
.search form { display: flex; gap: .5rem; padding: .75rem; border-bottom: 1px solid var(--line); }
.search input { flex: 1; min-width: 0; min-height: 2.75rem; padding: 0 .8rem; border: 1px solid var(--muted); border-radius: .5rem; background: var(--sheet); color: inherit; font: inherit; }
.search form button { min-height: 2.75rem; padding: 0 .8rem; border: 1px solid var(--line); border-radius: .5rem; background: none; color: inherit; font: inherit; font-size: .9rem; cursor: pointer; }
.search > p { margin: 0; padding: .5rem 1rem; font-size: .85rem; color: var(--muted); }
.search ul { list-style: none; margin: 0; padding: 0 .5rem .5rem; overflow-y: auto; }
.search ul:empty { display: none; }
.search li a { display: block; padding: .55rem .5rem; border-radius: .4rem; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
.search li a:hover, .search li a:focus-visible { background: var(--raised); }
.search li a:focus-visible { outline-offset: -3px; }
.search li b { color: var(--accent); }
.search li span { display: block; font-size: .85rem; line-height: 1.4; color: var(--muted); }

.contents { padding: 1.25rem; border-bottom: 1px solid var(--line); font-size: .9rem; }
.contents p { margin: 0 0 .4rem; font-size: .75rem; font-weight: 650; letter-spacing: .06em; text-transform: uppercase; color: var(--muted); }
.contents ul { list-style: none; margin: 0 0 1rem; padding: 0; }
.contents > ul { display: flex; flex-wrap: wrap; gap: .5rem; }
.contents > ul > li > a { display: block; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .5rem; text-decoration: none; color: inherit; }
.contents ul ul { display: none; }

main { min-width: 0; }
.intro { padding: 2.5rem 1.25rem 1rem; max-width: 48rem; }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance; margin: 0 0 .75rem; }
h1 { font-size: clamp(1.9rem, 5vw, 2.6rem); letter-spacing: -.02em; }
h2 { font-size: 1.7rem; letter-spacing: -.015em; }
h3 { font-size: 1.2rem; }
.sub { font-size: 1rem; margin: 1.75rem 0 .6rem; }
h2 a, h3 a { color: inherit; text-decoration: none; }
h2 a:hover, h3 a:hover { text-decoration: underline; }
.lead { font-size: 1.15rem; color: var(--muted); text-wrap: pretty; }
.chapter { border-top: 1px solid var(--line); }
.chapter > .columns { padding-top: 2.5rem; }
article { border-top: 1px solid var(--line); }
.columns { padding: 2rem 1.25rem; }
.words { min-width: 0; max-width: 46rem; }
.words > ul > li, .words > ol > li { margin-bottom: .4rem; }
.words > ul, .words > ol { padding-left: 1.3rem; }
blockquote { margin: 0 0 1rem; border-left: 3px solid var(--warm-line); background: var(--warm); padding: .75rem 1rem; border-radius: 0 .4rem .4rem 0; }
blockquote p { margin: 0; }

.method { font: 700 .72rem/1 var(--mono); letter-spacing: .03em; }
h3 code { font-size: 1rem; background: none; padding: 0; }
h3 .method { display: inline-block; margin-right: .5rem; padding: .35rem .45rem; border: 1.5px solid currentColor; border-radius: .3rem; vertical-align: .1em; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .patch { color: var(--patch); } .delete { color: var(--delete); }

.fields, .fields tbody, .fields tr { display: block; }
.fields { border-top: 1px solid var(--line); margin-bottom: 1rem; }
.fields tr { padding: .7rem 0; border-bottom: 1px solid var(--line); }
.fields td { display: inline; padding: 0 .4rem 0 0; border: 0; vertical-align: baseline; color: var(--muted); }
.fields td[data-title="Field"] code { background: none; padding: 0; font-weight: 650; color: var(--text); }
.fields td[data-title="Field"] a { color: inherit; text-decoration: none; }
.fields td[data-title="Field"] a:hover { text-decoration: underline; }
.fields td[data-title="Rule"], .fields td[data-title="Cause"], .fields td[data-title="What to do"], .fields td[data-title="Answered by"] { display: block; margin-top: .2rem; color: var(--text); }
.fields td[data-title="Status"] { font: 700 .8rem/1 var(--mono); color: var(--delete); }
.fields td[data-title="error, exactly"] code { background: none; padding: 0; font-size: .9rem; font-weight: 650; color: var(--text); }
.fields td code { overflow-wrap: anywhere; }
:target { scroll-margin-top: calc(var(--top) + 1rem); }
tr:target { background: var(--warm); box-shadow: -.5rem 0 0 var(--warm), .5rem 0 0 var(--warm); }

.scroll { margin: 0 0 1rem; overflow-x: auto; }
/* Rows that are shown as blocks: of fields and errors everywhere, of other tables on a narrow screen. */
.fields thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.fields td:is([data-title="Required"], [data-title="Example"], [data-title="Answered by"])::before { content: attr(data-title) ": "; color: var(--muted); font-size: .82rem; }
td:empty { display: none !important; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th { text-align: left; font-size: .8rem; color: var(--muted); font-weight: 650; }
th, td { padding: .55rem .75rem .55rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th code { background: none; padding: 0; }

.code { position: relative; color-scheme: dark; margin: 0 0 1rem; border: 1px solid var(--panel-line); border-radius: .6rem; background: var(--panel); color: var(--panel-ink); overflow: hidden; }
.code > p, .code > summary { margin: 0; padding: .55rem .9rem; font-size: .8rem; font-weight: 600; color: var(--panel-soft); }
.code > p { border-bottom: 1px solid var(--panel-line); }
.code > summary { cursor: pointer; }
.code[open] > summary { border-bottom: 1px solid var(--panel-line); }
.copy { position: absolute; top: .2rem; right: .3rem; min-height: 1.9rem; padding: 0 .6rem; border: 0; border-radius: .4rem; background: none; color: var(--panel-soft);
  font: 600 .8rem/1 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; cursor: pointer; }
.copy:hover { background: var(--panel-line); color: var(--panel-ink); }
.code > p:not(:only-child), .code > summary { padding-right: 6rem; }
pre { margin: 0; padding: .8rem .9rem; overflow-x: auto; max-height: 32rem; font: .8rem/1.6 var(--mono); }
pre:focus-visible { outline-offset: -3px; }
.copy:focus-visible { outline-color: var(--panel-ink); outline-offset: -3px; }
pre code { background: none; padding: 0; font: inherit; overflow-wrap: normal; white-space: pre; }
.string { color: var(--string); } .word { color: var(--word); } .name { color: var(--name); } .comment { color: var(--comment); }

@media (max-width: 47.99rem) {
  .scroll thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .scroll table, .scroll tbody, .scroll tr, .scroll td { display: block; }
  .scroll tr { padding: .6rem 0; border-bottom: 1px solid var(--line); }
  .scroll td { border: 0; padding: .15rem 0; }
  .scroll td:not(:first-child, [data-title=""])::before { content: attr(data-title) ": "; color: var(--muted); font-size: .82rem; }
}
@media (min-width: 60rem) {
  .frame { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  .contents { position: sticky; top: var(--top); align-self: start; height: calc(100vh - var(--top)); overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line);
    padding: 1.5rem 1rem 2rem 1.25rem; scrollbar-width: thin; }
  .contents > ul { display: block; margin-bottom: 1.5rem; }
  .contents > ul > li > a { border: 0; padding: .25rem 0; font-weight: 600; }
  .contents ul ul { display: block; margin: .1rem 0 .75rem; }
  .contents ul ul a { display: grid; grid-template-columns: 3.1rem 1fr; align-items: baseline; padding: .2rem 0; color: var(--muted); text-decoration: none; font-size: .84rem; overflow-wrap: anywhere; }
  .contents ul ul a:not(:has(.method)) { grid-template-columns: 1fr; }
  .contents code { background: none; padding: 0; font: inherit; }
  .contents .method { font-size: .62rem; }
  .contents a:hover { color: var(--accent); text-decoration: underline; }
  .intro, .columns { padding-left: 2.5rem; padding-right: 2.5rem; }
}
@media (min-width: 68.75rem) {
  .columns:has(> .samples) { display: grid; grid-template-columns: minmax(0, 1.1fr) minmax(0, 1fr); gap: 2.5rem; }
  .samples { position: sticky; top: calc(var(--top) + 1rem); align-self: start; min-width: 0; max-height: calc(100vh - var(--top) - 2rem); overflow-y: auto; scrollbar-width: thin; }
  .samples pre { max-height: none; }
}
@media (min-width: 100rem) { .columns, .intro { max-width: 90rem; } }
@media (forced-colors: active) { .code, h3 .method { border: 1px solid CanvasText; } }
@media print {
  :root { --panel: #fff; --panel-ink: #000; --panel-soft: #333; --panel-line: #999; --string: #000; --word: #000; --name: #000; --comment: #333; }
  body { font-size: 10pt; }
  .top, .contents, .skip, .copy { display: none; }
  .frame, .columns { display: block; padding-left: 0; padding-right: 0; }
  .samples { position: static; max-height: none; overflow: visible; }
  pre, .scroll { max-height: none; overflow: visible; }
  pre code { white-space: pre-wrap; overflow-wrap: anywhere; }
  details.code::details-content { content-visibility: visible; block-size: auto; }
  tr { break-inside: avoid; break-after: auto; }
  h2, h3, h4 { break-after: avoid; }
}
`
