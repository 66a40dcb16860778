/** OBS tells a page of it whether its source is part of what is sent (obs-browser, README). Other browsers never do. */
export function whileSeen(set: (seen: boolean) => void): void {
  window.addEventListener('obsSourceActiveChanged', (event) => {
    const detail: unknown = event instanceof CustomEvent ? event.detail : undefined
    if (typeof detail !== 'object' || detail === null || !('active' in detail)) return
    set(detail.active === true)
  })
}
