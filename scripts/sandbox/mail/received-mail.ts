/** A received mail. */
export interface ReceivedMail {
  readonly to: string
  readonly from: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** ISO 8601. */
  readonly at: string
  readonly messageId: string
}

/** A page that shows each mail as text and as HTML. The HTML is in a sandboxed frame, so nothing in it runs. */
export function mailPage(mails: readonly ReceivedMail[]): string {
  const list = mails.length === 0 ? '<p>No mail.</p>' : mails.map(article).join('\n')
  return `<!DOCTYPE html>
<html lang="en"><head><title>Mail</title><meta http-equiv="refresh" content="5">
<style>body{font:15px sans-serif;max-width:60em;margin:2em auto}pre{background:#eee;padding:1em}iframe{width:100%;height:18em}</style>
</head><body><h1>Mail</h1>
${list}
</body></html>
`
}

function article({ to, from, subject, text, html, at }: ReceivedMail): string {
  return `<article><h2>${escaped(subject)}</h2>
<p>${escaped(at)} from ${escaped(from)} to <a href="?to=${encodeURIComponent(to)}">${escaped(to)}</a></p>
<pre>${escaped(text)}</pre>
<iframe sandbox srcdoc="${escaped(html)}"></iframe></article>`
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
