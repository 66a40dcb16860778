import { Draw } from '../../kit/draw.js'
import { seededNumber } from '../../sandbox/fiatpay/seeded-choice.js'
import { chooseAct, type NamedAct } from './acts.js'
import { confirm } from './money-acts.js'
import { Reader } from './owner.js'
import type { Person } from './person.js'
import { command, recover } from './recover.js'
import { done, type Outcome, type Scene } from './scene.js'
import { hasCookie, hasPassword, type Knowledge, setScene } from './set-scene.js'
import { confirmEmail } from './sign-in.js'
import type { Stage } from './stage.js'

export interface Interleaving {
  readonly index: number
  readonly knowledge: Knowledge
  readonly story: readonly string[]
  /** Broken promises. Empty when all is well. */
  readonly faults: readonly string[]
  /** Who did what, and what came of it. */
  readonly results: readonly Result[]
  /** Empty when the account was not made. */
  readonly userId: string
  /** The bank accounts of the thief. */
  readonly accounts: readonly string[]
}

interface Result {
  readonly who: string
  readonly act: string
  readonly outcome: Outcome
}

const leastSteps = 10
const mostSteps = 24
const hoursOf = { minutes: 0.35, day: 25, days: 80 }

/**
 * Plays one account's story: the owner has withdrawn once, then the thief comes, then both act in the order of the seed. At
 * the end the owner takes the account back. A step of both at once may end either way; everything else depends on the seed.
 */
export async function playInterleaving(stage: Stage, seed: number, index: number): Promise<Interleaving> {
  const story: string[] = []
  const results: Result[] = []
  const drawFor: DrawFor = (...words) =>
    new Draw(Math.floor(seededNumber(seed, index, ...words) * Number.MAX_SAFE_INTEGER))
  const tell = (text: string): void => void story.push(text)
  const setting = drawFor('setting')
  const knowledge = setting.kind<Knowledge>({ cookie: 3, password: 3, both: 2, registered: 2 })
  const nobody = { index, knowledge, story, results, userId: '', accounts: [] }
  try {
    const scene = await setScene(stage, { seed, index, knowledge, draw: setting, tell })
    const play = new Play(scene, knowledge, results, drawFor, tell)
    const faults = await play.run()
    const accounts = scene.thief.accounts.map(({ accountNumber }) => accountNumber)
    return { ...nobody, userId: scene.userId, accounts, faults }
  } catch (error) {
    return { ...nobody, faults: [error instanceof Error ? error.message : String(error)] }
  }
}

/** Draws of their own for each part, so that what one part draws changes no other. */
type DrawFor = (...words: readonly (string | number)[]) => Draw

class Play {
  readonly #reader = new Reader()
  readonly #faults: string[] = []
  readonly #scene: Scene
  readonly #knowledge: Knowledge
  readonly #results: Result[]
  readonly #drawFor: DrawFor
  readonly #tell: (text: string) => void

  constructor(
    scene: Scene,
    knowledge: Knowledge,
    results: Result[],
    drawFor: DrawFor,
    tell: (text: string) => void,
  ) {
    this.#scene = scene
    this.#knowledge = knowledge
    this.#results = results
    this.#drawFor = drawFor
    this.#tell = tell
  }

  /** Returns the broken promises. */
  async run(): Promise<string[]> {
    const { owner, thief } = this.#scene
    const draw = this.#drawFor('order')
    const steps = draw.whole(leastSteps, mostSteps)
    for (let step = 1; step <= steps; step++) await this.#step(step, draw)
    await this.#recover(steps + 1)
    return [...this.#faults, ...owner.serverErrors, ...thief.serverErrors]
  }

  /** The owner takes the account back. Afterwards the thief goes on, with what they know. */
  async #recover(step: number): Promise<void> {
    const fault = await recover(this.#scene, this.#reader, this.#drawFor(step, 'recovers'), this.#tell)
    if (fault !== undefined) this.#faults.push(fault)
    this.#record('owner', 'recover', fault ?? done)
  }

  async #step(step: number, draw: Draw): Promise<void> {
    const { owner, thief } = this.#scene
    const what = draw.kind({
      owner: 32,
      thief: 40,
      both: 6,
      steal: 7,
      time: 11,
      read: 8,
      recover: 2,
      operator: 1,
    })
    const acting = [
      ...(what === 'owner' || what === 'both' ? [this.#act(owner, chooseAct(owner, draw), step)] : []),
      ...(what === 'thief' || what === 'both' ? [this.#act(thief, chooseAct(thief, draw), step)] : []),
    ]
    await Promise.all(acting)
    if (what === 'steal') this.#steal()
    if (what === 'read') await this.#read(step)
    if (what === 'recover') await this.#recover(step)
    if (what === 'time') await this.#pass(step, draw.kind({ minutes: 4, day: 2, days: 1 }))
    if (what === 'operator') {
      await command(this.#scene, 'freeze-account')
      this.#record('operator', 'freeze', done)
    }
  }

  async #act(who: Person, { name, act }: NamedAct, step: number): Promise<void> {
    const draw = this.#drawFor(step, who.name)
    if (who.name === 'thief' && who.session === undefined && who.password === '' && draw.happens(0.5))
      this.#steal()
    const outcome = await act(this.#scene, who, draw)
    if (who === this.#scene.owner && outcome !== undefined) this.#reader.expect(name, outcome)
    this.#record(who.name, name, outcome)
    if (name === 'changeEmail' && outcome === done && draw.happens(0.7))
      this.#record(who.name, 'confirmEmail', await confirmEmail(this.#scene, who, draw))
    if (name === 'withdrawToOwn' && outcome?.startsWith('held') && draw.happens(0.5))
      this.#record(who.name, 'confirm', await confirm(this.#scene, who, draw))
  }

  /** What the thief got once, they get again: the owner's computer is still infected. */
  #steal(): void {
    const { owner, thief } = this.#scene
    if (hasCookie(this.#knowledge)) thief.session = owner.session
    if (hasPassword(this.#knowledge)) thief.password = owner.password
    this.#tell(`the thief steals again (${this.#knowledge})`)
  }

  async #read(step: number): Promise<void> {
    const reactions = await this.#reader.read(this.#scene, this.#drawFor(step, 'reads'))
    for (const { kind, reaction } of reactions) this.#record('owner', `reacts to ${kind}`, reaction)
    this.#record('owner', 'readMail', reactions.length > 0 ? 'acts on it' : 'nothing new')
  }

  /** Nobody leaves mail unread for longer than a day. */
  async #pass(step: number, time: keyof typeof hoursOf): Promise<void> {
    const { stage, userId, owner, thief } = this.#scene
    if (time !== 'minutes') await this.#read(step)
    await stage.age(userId, hoursOf[time])
    for (const person of [owner, thief]) person.forgetUsedCodes()
    this.#tell(`time passes: ${hoursOf[time]} h`)
  }

  #record(who: string, act: string, outcome: Outcome | undefined): void {
    if (outcome !== undefined) this.#results.push({ who, act, outcome })
    this.#tell(`${who} ${act}: ${outcome ?? 'nothing to do it with'}`)
  }
}
