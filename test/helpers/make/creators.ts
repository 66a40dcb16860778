import { randomBytes } from 'node:crypto'
import { createProvisionerBatch } from '../../../src/accounts/wallets/provision-wallets.js'
import type { CreatorSettings } from '../../../src/creators/settings.js'
import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import { createConfiguredVault } from '../../../src/providers/vault/configured-vault.js'
import { as } from '../servers/roles.js'
import { runBatch, type World } from '../servers/world.js'
import { until } from '../until.js'

/** The user object of register and login. */
export interface UserBody {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly full_name: string
  readonly first_name: string | null
  readonly roles: readonly string[]
  readonly walletAddress: string | null
  readonly walletPublicKey: string | null
  readonly emailVerifiedAt: string | null
  readonly onboardingComplete: boolean
  readonly onboarding_complete: boolean
  readonly solDomain: string | null
  readonly twitterHandle: string | null
  readonly discordHandle: string | null
}

/** The body that opens a session. */
export interface EnteredBody {
  readonly success: true
  readonly user: UserBody
  readonly auth: { readonly accessToken: string; readonly tokenType: 'Bearer'; readonly expiresAt: string }
}

/** A person with an account and an open session. */
export interface Person {
  readonly email: string
  readonly password: string
  readonly user: UserBody
  readonly session: string
  readonly accessToken: string
}

/** A new unique e-mail address. */
export function freshEmail(): string {
  return `${randomBytes(8).toString('hex')}@example.com`
}

/** As if the person had read a mail to the own address. */
export async function proveEmailOf({ db }: Pick<World, 'db'>, { user }: Pick<Person, 'user'>): Promise<void> {
  await db('users').where({ id: user.id }).update({ email_verified_at: new Date() })
}

/** Registers a new person through the API. */
export async function registerPerson(
  { request }: World,
  name = 'Ada Lovelace',
  email = freshEmail(),
): Promise<Person> {
  const password = `pass-${randomBytes(8).toString('hex')}`
  const register = () => request<EnteredBody>('POST', '/auth/register', { body: { email, password, name } })
  let answer = await register()
  // A loaded machine may be too slow for one of many at the same time.
  for (let tries = 1; answer.status === 503 && tries < 5; tries++) answer = await register()
  if (answer.status !== 200 || answer.session === undefined)
    throw new Error(`register answered ${answer.status} ${JSON.stringify(answer.body)}`)
  const { user, auth } = answer.body
  return { email, password, user, session: answer.session, accessToken: auth.accessToken }
}

/** Logs in with the password, as another browser does. */
export function logIn({ request }: World, { email, password }: Pick<Person, 'email' | 'password'>) {
  return request<EnteredBody>('POST', '/auth/login', { body: { email, password } })
}

/** What the database has of a person. */
export function userRow({ db }: Pick<World, 'db'>, { user }: Pick<Person, 'user'>) {
  return db('users').where({ id: user.id }).first()
}

/** A registered person whose wallet is provisioned. */
export interface TestCreator extends Person {
  readonly wallet: string
}

/** Registers a creator, provisions the wallet and stores the settings. */
export async function registerCreator(
  world: World,
  settings: Partial<CreatorSettings> = {},
  email = freshEmail(),
): Promise<TestCreator> {
  const person = await registerPerson(world, undefined, email)
  const wallet = await walletOf(world, person.user.id)
  await world
    .db('users')
    .where({ id: person.user.id })
    .update({ settings: JSON.stringify(settings) })
  return { ...person, wallet }
}

/** Waits for the wallet: the batch of a concurrent test may have taken the row. */
async function walletOf(world: World, userId: string): Promise<string> {
  let wallet: string | null = null
  await until('the wallet is provisioned', async () => {
    await runBatch(provisionerBatch(world))
    wallet = (await world.db('wallets').where({ user_id: userId }).first()).public_key
    return wallet !== null
  })
  return wallet ?? ''
}

/** The provisioner's batch with this world's key. */
export function provisionerBatch({ services, env }: World): Batch {
  const vault = createConfiguredVault(Buffer.from(env['WALLET_KEK'] ?? '', 'base64'))
  return createProvisionerBatch({ ...as('provisioner', services), vault })
}
