import type { Screen } from '../machine/screens.js'
import { framed } from './parent-page.js'

interface Entry {
  readonly screen: Screen
  /** The screens of the entries before this one, oldest first. */
  readonly before: readonly Screen[]
}

/** One entry of the browser's history for each screen, so that Back leads to the screen before. */
export class StepHistory {
  /** False until a reload's entry was read, and while the browser goes back: the entry is then another screen's. */
  #settled = false

  constructor(onNavigated: (screen: Screen) => void) {
    addEventListener('popstate', () => {
      this.#settled = true
      if (this.#entry !== undefined) onNavigated(this.#entry.screen)
    })
  }

  /** Begins to keep the entries. Returns the screen that was shown here before a reload. */
  begin(): Screen | undefined {
    this.#settled = true
    return this.#entry?.screen
  }

  get #entry(): Entry | undefined {
    const { tip } = (history.state ?? {}) as { readonly tip?: Entry }
    return tip
  }

  /** `navigated`: the browser already changed the entry, so it only gets the screen that is really shown. */
  show(screen: Screen, navigated: boolean): void {
    const now = this.#entry
    if (!this.#settled || now?.screen === screen) return
    const before = now?.before ?? []
    const at = before.lastIndexOf(screen)
    if (now === undefined || navigated) this.#replace({ screen, before })
    // In a frame the entries before may be the embedding page's.
    else if (at === -1) history.pushState({ tip: { screen, before: [...before, now.screen] } }, '')
    else if (framed) this.#replace({ screen, before: before.slice(0, at) })
    else {
      this.#settled = false
      history.go(at - before.length)
    }
  }

  #replace(tip: Entry): void {
    history.replaceState({ tip }, '')
  }
}
