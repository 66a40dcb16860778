/** Every text of the manual's buttons and search. */
export const words = {
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'Copy it by hand',
  copyWhat: (title: string) => `Copy: ${title}`,
  fill: 'Use my values',
  filled: 'Your values are in',
  signIn: 'Sign in first',
  search: 'Search',
  searchManual: 'Search the manual',
  close: 'Close',
  found: (count: number, most: number) => {
    if (count > most) return `The first ${most} of ${count} places`
    return count === 0 ? 'Nothing found' : count === 1 ? '1 place' : `${count} places`
  },
} as const
