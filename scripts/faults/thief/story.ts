import { fund } from '../../kit/client.js'
import { Draw } from '../../kit/draw.js'
import { seededNumber } from '../../sandbox/fiatpay/seeded-choice.js'
import {
  addTotp,
  chooseAct,
  confirm,
  confirmEmail,
  done,
  logInByCode,
  makeApiKey,
  type NamedAct,
  newPassword,
  type Outcome,
  outcomeOf,
  resetPassword,
  type Scene,
} from './acts.js'
import { command, pass, Reader, recover } from './owner.js'
import { type BankAccount, Person } from './person.js'
import type { Stage } from './stage.js'

/** What the thief has at the beginning. */
type Knowledge = 'cookie' | 'password' | 'both' | 'registered'

const leastSteps = 10
const mostSteps = 24
const hoursOf = { minutes: 0.35, day: 25, days: 80 }
const fundedMicro = 100_000_000n
const firstUsdc = 3
/** A factor that the owner has had for long. */
const factorHours = 100
/** A cookie that was copied so long after signing in. */
const cookieHours = [0.4, 30]
const [ownersDigit, ownersOtherDigit, thiefsDigit] = [1, 2, 9]

/**
 * The story of one account: the owner has withdrawn once, then the thief comes, then both act in the order of the seed. At the end the
 * owner takes the account back. A step of both at once may end either way; everything else depends on the seed.
 */
export class Story {
  readonly index: number
  readonly knowledge: Knowledge
  /** Who did what, and what came of it: `owner login: done`. */
  readonly lines: string[] = []
  /** Broken promises. Empty when all is well. */
  readonly faults: string[] = []
  /** The bank accounts of the thief. */
  readonly thiefsAccount: BankAccount
  readonly #stage: Stage
  readonly #seed: number
  readonly #reader = new Reader()
  readonly #setting: Draw

  constructor(stage: Stage, seed: number, index: number) {
    this.index = index
    this.#stage = stage
    this.#seed = seed
    this.#setting = this.#drawFor('setting')
    this.knowledge = this.#setting.kind<Knowledge>({ cookie: 3, password: 3, both: 2, registered: 2 })
    this.thiefsAccount = accountOf('Thief Obi', index, thiefsDigit)
  }

  async play(): Promise<void> {
    try {
      const scene = await this.#setScene()
      const draw = this.#drawFor('order')
      const steps = draw.whole(leastSteps, mostSteps)
      for (let step = 1; step <= steps; step++) await this.#step(scene, step, draw)
      await this.#recover(scene, steps + 1)
      this.faults.push(...scene.owner.serverErrors, ...scene.thief.serverErrors)
    } catch (error) {
      this.faults.push(error instanceof Error ? error.message : String(error))
    }
  }

  /** Draws of their own for each part, so that what one part draws changes no other. */
  #drawFor(...words: readonly (string | number)[]): Draw {
    return new Draw(Math.floor(seededNumber(this.#seed, this.index, ...words) * Number.MAX_SAFE_INTEGER))
  }

  #tell(text: string): void {
    this.lines.push(text)
  }

  #record(who: string, act: string, outcome: Outcome = 'nothing to do it with'): void {
    this.#tell(`${who} ${act}: ${outcome}`)
  }

