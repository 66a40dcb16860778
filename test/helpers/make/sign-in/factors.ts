import { codeAt, stepAt } from '../../../../src/accounts/factors/totp.js'
import type { World } from '../../servers/world.js'
import type { Person } from '../creators.js'
import { Authenticator, type CreationOptions, type RequestOptions } from './authenticator.js'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** An authenticator app that is in force. */
export interface TestTotp {
  readonly secret: Buffer
  readonly recoveryCodes: readonly string[]
}

/** Reads the base32 that an app is given. */
export function decodeBase32(text: string): Buffer {
  const bits = [...text].map((char) => alphabet.indexOf(char).toString(2).padStart(5, '0')).join('')
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
}

/** The app’s code now. */
export function totpCode(secret: Uint8Array): string {
  return codeAt(secret, stepAt(Date.now() / 1000))
}

/** The app's code now, after a wait that makes it a new one: the service forgets which step was used last. */
export async function nextCode({ db }: World, { user }: Person, secret: Uint8Array): Promise<string> {
  await db('totp_factors').where({ user_id: user.id }).update({ last_step: null })
  return totpCode(secret)
}

/** Sets up an authenticator app with this session, which must be young. */
export async function addTotp(world: World, person: Person): Promise<TestTotp> {
  const { session } = person
  const started = await world.request<{ secret: string }>('POST', '/auth/totp', { session, body: {} })
  if (started.status !== 200) throw new Error(`totp answered ${started.status}`)
  const secret = decodeBase32(started.body.secret)
  const body = { code: totpCode(secret) }
  const path = '/auth/totp/confirm'
  const confirmed = await world.request<{ recoveryCodes?: string[] }>('POST', path, { session, body })
  if (confirmed.status !== 200) throw new Error(`totp/confirm answered ${confirmed.status}`)
  return { secret, recoveryCodes: confirmed.body.recoveryCodes ?? [] }
}

/** A passkey that was added to an account. */
export interface TestPasskey {
  readonly id: string
  readonly device: Authenticator
  readonly recoveryCodes: readonly string[]
}

/** Adds a passkey with this session, which must be young. */
export async function addPasskey(
  world: World,
  { session }: Pick<Person, 'session'>,
  device = new Authenticator(),
): Promise<TestPasskey> {
  const options = await world.request<{ options: CreationOptions }>('POST', '/auth/passkeys/options', {
    session,
    body: {},
  })
  if (options.status !== 200) throw new Error(`passkeys/options answered ${options.status}`)
  const body = { response: device.create(options.body.options), label: 'Phone' }
  const added = await world.request<{ passkey: { id: string }; recoveryCodes?: string[] }>(
    'POST',
    '/auth/passkeys',
    { session, body },
  )
  if (added.status !== 200) throw new Error(`passkeys answered ${added.status}`)
  return { id: added.body.passkey.id, device, recoveryCodes: added.body.recoveryCodes ?? [] }
}

/** Options for a sign-in, or with a session for a confirmation. */
export async function requestOptions(world: World, session?: string): Promise<RequestOptions> {
  const path = session === undefined ? '/auth/passkeys/login/options' : '/auth/passkeys/confirm/options'
  const answer = await world.request<{ options: RequestOptions }>('POST', path, { session, body: {} })
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
  return answer.body.options
}

/** The answer of a passkey that confirms something in this session. */
export async function passkeyFactor(world: World, session: string, device: Authenticator) {
  return device.get(await requestOptions(world, session))
}

/** Makes every factor of an account so many hours older. */
export async function ageFactors({ db }: World, { user }: Person, hours: number): Promise<void> {
  const older = (column: string) => db.raw("?? - ? * interval '1 hour'", [column, hours])
  await db('totp_factors')
    .where({ user_id: user.id })
    .update({ created_at: older('created_at'), confirmed_at: older('confirmed_at') })
  await db('passkeys')
    .where({ user_id: user.id })
    .update({ created_at: older('created_at') })
}

/** Makes a person's sessions older than a change of factors accepts. */
export async function ageSessions({ db }: World, { user }: Person, minutes = 16): Promise<void> {
  await db('sessions')
    .where({ user_id: user.id })
    .update({ created_at: db.raw("created_at - ? * interval '1 minute'", [minutes]) })
}
