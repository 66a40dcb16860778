const key = (wallet: string): string => `overlay:${wallet}`

/** The cursor that the last page load saved; undefined on the first load, or without storage. */
export function readCursor(wallet: string): string | undefined {
  try {
    const saved = localStorage.getItem(key(wallet))
    return saved !== null && /^\d{1,15}$/.test(saved) ? saved : undefined
  } catch {
    return undefined
  }
}

export function saveCursor(wallet: string, cursor: string): void {
  try {
    localStorage.setItem(key(wallet), cursor)
  } catch {
    // Without storage the overlay still shows the tips that arrive while it is open.
  }
}
