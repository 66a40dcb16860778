import { palette } from '../http/pages/palette.js'

/** The operators' page: dense, light and dark, a command is one click to select. */
export const styleSheet = /* css */ `
${palette}body { margin: 0; background: var(--sheet); color: var(--text); font: .95rem/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
main { padding: 1.5rem; max-width: 100rem; margin: 0 auto; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
p { color: var(--muted); } a { color: var(--accent); }
a:focus-visible, .scroll:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; min-width: 100%; }
th, td { text-align: left; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--muted); font-size: .8rem; }
tbody th { font-weight: 600; }
.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); }
.error { max-width: 26rem; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; margin-bottom: 1rem; }
form { display: flex; gap: .5rem; align-items: center; } input { width: min(30rem, 50vw); }
input, button { font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--line); border-radius: .25rem; padding: .2rem .5rem; }
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code { font: .82rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
main > p, .story { overflow-wrap: anywhere; }
.story { list-style: none; padding: 0; } .story li { display: flex; gap: .2rem .9rem; padding: .35rem 0; border-bottom: 1px solid var(--line); }
@media (max-width: 45rem) { main { padding: 1rem; } .story li { flex-direction: column; } nav, form { flex-wrap: wrap; } input { width: 100%; } }
.command { background: var(--raised); padding: .15rem .4rem; border-radius: .25rem; user-select: all; white-space: nowrap; }
`
