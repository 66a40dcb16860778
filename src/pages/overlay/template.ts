export type Part = { readonly kind: 'text' | 'sender' | 'amount' | 'token'; readonly text: string }

type Values = Readonly<Record<'sender' | 'amount' | 'token', string>>

/**
 * A creator's template as pieces of text: `{sender}`, `{amount}` and `{token}` stand for a tip's, everything else is as
 * written. What stands for nothing (a tip in naira has no token) takes the blank before it along.
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
