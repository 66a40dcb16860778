const key = (wallet: string): string => `overlay:${wallet}`

/** Where the page load before stopped; undefined at the first, or where nothing can be kept. */
export function keptCursor(wallet: string): string | undefined {
  try {
    const kept = localStorage.getItem(key(wallet))
    return kept !== null && /^\d{1,15}$/.test(kept) ? kept : undefined
  } catch {
    return undefined
  }
}

export function keepCursor(wallet: string, cursor: string): void {
  try {
    localStorage.setItem(key(wallet), cursor)
  } catch {
    // A browser that keeps nothing shows what comes while it runs; there is nothing else to do.
  }
}
