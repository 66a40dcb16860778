import { type DefaultTreeAdapterTypes, parse } from 'parse5'

export interface Element {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  /** All text inside. */
  readonly text: string
}

/** Every element of an HTML document, in order, parsed as a browser parses it. Throws for malformed HTML. */
export function elementsOf(html: string): Element[] {
  const document = parse(html, {
    onParseError: ({ code, startLine, startCol }) => {
      throw new Error(`${code} at ${startLine}:${startCol}`)
    },
  })
  const found: Element[] = []
  walk(document, found)
  return found
}

function walk(node: DefaultTreeAdapterTypes.ParentNode, found: Element[]): string {
  return node.childNodes.map((child) => textOf(child, found)).join('')
}

function textOf(node: DefaultTreeAdapterTypes.ChildNode, found: Element[]): string {
  if ('value' in node) return node.value
  if (!('tagName' in node)) return ''
  const attributes = new Map(node.attrs.map(({ name, value }) => [name, value]))
  const place = found.push({ name: node.tagName, attributes, text: '' }) - 1
  const text = walk(node, found)
  found[place] = { name: node.tagName, attributes, text }
  return text
}

/** Throws when a page has an element or attribute that could run script or load active content, but a script that the service built. */
export function refuseScript(elements: readonly Element[]): void {
  const active = /^(script|style|iframe|object|embed|form|base|svg|math|template|frame|meta-refresh)$/
  for (const { name, attributes, text } of elements) {
    const isOwn = name === 'script' && text === '' && /^\/assets\/[\w.-]+$/.test(attributes.get('src') ?? '')
    if (active.test(name) && !isOwn) throw new Error(`<${name}> in the page`)
    for (const [key, value] of attributes)
      if (/^(on|style$|srcdoc$|formaction$)/.test(key) || /^\s*(javascript|data|vbscript):/i.test(value))
        throw new Error(`<${name} ${key}="${value}"> in the page`)
  }
}
