export const common = {
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'Copy it by hand',
  copyWhat: (what: string) => `Copy ${what}`,
  loading: 'Loading',
  done: 'done',
  unclearNumber: 'This can be read in two ways. Write 1500 or 1.50, without a mark between thousands.',
} as const

/** `1 tip`, `1,200 tips`. */
export const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
