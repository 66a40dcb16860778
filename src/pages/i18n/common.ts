/** Words that several pages use. */
export const common = {
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'Copy it by hand',
  copyWhat: (what: string) => `Copy ${what}`,
  loading: 'Loading',
} as const