  get #hasCookie(): boolean {
    return this.knowledge === 'cookie' || this.knowledge === 'both'
  }

  get #hasPassword(): boolean {
    return this.knowledge === 'password' || this.knowledge === 'both'
  }

  /** Makes an account whose owner has withdrawn once, and a thief who knows something. */
  async #setScene(): Promise<Scene> {
    const draw = this.#setting
    const mailbox = (name: string) =>
      `${name}-${inLetters(this.index)}-${inLetters(this.#seed)}@people.example`
    const sameNetwork = draw.happens(0.15)
    const email = mailbox('owner')
    const owner = new Person(
      this.#stage,
      {
        name: 'owner',
        mailboxes: [email, mailbox('owner-other')],
        accounts: [ownersDigit, ownersOtherDigit].map((digit) => accountOf('Ada Obi', this.index, digit)),
        network: '102.89.1.7',
      },
      email,
    )
    const thief = new Person(
      this.#stage,
      {
        name: 'thief',
        mailboxes: [mailbox('thief'), mailbox('thief-other')],
        accounts: [this.thiefsAccount],
        network: sameNetwork ? '102.89.1.7' : '197.210.3.9',
      },
      email,
    )
    const userId = await register(this.knowledge === 'registered' ? thief : owner, email)
    const scene = { stage: this.#stage, userId, owner, thief }
    if (this.knowledge === 'registered') await this.#proveAddress(scene)
    else if (draw.happens(0.8)) await requireDone('the first code', logInByCode(owner, email, draw))
    await fund(this.#stage.db, userId, fundedMicro)
    if (draw.happens(0.25)) {
      this.#tell(`before, owner addTotp: ${await addTotp(scene, owner, draw)}`)
      await pass(scene, factorHours)
    }
    // The first bank account is free: the withdrawal is sent at once.
    const first = { ...owner.accounts[0], amountUSDC: firstUsdc }
    const { status, body } = await owner.call('POST', '/payouts/withdraw', first)
    if (status !== 200 || body['status'] !== 'submitted')
      throw new Error(`the first withdrawal was answered ${status} ${JSON.stringify(body)}`)
    if (this.#hasCookie) {
      thief.session = owner.session
      if (draw.happens(0.4)) thief.device = owner.device
      const hours = draw.happens(0.5) ? draw.oneOf(cookieHours) : 0
      await pass(scene, hours)
      this.#tell(`the thief has the cookie, ${hours} h old`)
    }
    if (this.#hasPassword) {
      thief.password = owner.password
      this.#tell('the thief has the password')
    }
    return scene
  }

  /** The thief has registered the owner's e-mail and prepared the account. Then the owner proves the address. */
  async #proveAddress(scene: Scene): Promise<void> {
    const { owner, thief } = scene
    const draw = this.#setting
    this.#tell('the thief has registered the e-mail')
    if (draw.happens(0.5)) this.#tell(`before, thief makeApiKey: ${await makeApiKey(scene, thief, draw)}`)
    if (draw.happens(0.3)) this.#tell(`before, thief addTotp: ${await addTotp(scene, thief, draw)}`)
    await pass(scene, draw.happens(0.5) ? factorHours : 1)
    // From the network of the registration the factor that the thief has added counts. Then an operator helps.
    if ((await logInByCode(owner, owner.email, draw)) === '401 second_factor_required') {
      await command(scene, 'remove-factors')
      this.#tell('an operator removes the factors')
      await requireDone('the owner proves the address', logInByCode(owner, owner.email, draw))
    }
    await requireDone('the owner sets a password', resetPassword(owner, [owner.email]))
    await requireDone('the owner logs in', logInByCode(owner, owner.email, draw))
    // That factors became void is a change too, and a withdrawal soon after it would wait for a code.
    await pass(scene, factorHours)
  }

  async #step(scene: Scene, step: number, draw: Draw): Promise<void> {
    const { owner, thief } = scene
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
      ...(what === 'owner' || what === 'both' ? [this.#act(scene, owner, chooseAct(owner, draw), step)] : []),
      ...(what === 'thief' || what === 'both' ? [this.#act(scene, thief, chooseAct(thief, draw), step)] : []),
    ]
    await Promise.all(acting)
    if (what === 'steal') this.#steal(scene)
    if (what === 'read') await this.#read(scene, step)
    if (what === 'recover') await this.#recover(scene, step)
    if (what === 'time') {
      const time = draw.kind({ minutes: 4, day: 2, days: 1 })
      // Nobody leaves mail unread for longer than a day.
      if (time !== 'minutes') await this.#read(scene, step)
      await pass(scene, hoursOf[time])
      this.#tell(`time passes: ${hoursOf[time]} h`)
    }
    if (what === 'operator') {
      await command(scene, 'freeze-account')
      this.#record('operator', 'freeze', done)
    }
  }

  async #act(scene: Scene, who: Person, { name, act }: NamedAct, step: number): Promise<void> {
    const draw = this.#drawFor(step, who.name)
    if (who.name === 'thief' && who.session === undefined && who.password === '' && draw.happens(0.5))
      this.#steal(scene)
    const outcome = await act(scene, who, draw)
    if (who === scene.owner && outcome !== undefined) this.#reader.expect(name, outcome)
    this.#record(who.name, name, outcome)
    if (name === 'changeEmail' && outcome === done && draw.happens(0.7))
      this.#record(who.name, 'confirmEmail', await confirmEmail(who))
    if (name === 'withdrawToOwn' && outcome?.startsWith('held') && draw.happens(0.5))
      this.#record(who.name, 'confirm', await confirm(scene, who, draw))
  }

  /** What the thief got once, they get again: the owner's computer is still infected. */
  #steal({ owner, thief }: Scene): void {
    if (this.#hasCookie) thief.session = owner.session
    if (this.#hasPassword) thief.password = owner.password
    this.#tell(`the thief steals again (${this.knowledge})`)
  }

  async #read(scene: Scene, step: number): Promise<void> {
    const reactions = await this.#reader.read(scene, this.#drawFor(step, 'reads'))
    for (const { kind, reaction } of reactions) this.#record('owner', `reacts to ${kind}`, reaction)
    this.#record('owner', 'readMail', reactions.length > 0 ? 'acts on it' : 'nothing new')
  }

  /** The owner takes the account back. Afterwards the thief goes on, with what they know. */
  async #recover(scene: Scene, step: number): Promise<void> {
    await recover(scene, this.#reader, this.#drawFor(step, 'recovers'), (text) => this.#tell(text))
    this.#record('owner', 'recover', done)
  }
}

/** Mails cut what looks like a code. */
function inLetters(number: number): string {
  return String(number).replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))
}

/** Ten digits: the person, and the account of the run. */
function accountOf(accountName: string, index: number, person: number): BankAccount {
  return {
    bankCode: '058',
    accountNumber: `${person}${String(index).padStart(8, '0')}${person}`,
    accountName,
  }
}

async function register(who: Person, email: string): Promise<string> {
  who.password = newPassword()
  const answer = await who.call('POST', '/auth/register', { email, password: who.password, name: 'Ada Obi' })
  if (answer.status !== 200) throw new Error(`register: ${outcomeOf(answer)}`)
  return (answer.body['user'] as { readonly id: string }).id
}

async function requireDone(what: string, outcome: Promise<Outcome>): Promise<void> {
  const came = await outcome
  if (came !== done) throw new Error(`${what}: ${came}`)
}
