import { fund } from '../../kit/client.js'
import type { Draw } from '../../kit/draw.js'
import { addTotp, makeApiKey } from './account-acts.js'
import { type BankAccount, Person } from './person.js'
import { command } from './recover.js'
import { done, outcomeOf, type Scene } from './scene.js'
import { logInByCodeAs, newPassword, resetPasswordOf } from './sign-in.js'
import type { Stage } from './stage.js'

/** What the thief has at the beginning. */
export type Knowledge = 'cookie' | 'password' | 'both' | 'registered'

export function hasCookie(knowledge: Knowledge): boolean {
  return knowledge === 'cookie' || knowledge === 'both'
}

export function hasPassword(knowledge: Knowledge): boolean {
  return knowledge === 'password' || knowledge === 'both'
}

interface SceneOptions {
  readonly seed: number
  readonly index: number
  readonly knowledge: Knowledge
  readonly draw: Draw
  readonly tell: (text: string) => void
}

export const fundedMicro = 100_000_000n
const firstUsdc = 3
/** A factor that the owner has had for long. */
const factorHours = 100
/** A cookie that was copied so long after signing in. */
const cookieHours = [0.4, 30]

/** Makes an account whose owner has withdrawn once, and a thief who knows something. */
export async function setScene(
  stage: Stage,
  { seed, index, knowledge, draw, tell }: SceneOptions,
): Promise<Scene> {
  const mailbox = (name: string) => `${name}-${inLetters(index)}-${inLetters(seed)}@people.example`
  const sameNetwork = draw.happens(0.15)
  const owner = new Person(stage, {
    name: 'owner',
    mailboxes: [mailbox('owner'), mailbox('owner-other')],
    accounts: [accountOf('Ada Obi', index, 1), accountOf('Ada Obi', index, 2)],
    network: '102.89.1.7',
    userAgent: 'Owner/1.0',
    email: mailbox('owner'),
  })
  const thief = new Person(stage, {
    name: 'thief',
    mailboxes: [mailbox('thief'), mailbox('thief-other')],
    accounts: [accountOf('Thief Obi', index, thiefDigit)],
    network: sameNetwork ? '102.89.1.7' : '197.210.3.9',
    userAgent: 'Thief/1.0',
    email: mailbox('owner'),
  })
  const userId =
    knowledge === 'registered' ? await register(thief, owner.email) : await register(owner, owner.email)
  const scene = { stage, userId, owner, thief }
  if (knowledge === 'registered') await takeOver(scene, draw, tell)
  else if (draw.happens(0.8)) await expectDone('the first code', logInByCodeAs(owner, owner.email, draw))
  await fund(stage.db, userId, fundedMicro)
  if (draw.happens(0.25)) {
    tell(`owner addTotp: ${await addTotp(scene, owner, draw)}`)
    await stage.age(userId, factorHours)
    owner.forgetUsedCodes()
  }
  await withdrawFirst(owner)
  if (hasCookie(knowledge)) {
    thief.session = owner.session
    if (draw.happens(0.4)) thief.device = owner.device
    const hours = draw.happens(0.5) ? (draw.one(cookieHours) ?? 0) : 0
    await stage.age(userId, hours)
    owner.forgetUsedCodes()
    tell(`the thief has the cookie, ${hours} h old`)
  }
  if (hasPassword(knowledge)) {
    thief.password = owner.password
    tell('the thief has the password')
  }
  return scene
}

const thiefDigit = 9

export function isThiefs(accountNumber: string): boolean {
  return accountNumber.startsWith(String(thiefDigit))
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

/** The thief has registered the owner's e-mail and prepared the account. Then the owner proves the address. */
async function takeOver(scene: Scene, draw: Draw, tell: (text: string) => void): Promise<void> {
  const { owner, thief, stage, userId } = scene
  tell('the thief has registered the e-mail')
  if (draw.happens(0.5)) tell(`thief makeApiKey: ${await makeApiKey(scene, thief, draw)}`)
  if (draw.happens(0.3)) tell(`thief addTotp: ${await addTotp(scene, thief, draw)}`)
  await stage.age(userId, draw.happens(0.5) ? factorHours : 1)
  // From the network of the registration the factor that the thief has added counts. Then an operator helps.
  if ((await logInByCodeAs(owner, owner.email, draw)) === '401 second_factor_required') {
    await command(scene, 'remove-factors')
    tell('an operator removes the factors')
    await expectDone('the owner proves the address', logInByCodeAs(owner, owner.email, draw))
  }
  await expectDone('the owner sets a password', resetPasswordOf(owner, owner.email))
  await expectDone('the owner logs in', logInByCodeAs(owner, owner.email, draw))
  // That factors became void is a change too, and a withdrawal soon after it would wait for a code.
  await stage.age(userId, factorHours)
}

/** The first bank account is free: the withdrawal is sent at once. */
async function withdrawFirst(owner: Person): Promise<void> {
  const { status, body } = await owner.call('POST', '/payouts/withdraw', {
    ...owner.accounts[0],
    amountUSDC: firstUsdc,
  })
  if (status !== 200 || body['status'] !== 'submitted')
    throw new Error(`the first withdrawal was answered ${status} ${JSON.stringify(body)}`)
}

async function expectDone(what: string, outcome: Promise<string | undefined>): Promise<void> {
  const came = await outcome
  if (came !== done) throw new Error(`${what}: ${came}`)
}
