import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'

const folder = 'screenshots'
/**
 * What people need beside the machine, on a phone, in seconds: to find a thing and touch it; to type a character, at the 36 words a minute
 * that people type there on average; and to take in a screen that is new to them.
 */
const perTap = 1.5
const perCharacter = 0.35
const perScreen = 2

/** What is done outside of our pages. */
interface Elsewhere {
  readonly taps: number
  readonly characters?: number
}

/** A way that people go for the first time, on one phone or several. What they do is counted and timed. */
export class Walk {
  readonly #name: string
  readonly #began = performance.now()
  #taps = 0
  #swipes = 0
  #characters = 0
  #screens = 0

  constructor(name: string) {
    this.#name = name
  }

  async tap(target: Locator): Promise<void> {
    await this.#reach(target)
    this.#taps += 1
    await target.tap()
  }

  async type(field: Locator, text: string): Promise<void> {
    await this.tap(field)
    this.#characters += text.length
    await field.page().keyboard.type(text)
  }

  /** Waits for a screen, by what the person looks for there. Saves a picture. */
  async see(sight: Locator): Promise<void> {
    await sight.waitFor()
    await this.#reach(sight)
    this.#screens += 1
    mkdirSync(folder, { recursive: true })
    await sight.page().screenshot({ path: join(folder, `${this.#name}-${this.#screens}.png`) })
  }

  doElsewhere({ taps, characters = 0 }: Elsewhere): void {
    this.#taps += taps
    this.#characters += characters
  }

  /** By the person's clock. */
  seconds(): number {
    const touches = this.#taps + this.#swipes
    return (
      this.#machineSeconds() + touches * perTap + this.#characters * perCharacter + this.#screens * perScreen
    )
  }

  tell(): string {
    const done = `${this.#screens} screens, ${this.#taps} taps, ${this.#swipes} swipes, ${this.#characters} characters`
    return `${this.#name}: ${this.seconds().toFixed(1)} s (${done}, ${this.#machineSeconds().toFixed(1)} s of the machine)`
  }

  /** What is not on the screen is swiped to. */
  async #reach(target: Locator): Promise<void> {
    const box = await target.boundingBox()
    const height = target.page().viewportSize()?.height ?? 0
    if (box !== null && box.y >= 0 && box.y + box.height <= height) return
    this.#swipes += 1
    await target.scrollIntoViewIfNeeded()
  }

  #machineSeconds(): number {
    return (performance.now() - this.#began) / 1000
  }
}
