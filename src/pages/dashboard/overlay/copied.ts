const key = (wallet: string): string => `overlay-copied:${wallet}`

/** Whether somebody took the overlay's address from this browser: the nearest sign that it is in use. */
export function overlayWasCopied(wallet: string): boolean {
  return localStorage.getItem(key(wallet)) !== null
}

export function noteOverlayCopied(wallet: string): void {
  localStorage.setItem(key(wallet), '1')
}
