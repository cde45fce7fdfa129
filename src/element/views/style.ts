/**
 * The style of the element. Text, background and font come from the page: lines, areas and colored text are mixed from
 * its text color, as a page may be dark without saying so by `color-scheme`. Custom properties set the rest.
 */
export const style = `
:host {
  --accent: var(--domain-registration-accent, light-dark(#0b57d0, #8ab4f8));
  --on-accent: var(--domain-registration-on-accent, light-dark(#fff, #062e6f));
  --accent-text: var(--domain-registration-accent, color-mix(in srgb, light-dark(#0b57d0, #8ab4f8) 60%, currentColor));
  --good: var(--domain-registration-good, color-mix(in srgb, light-dark(#146c2e, #7fd99a) 60%, currentColor));
  --bad: var(--domain-registration-bad, color-mix(in srgb, light-dark(#b3261e, #f6aea9) 60%, currentColor));
  --radius: var(--domain-registration-radius, 10px);
  --line: color-mix(in srgb, currentColor 18%, transparent);
  --strong-line: color-mix(in srgb, currentColor 55%, transparent);
  --area: color-mix(in srgb, currentColor 4%, transparent);
  --quiet: color-mix(in srgb, currentColor 74%, transparent);
  --background: var(--domain-registration-background, transparent);
  display: block; container-type: inline-size; contain-intrinsic-inline-size: 40rem; line-height: 1.45;
  text-align: start;
}
:host([hidden]), [hidden] { display: none !important; }
*, ::before, ::after { box-sizing: border-box; }
section { border: 1px solid var(--line); border-radius: var(--radius); padding: 1.25rem; margin: 0 0 1.25rem; }
section:last-child { margin-bottom: 0; }
/* Of the page's text, the element has the look, and not how it is broken. */
section { white-space: normal; word-break: normal; line-break: auto; hyphens: manual; text-indent: 0; }
h2 { font-size: 1.125em; line-height: 1.3; font-weight: 650; margin: 0 0 .875rem; }
p { margin: 0; }
/* A sentence has the direction of its own words, and the side of the page's. */
p, .fix span { unicode-bidi: plaintext; text-align: -webkit-match-parent; text-align: match-parent; }
label.block { display: block; margin: 0 0 .375rem; }
textarea, input[type=search], input[type=text], select, button {
  font: inherit; color: inherit; min-height: 44px; border-radius: calc(var(--radius) * .7); max-width: 100%;
}
textarea, input[type=search], input[type=text], select {
  width: 100%; padding: .55rem .75rem; background: var(--area); border: 1px solid var(--strong-line);
  font-size: max(1em, 16px);
}
select option { color: CanvasText; background: Canvas; }
textarea {
  display: block; resize: vertical; min-height: 6.5rem; line-height: 1.5;
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
textarea::placeholder { color: inherit; opacity: .62; }
input:placeholder-shown { text-overflow: ellipsis; }
button {
  display: inline-flex; align-items: center; justify-content: center; gap: .4em; padding: .45rem 1rem; cursor: pointer;
  background: transparent; border: 1px solid var(--line); font-weight: 550; overflow-wrap: break-word;
}
button:hover { background: var(--area); border-color: var(--strong-line); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover { filter: brightness(1.08); }
button.fix { border-color: var(--accent-text); color: var(--accent-text); }
button.plain {
  border-color: transparent; color: var(--quiet); padding-inline: .625rem; font-weight: 450; text-align: start;
}
button.plain:hover { color: inherit; }
button.danger { border-color: var(--bad); color: var(--bad); }
button[aria-pressed=true] {
  background: color-mix(in srgb, var(--accent) 13%, transparent); border-color: var(--accent-text);
}
button:is(:disabled, [aria-disabled=true]) { opacity: .5; cursor: default; }
:focus-visible { outline: 2px solid var(--accent-text); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: .625rem; margin-top: .875rem; }
.steps + .actions { margin-top: .25rem; }
/* The text of a plain button stands where other texts begin. */
.actions:has(> .plain:first-child, > [hidden]:first-child + .plain) { margin-inline-start: -.625rem; }
.copyable .plain { flex: none; }
.hint { color: var(--quiet); font-size: .925em; }
.drop { outline: 2px dashed var(--accent-text); outline-offset: -6px; }
.filters { gap: .5rem; }
.filters button { padding: .3rem .85rem; border-radius: 99px; font-weight: 500; }
progress {
  display: block; width: 100%; height: 8px; margin-top: .875rem; appearance: none; border: 0; border-radius: 99px;
  overflow: hidden; background: var(--line); accent-color: var(--accent);
}
progress::-webkit-progress-bar { background: transparent; }
progress::-webkit-progress-value { background: var(--accent); border-radius: 99px; transition: inline-size .2s; }
progress::-moz-progress-bar { background: var(--accent); border-radius: 99px; }
.status { color: var(--quiet); }
.status:not(:empty) { margin-top: .5rem; }
.status.good { color: var(--good); font-weight: 550; }
.status:focus { outline: none; }
.alert {
  margin-top: .875rem; padding: .75rem 1rem; border-radius: calc(var(--radius) * .7); border: 1px solid var(--bad);
  background: color-mix(in srgb, var(--bad) 9%, transparent);
  display: flex; flex-wrap: wrap; gap: .625rem 1rem; align-items: center; overflow-wrap: anywhere;
}
.alert p, .alert > div { flex: 1 1 16rem; }
.named { margin-top: .25rem; }
.named bdi { display: inline-block; margin-inline-end: .75em; font-weight: 550; }
.list {
  position: relative; margin-top: .875rem; max-height: min(30rem, 62vh); overflow-y: auto; overscroll-behavior: contain;
  border: 1px solid var(--line); border-radius: calc(var(--radius) * .7);
}
/* The border of the first row lies under that of the list. */
.list > div { position: relative; overflow: hidden; margin-top: -1px; }
.row {
  position: absolute; inset-inline: 0; display: grid; grid-template-columns: 1.5rem minmax(0, 1fr) auto;
  gap: .125rem .625rem; align-items: center; padding: .5rem .875rem; min-height: 52px;
  border-top: 1px solid var(--line);
}
.mark { inline-size: 1.375rem; block-size: 1.375rem; border-radius: 50%; display: grid; place-items: center;
  font-size: .8125rem; font-weight: 700; border: 1px solid var(--line); color: var(--quiet); }
.registered .mark {
  background: color-mix(in srgb, var(--good) 16%, transparent); border-color: var(--good); color: var(--good);
}
.ready .mark { border-color: var(--good); color: var(--good); }
.wrong .mark, .full .mark {
  background: color-mix(in srgb, var(--bad) 12%, transparent); border-color: var(--bad); color: var(--bad);
}
.row:is(.unproven, .waits, .kept) :is(.mark, .state) {
  color: var(--quiet); background: none; border-color: var(--line);
}
.name { overflow-wrap: anywhere; min-width: 0; }
.name bdi { font-weight: 550; }
.name .hint { margin-inline-start: .5em; }
.name .hint bdi { font-weight: inherit; }
.state { color: var(--quiet); font-size: .925em; white-space: nowrap; }
.registered .state, .ready .state { color: var(--good); }
.wrong .state, .full .state, .failed .state { color: var(--bad); }
.team .state { color: var(--quiet); }
.team.failed .state { color: var(--bad); }
.tone { color: var(--quiet); }
.tone:is(.ready, .registered) { color: var(--good); }
.tone.failed { color: var(--bad); }
.detail { grid-column: 2 / -1; overflow-wrap: anywhere; font-size: .95em; }
.detail .actions { margin-top: .5rem; gap: .5rem; }
.detail .actions button { padding-block: .25rem; }
.records { margin-top: .875rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: .875rem; }
.record { border: 1px solid var(--line); border-radius: calc(var(--radius) * .7); padding: .875rem; }
.record h3 { font-size: 1em; font-weight: 550; margin: 0 0 .5rem; overflow-wrap: anywhere; }
.record dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .25rem 1rem; margin: .625rem 0 0; }
.record dl > * { margin: 0; align-self: baseline; }
.record dt { color: var(--quiet); }
.record code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.record .hint { display: block; overflow-wrap: anywhere; }
.record > .hint { margin-top: .5rem; }
.records > .actions { margin-top: 0; }
.copyable { display: flex; align-items: center; justify-content: space-between; gap: .625rem; }
.copyable code { min-width: 0; cursor: copy; }
.existing { color: var(--quiet); }
.pick { display: flex; align-items: center; gap: .75rem; min-height: 44px; min-width: 0; cursor: pointer; }
.pick input {
  inline-size: 1.125rem; block-size: 1.125rem; flex: none; margin: 0 .1875rem; accent-color: var(--accent);
}
.team { grid-template-columns: minmax(0, 1fr) fit-content(50%) auto; padding-block: .125rem; }
.about { text-align: end; overflow-wrap: anywhere; }
.about time { margin-inline-start: .75em; white-space: nowrap; }
.team:has(.bin:not([hidden])) { padding-inline-end: .25rem; }
button.bin { padding: 0; inline-size: 44px; }
.search, .editor { display: flex; gap: .5rem; }
.editor { margin-top: .375rem; }
:is(.search, .editor) button { flex: none; }
.actions:not(:has(> *)) { display: none; }
.empty { padding: 1.5rem 1rem; text-align: center; color: var(--quiet); }
.spoken {
  position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
@container (max-width: 30rem) {
  section { padding: 1rem; }
  .steps {
    background: var(--background); -webkit-backdrop-filter: blur(1rem); backdrop-filter: blur(1rem);
    margin: .25rem -1rem 0; padding: .625rem 1rem;
  }
  .actions > button.primary, .steps > button { flex: 1 1 auto; }
  .row { padding-inline: .625rem; grid-template-columns: 1.5rem minmax(0, 1fr); }
  .row .state { grid-column: 2; font-size: .875em; }
  .row.wrong .state { display: none; }
  .record dl { grid-template-columns: minmax(0, 1fr); }
  .detail { grid-column: 1 / -1; }
  .detail .actions { margin-inline-start: -.625rem; }
  .detail .fix { flex: 1 1 100%; margin-inline-start: .625rem; }
  .row.team { grid-template-columns: minmax(0, 1fr) auto; }
  .row.team .bin { grid-column: 2; grid-row: 1; }
  .about { grid-column: 1 / -1; text-align: start; margin: -.625rem 0 0 2.25rem; padding-bottom: .375rem; }
  .about time { margin: 0; }
}
/* In a low window, the bar would cover what has the focus. */
@media (min-height: 40rem) { @container (max-width: 30rem) {
  .steps { position: sticky; bottom: 0; z-index: 1; }
  [part=add] :is(button, input, textarea, select, .list) { scroll-margin-block-end: 7rem; }
} }
@media print {
  .list { max-height: none; overflow: visible; }
  .list > div { height: auto !important; }
  .row { position: static; break-inside: avoid; }
  .steps { position: static !important; }
  :is(button, progress, .paste, .search, .pick input) { display: none !important; }
}
@media (any-hover: none) { .drop-hint { display: none; } }
@media (prefers-reduced-motion: reduce) { progress::-webkit-progress-value { transition: none; } }
@media (forced-colors: active) {
  .mark, button, section { border-color: CanvasText; }
  .actions { margin-inline-start: 0 !important; }
  .steps + .actions { margin-top: .625rem; }
  progress { border: 1px solid CanvasText; }
  progress::-webkit-progress-value { background: Highlight; forced-color-adjust: none; }
  progress::-moz-progress-bar { background: Highlight; forced-color-adjust: none; }
  button[aria-pressed=true], button.primary {
    background: Highlight; color: HighlightText; border-color: Highlight; forced-color-adjust: none;
  }
}
`
