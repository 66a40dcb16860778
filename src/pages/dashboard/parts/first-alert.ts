const key = (wallet: string | null): string => `overlay-copied:${wallet}`

/** Whether a test alert was sent, or the overlay's address copied, in this browser: the end of the set-up. */
export function alertWasTried(wallet: string): boolean {
  return localStorage.getItem(key(wallet)) !== null
}

export function rememberAlert(wallet: string | null): void {
  localStorage.setItem(key(wallet), '1')
}
