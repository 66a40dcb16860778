import test from 'ava'
import { html } from '../../src/http/pages/html.js'
import { llmsText, manualMarkdown, manualOf } from '../../src/manual/manual.js'
import { manualPage } from '../../src/manual/page.js'
import type { OpenApi } from '../../src/manual/read-openapi.js'
import { elementsOf, refuseScript } from './page.js'

/** Texts that are known to break out of HTML. */
const corpus = [
  '<script>alert(1)</script>',
  '</title><script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '" onfocus=alert(1) autofocus x="',
  '`onclick=alert(1)`',
  '<svg/onload=alert(1)>',
  '</textarea></style></noscript><script>alert(1)</script>',
  '<!--<script>-->alert(1)',
  ']]><script>alert(1)</script>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;',
  'javascript:alert(1)',
  '[click](javascript:alert(1))',
  '[click](data:text/html,<script>alert(1)</script>)',
  '[click](#x" onclick="alert(1))',
  '`<b>`<script>alert(1)</script>`',
  '**<script>**alert(1)',
  '\u0000<script>\u0000alert(1)',
  '\u2028</script>\u2029',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '{{constructor.constructor("alert(1)")()}} <%= 1 %>',
  '\ud800<script>',
  '%3Cscript%3Ealert(1)%3C/script%3E',
]

test('a value stays text in element content and in attributes', (t) => {
  for (const text of corpus) {
    const page =
      html`<!doctype html><title>t</title><p id="${text}" class="x">${text}<b>${[html`${text}`]}</b>${undefined}</p>`
        .text
    const elements = elementsOf(page)
    t.notThrows(() => refuseScript(elements.filter(({ name }) => name !== 'p')))
    const kept = text.replaceAll('\u0000', '\ufffd').replaceAll('\ud800', '\ufffd')
    const p = elements.find(({ name }) => name === 'p')
    t.is(p?.attributes.get('id'), kept)
    t.deepEqual([...(p?.attributes.keys() ?? [])], ['id', 'class'])
    t.is(p?.text, kept + kept)
    t.deepEqual(
      elements.map(({ name }) => name),
      ['html', 'head', 'title', 'body', 'p', 'b'],
    )
  }
})

/** An OpenAPI document in which every text is hostile. */
function documentOf(text: string): OpenApi {
  const schema = {
    type: 'object',
    properties: {
      [text]: { type: 'string', description: text, pattern: text, default: text, enum: [text] },
      list: { type: 'array', items: { type: 'object', properties: { [text]: { const: text } } } },
    },
    required: [text],
  }
  const refusal = { type: 'object', properties: { code: { enum: ['invalid_json', text] } } }
  return {
    servers: [{ url: text }],
    paths: {
      [`/x/{id}/${text}`]: {
        post: {
          summary: text,
          security: [{ [text]: [] }],
          'x-rate-limit': 'reads',
          parameters: [
            { name: text, in: 'query', required: true, schema: { type: text, description: text } },
          ],
          requestBody: { content: { 'application/json': { schema } } },
          responses: {
            200: { content: { 'application/json': { schema } } },
            400: { content: { 'application/json': { schema: refusal } } },
          },
        },
      },
    },
  }
}

test('no text of the OpenAPI document or of a setting becomes markup of the page', (t) => {
  const limits = { of: () => undefined, openStreams: 1 }
  // A URL cannot contain half of a surrogate pair, so neither can a sample.
  for (const text of corpus.filter((one) => !one.includes('\ud800'))) {
    const manual = manualOf(documentOf(text), {
      base: `http://x/${text}`,
      standIns: `http://y/${text}`,
      limits,
      mode: 'test',
    })
    const elements = elementsOf(
      manualPage(manual, { style: '/docs/x.css', script: '/assets/x.js', preloads: [] }),
    )
    t.notThrows(() => refuseScript(elements), text)
    t.notThrows(() => manualMarkdown(manual) + llmsText(manual))
    const allowed = new Set([
      'id',
      'href',
      'class',
      'aria-label',
      'aria-labelledby',
      'role',
      'tabindex',
      'scope',
      'data-title',
    ])
    const body = elements.slice(elements.findIndex(({ name }) => name === 'body'))
    for (const { name, attributes } of body.filter(({ name: tag }) => tag !== 'img'))
      for (const key of attributes.keys()) t.true(allowed.has(key), `${name} ${key}`)
  }
})
