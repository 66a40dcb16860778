const key = (wallet: string): string => `overlay:${wallet}`
const shownKey = (wallet: string): string => `overlay-shown:${wallet}`

/** The tips that were shown last. After a restore of the service a tip may come again with a later id. */
export function readShown(wallet: string): string[] {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(shownKey(wallet)) ?? '[]')
    return Array.isArray(saved) ? saved.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** The cursor that the last page load saved; undefined on the first load, or without storage. */
export function readCursor(wallet: string): string | undefined {
  try {
    const saved = localStorage.getItem(key(wallet))
    return saved !== null && /^\d{1,15}$/.test(saved) ? saved : undefined
  } catch {
    return undefined
  }
}

export function saveCursor(wallet: string, cursor: string, shown: readonly string[]): void {
  try {
    localStorage.setItem(key(wallet), cursor)
    localStorage.setItem(shownKey(wallet), JSON.stringify(shown))
  } catch {
    // Without storage the overlay still shows the tips that arrive while it is open.
  }
}
