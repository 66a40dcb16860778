interface Entry<Screen> {
  readonly screen: Screen
  /** The screens of the entries before this one, oldest first. */
  readonly before: readonly Screen[]
}

/** One entry of the browser's history for each screen, so that Back leads to the screen before. */
export class StepHistory<Screen extends string> {
  /** False until a reload's entry was read, and while the browser goes back: the entry is then another screen's. */
  #settled = false
  readonly #framed: boolean

  /** `framed`: the entries before may be the embedding page's. */
  constructor(framed: boolean) {
    this.#framed = framed
  }

  /** Calls back after the entry has changed; without a screen it is another one's. Returns a function that stops it. */
  follow(onNavigated: (screen: Screen | undefined) => void): () => void {
    const read = (): void => {
      this.#settled = true
      onNavigated(this.#entry?.screen)
    }
    addEventListener('popstate', read)
    return () => removeEventListener('popstate', read)
  }

  /** Begins to keep the entries. Returns the screen that was shown here before a reload. */
  begin(): Screen | undefined {
    this.#settled = true
    return this.#entry?.screen
  }

  get #entry(): Entry<Screen> | undefined {
    const { step } = (history.state ?? {}) as { readonly step?: Entry<Screen> }
    return step
  }

  /** `navigated`: the browser already changed the entry. One for a screen that cannot be shown gets the screen that is. */
  show(screen: Screen, navigated: boolean): void {
    const now = this.#entry
    if (!this.#settled || now?.screen === screen) return
    const before = now?.before ?? []
    const at = before.lastIndexOf(screen)
    if (now === undefined) this.#replace({ screen, before })
    else if (at === -1 && navigated) this.#replace({ screen, before })
    else if (at === -1) history.pushState({ step: { screen, before: [...before, now.screen] } }, '')
    else if (this.#framed) this.#replace({ screen, before: navigated ? before : before.slice(0, at) })
    else {
      this.#settled = false
      history.go(at - before.length)
    }
  }

  /** An open drawer of the entry stays. */
  #replace(step: Entry<Screen>): void {
    history.replaceState({ ...history.state, step }, '')
  }
}
