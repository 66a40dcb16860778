export type Part = { readonly kind: 'text' | 'sender' | 'amount' | 'token'; readonly text: string }

type Values = Readonly<Record<'sender' | 'amount' | 'token', string>>

/**
 * Fills `{sender}`, `{amount}` and `{token}` in a creator's template; everything else stays as written. An empty value (a
 * naira tip has no token) also removes the space before it.
 */
export function fillTemplate(template: string, values: Values): Part[] {
  const parts: Part[] = []
  for (const piece of template.split(/(\s?\{(?:sender|amount|token)\})/)) {
    const [, blank = '', name] = /^(\s?)\{(sender|amount|token)\}$/.exec(piece) ?? []
    if (name === undefined) parts.push({ kind: 'text', text: piece })
    else {
      const kind = name as keyof Values
      if (values[kind] !== '') parts.push({ kind: 'text', text: blank }, { kind, text: values[kind] })
    }
  }
  return parts.filter(({ text }) => text !== '')
}
