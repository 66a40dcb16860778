/** Stores a value in sessionStorage. Browsers may forbid that in frames: then nothing is stored, and nothing fails. */
export function storeInTab(key: string, value: unknown): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(value))
  } catch {
    // Storage is forbidden or full.
  }
}

export function readFromTab<Value>(key: string): Value | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

export function removeFromTab(key: string): void {
  try {
    sessionStorage.removeItem(key)
  } catch {
    // Storage is forbidden, so nothing was stored.
  }
}
