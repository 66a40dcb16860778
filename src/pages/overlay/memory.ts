/** What a browser remembers about an overlay between two loads of its page. Without storage the overlay still shows what arrives while it is open. */
export interface Memory {
  /** The cursor that the last page load saved; undefined on the first load. */
  readonly cursor: string | undefined
  /** The tips that were shown last. After a restore of the service a tip may come again with a later id. */
  readonly shown: readonly string[]
}

const cursorKey = (key: string): string => `overlay:${key}`
const shownKey = (key: string): string => `overlay-shown:${key}`

export function readMemory(key: string): Memory {
  try {
    const cursor = localStorage.getItem(cursorKey(key))
    const shown: unknown = JSON.parse(localStorage.getItem(shownKey(key)) ?? '[]')
    return {
      cursor: cursor !== null && /^\d{1,15}$/.test(cursor) ? cursor : undefined,
      shown: Array.isArray(shown) ? shown.filter((one) => typeof one === 'string') : [],
    }
  } catch {
    return { cursor: undefined, shown: [] }
  }
}

export function saveMemory(key: string, cursor: string, shown: readonly string[]): void {
  try {
    localStorage.setItem(cursorKey(key), cursor)
    localStorage.setItem(shownKey(key), JSON.stringify(shown))
  } catch {
    // Storage is forbidden or full.
  }
}
