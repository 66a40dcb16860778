import type { Bank } from '../answers.js'

const maxShown = 8

/** Banks of whose name or nicknames each word of the text is a part. */
export function matchingBanks(banks: readonly Bank[], text: string): readonly Bank[] {
  const parts = text.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = ({ name, nicknames }: Bank): boolean => {
    const texts = [name, ...nicknames].join('\n').toLowerCase()
    return parts.every((part) => texts.includes(part))
  }
  return banks.filter(fits).slice(0, parts.length === 0 ? banks.length : maxShown)
}
