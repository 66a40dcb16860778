/** This tab's memory. Browsers may forbid it in frames; then nothing is remembered, and nothing breaks. */
export function remember(key: string, value: unknown): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(value))
  } catch {
    // Forbidden or full.
  }
}

/** What was remembered, if it still is. */
export function recall<Value>(key: string): Value | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

export function forget(key: string): void {
  try {
    sessionStorage.removeItem(key)
  } catch {
    // Forbidden: then there is nothing to forget.
  }
}
