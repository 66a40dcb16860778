import type { Catalogue } from '../../kernel/catalogue.js'

const english = {
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'Copy it by hand',
  copyWhat: (what: string) => `Copy ${what}`,
  loading: 'Loading',
  done: 'done',
  unclearNumber: 'This can be read in two ways. Write 1500 or 1.50, without a mark between thousands.',
} as const

type CommonWords = Catalogue<typeof english>

/** The texts of the parts that every page uses. */
export let common: CommonWords = english

export function useCommonWords(words: CommonWords): void {
  common = words
}

/** `1 tip`, `1,200 tips`. */
export const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
