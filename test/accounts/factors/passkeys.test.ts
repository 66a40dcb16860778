import { randomBytes } from 'node:crypto'
import test from 'ava'
import { checkFactor } from '../../../src/accounts/factors/check-factor.js'
import { cautionHours } from '../../../src/accounts/protection.js'
import { DomainError } from '../../../src/kernel/errors.js'
import { hashSecret } from '../../../src/kernel/ids.js'
import { type EnteredBody, type Person, registerPerson } from '../../helpers/make/creators.js'
import { Authenticator, type CreationOptions } from '../../helpers/make/sign-in/authenticator.js'
import {
  addPasskey,
  addTotp,
  ageFactors,
  ageSessions,
  nextCode,
  passkeyFactor,
  requestOptions,
} from '../../helpers/make/sign-in/factors.js'
import { publicUrl, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test)

const invalid = '400 Invalid or expired passkey'
const wrong = '400 Invalid or expired code'

interface Passkeys {
  readonly passkeys: { id: string; label: string; createdAt: string; lastUsedAt: string | null }[]
}

async function call(method: string, path: string, session: string, body: unknown = {}): Promise<string> {
  const { status, body: answer } = await world().request(method, path, { session, body })
  return status === 200 ? '200' : `${status} ${answer.error}`
}

async function creationOptions({ session }: Pick<Person, 'session'>): Promise<CreationOptions> {
  const answer = await world().request<{ options: CreationOptions }>('POST', '/auth/passkeys/options', {
    session,
    body: {},
  })
  return answer.body.options
}

async function logIn(response: unknown): Promise<string> {
  const { status, body } = await world().request('POST', '/auth/passkeys/login', { body: { response } })
  return status === 200 ? '200' : `${status} ${body.error}`
}

async function check({ user }: Person, passkey: unknown, olderThanHours?: number): Promise<string> {
  try {
    const rule = olderThanHours === undefined ? {} : { olderThanHours }
    await checkFactor(world().services, user.id, { passkey }, rule)
    return 'counts'
  } catch (error) {
    if (error instanceof DomainError) return error.code
    throw error
  }
}

test('options are what browsers parse: a discoverable key, user verification, no attestation', async (t) => {
  const ada = await registerPerson(world())
  const { device } = await addPasskey(world(), ada)
  const options = await creationOptions(ada)
  const { challenge, ...fixed } = options as CreationOptions & Record<string, unknown>
  t.is(Buffer.from(challenge, 'base64url').length, 32)
  t.deepEqual(fixed, {
    rp: { id: 'tips.example', name: 'Tips' },
    user: {
      id: Buffer.from(ada.user.id.replaceAll('-', ''), 'hex').toString('base64url'),
      name: ada.email,
      displayName: ada.user.name,
    },
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: 'public-key' })),
    timeout: 300_000,
    excludeCredentials: [
      { id: device.credentialId.toString('base64url'), type: 'public-key', transports: ['internal'] },
    ],
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
    extensions: { credProps: true },
    hints: [],
  } as unknown as typeof fixed)
  const anyone = (await requestOptions(world())) as unknown as Record<string, unknown>
  t.deepEqual(
    [anyone['rpId'], anyone['userVerification'], anyone['allowCredentials'] ?? []],
    ['tips.example', 'required', []],
    'names no account',
  )
})

test('a passkey alone signs in, with cookies as a mailed code does, and is listed', async (t) => {
  const ada = await registerPerson(world())
  const { device, id, recoveryCodes } = await addPasskey(world(), ada)
  t.is(recoveryCodes.length, 10, 'it is the first factor')
  const { email, password } = ada
  const withPassword = await world().request('POST', '/auth/login', { body: { email, password } })
  t.is(withPassword.body.code, 'second_factor_required')

  const response = device.get(await requestOptions(world()))
  const entered = await world().request<EnteredBody>('POST', '/auth/passkeys/login', { body: { response } })
  t.is(entered.status, 200)
  t.is(entered.body.user.id, ada.user.id)
  t.is(entered.body.user.emailVerifiedAt, null, 'a passkey proves no mailbox')
  const cookies = entered.headers['set-cookie']?.map((cookie) => cookie.split('=', 1)[0])
  t.deepEqual(cookies, ['session', 'device'])
  const { session } = entered
  const { body } = await world().request<Passkeys>('GET', '/auth/passkeys', { session })
  const [only] = body.passkeys
  t.like(only, { id, label: 'Phone' })
  t.truthy(only?.lastUsedAt)

  await addPasskey(world(), { session: session ?? '' })
  const second = await world().request<Passkeys>('GET', '/auth/passkeys', { session })
  t.is(second.body.passkeys.length, 2)
  const bob = await registerPerson(world())
  const none = await world().request<Passkeys>('GET', '/auth/passkeys', { session: bob.session })
  t.deepEqual(none.body.passkeys, [], 'of others nothing is seen')
})

test('an answer is refused that was sent before, is too old, or was made for something else', async (t) => {
  const [ada, bob] = [await registerPerson(world()), await registerPerson(world())]
  const { device } = await addPasskey(world(), ada)
  const { device: bobs } = await addPasskey(world(), bob)

  const once = device.get(await requestOptions(world()))
  t.is(await logIn(once), '200')
  t.is(await logIn(once), invalid, 'sent before')
  const raced = device.get(await requestOptions(world()))
  const answers = await Promise.all(Array.from({ length: 10 }, () => logIn(raced)))
  t.is(answers.filter((one) => one === '200').length, 1)

  const options = await requestOptions(world())
  await world()
    .db('one_time_secrets')
    .where({ hash: hashSecret(options.challenge) })
    .update({ expires_at: new Date(0) })
  t.is(await logIn(device.get(options)), invalid, 'too old')

  const toConfirm = await requestOptions(world(), ada.session)
  t.is(await logIn(device.get(toConfirm)), invalid, 'made for a confirmation')
  t.is(await check(ada, device.get(await requestOptions(world()))), 'invalid_code', 'made for a sign-in')
  t.is(await check(ada, device.get(toConfirm)), 'counts', 'its own purpose')
  t.is(await check(ada, device.get(toConfirm)), 'invalid_code')
  const forBob = await requestOptions(world(), bob.session)
  t.is(await check(ada, device.get(forBob)), 'invalid_code', 'another account’s challenge')
  const forAda = await requestOptions(world(), ada.session)
  t.is(await check(ada, bobs.get(forAda)), 'invalid_code', 'another account’s passkey')
  const invented = { challenge: randomBytes(32).toString('base64url'), rpId: 'tips.example' }
  t.is(await logIn(device.get(invented)), invalid)
})

test('an answer is refused of another site, without user verification, with another’s key, or with a broken form', async (t) => {
  const [ada, bob] = [await registerPerson(world()), await registerPerson(world())]
  const { device } = await addPasskey(world(), ada)
  const answer = async (differences: Parameters<Authenticator['get']>[1]) =>
    logIn(device.get(await requestOptions(world()), differences))
  t.is(await answer({ origin: 'https://tips.example.evil' }), invalid)
  t.is(await answer({ origin: publicUrl.replace('http:', 'https:') }), invalid)
  t.is(await answer({ rpId: 'evil.example' }), invalid)
  t.is(await answer({ userVerified: false }), invalid)
  const handle = Buffer.from(bob.user.id.replaceAll('-', ''), 'hex').toString('base64url')
  t.is(await answer({ userHandle: handle }), invalid)
  const forged = new Authenticator(device.credentialId)
  forged.counter = 100
  t.is(await logIn(forged.get(await requestOptions(world()))), invalid, 'another key')
  t.is(await logIn(new Authenticator().get(await requestOptions(world()))), invalid, 'unknown')

  const good = device.get(await requestOptions(world()))
  const broken: unknown[] = [
    undefined,
    7,
    {},
    { ...good, type: 'password' },
    { ...good, id: `${good.id}=` },
    { ...good, rawId: 'AAAA' },
    { ...good, response: { ...good.response, clientDataJSON: 'e30' } },
    { ...good, response: { ...good.response, clientDataJSON: Buffer.from('null').toString('base64url') } },
    { ...good, response: { ...good.response, signature: '' } },
  ]
  for (const one of broken) t.is(await logIn(one), invalid, JSON.stringify(one))
  const cut = device.get(await requestOptions(world()))
  const authenticatorData = cut.response.authenticatorData.slice(0, 20)
  t.is(await logIn({ ...cut, response: { ...cut.response, authenticatorData } }), invalid)
  t.is(await answer({}), '200', 'the passkey itself still works')
})

test('a copied passkey is refused once its counter is behind, and devices without a counter work', async (t) => {
  const ada = await registerPerson(world())
  const { device } = await addPasskey(world(), ada)
  t.is(await logIn(device.get(await requestOptions(world()))), '200')
  const copy = device.copy()
  t.is(await logIn(device.get(await requestOptions(world()))), '200')
  t.is(await logIn(copy.get(await requestOptions(world()))), invalid, 'the same count a second time')
  t.is(await check(ada, device.get(await requestOptions(world(), ada.session))), 'counts')

  const bob = await registerPerson(world())
  const { device: synced } = await addPasskey(world(), bob)
  for (let n = 0; n < 2; n++) {
    synced.counter = -1
    t.is(await logIn(synced.get(await requestOptions(world()))), '200', 'always 0')
  }
})

test('a passkey is added by its account, once, with user verification, for this site', async (t) => {
  const [ada, bob] = [await registerPerson(world()), await registerPerson(world())]
  const { device } = await addPasskey(world(), ada)
  const add = async (person: Person, response: unknown, label?: unknown) =>
    call('POST', '/auth/passkeys', person.session, { response, label })
  t.is(await add(ada, device.create(await creationOptions(ada))), '409 Passkey already added')
  t.is(await add(bob, device.create(await creationOptions(bob))), '409 Passkey already added')
  t.is(await logIn(device.get(await requestOptions(world()))), invalid, 'it now says that it is of the other')

  const fresh = () => new Authenticator()
  t.is(await add(bob, fresh().create(await creationOptions(ada))), invalid, 'another account’s options')
  const response = fresh().create(await creationOptions(bob))
  t.is(await add(bob, response), '200')
  t.is(await add(bob, response), invalid, 'sent before')
  const options = await creationOptions(bob)
  const { rp, user } = options
  const { challenge } = await requestOptions(world(), bob.session)
  t.is(await add(bob, fresh().create({ challenge, rp, user })), invalid, 'made for a confirmation')
  t.is(await add(bob, fresh().create(options, { userVerified: false })), invalid)
  t.is(await add(bob, fresh().create(options)), invalid, 'a challenge has one attempt')
  t.is(
    await add(bob, fresh().create(await creationOptions(bob), { origin: 'https://evil.example' })),
    invalid,
  )
  t.is(await add(bob, fresh().create(await creationOptions(bob), { rpId: 'evil.example' })), invalid)
  t.is(await add(bob, fresh().create(await creationOptions(bob)), 'x'.repeat(101)), '400 Invalid label')
  t.is(await add(bob, undefined), invalid)
  const nul = fresh().create(await creationOptions(bob))
  nul.response.transports = ['\0']
  t.is(await add(bob, nul), invalid)

  const made = Array.from({ length: 19 }, () => ({
    user_id: bob.user.id,
    credential_id: randomBytes(16),
    public_key: randomBytes(77),
    label: 'x',
  }))
  await world().db('passkeys').insert(made)
  t.is(await add(bob, fresh().create(await creationOptions(bob))), '400 Too many passkeys')
})

test('a passkey younger than 72 hours confirms no money, an older one does', async (t) => {
  const ada = await registerPerson(world())
  const { device } = await addPasskey(world(), ada)
  const answer = () => passkeyFactor(world(), ada.session, device)
  t.is(await check(ada, await answer(), cautionHours), 'invalid_code')
  t.is(await check(ada, await answer()), 'counts')
  await ageFactors(world(), ada, cautionHours)
  t.is(await check(ada, await answer(), cautionHours), 'counts')
})

test('a passkey removes itself and what is not older, and the last factor takes the recovery codes along', async (t) => {
  const [ada, bob] = [await registerPerson(world()), await registerPerson(world())]
  const { session } = ada
  t.is(await call('POST', '/auth/passkeys/confirm/options', session), '404 Second factor not found')
  const first = await addPasskey(world(), ada)
  const other = await addPasskey(world(), bob)
  await ageFactors(world(), ada, 1)
  const young = await addPasskey(world(), ada)
  const remove = async (id: string, device?: Authenticator) =>
    call(
      'DELETE',
      `/auth/passkeys/${id}`,
      session,
      device === undefined ? {} : { passkey: await passkeyFactor(world(), session, device) },
    )
  t.is(await remove(other.id, first.device), '404 Second factor not found', 'another account’s')
  t.is(await remove('x', first.device), '404 Second factor not found')
  t.is(await remove(first.id), '401 Second factor required')
  t.is(await remove(first.id, young.device), wrong, 'an hour older')
  t.is(await remove(young.id, first.device), '200')
  t.is(await check(ada, young.device.get(await requestOptions(world(), session))), 'invalid_code', 'removed')
  const { secret } = await addTotp(world(), ada)
  const totp = await nextCode(world(), ada, secret)
  t.is(await call('DELETE', `/auth/passkeys/${first.id}`, session, { totp }), wrong)
  t.is(await remove(first.id, first.device), '200')
  const codes = () => world().db('recovery_codes').where({ user_id: ada.user.id })
  t.is((await codes()).length, 10, 'the app is left')
  const last = { totp: await nextCode(world(), ada, secret) }
  t.is(await call('DELETE', '/auth/totp', session, last), '200')
  t.is((await codes()).length, 0)
})

test('an old session adds a passkey with a factor only', async (t) => {
  const ada = await registerPerson(world())
  const { device } = await addPasskey(world(), ada)
  await ageSessions(world(), ada)
  const { session } = ada
  t.is(await call('POST', '/auth/passkeys/options', session), '401 Reauthentication required')
  const passkey = await passkeyFactor(world(), session, device)
  t.is(await call('POST', '/auth/passkeys/options', session, { passkey }), '200')
  t.is(await call('POST', '/auth/passkeys/options', session, { passkey }), wrong, 'answered before')
})

test('an account with a passkey and no password changes password and e-mail with the passkey', async (t) => {
  const ada = await registerPerson(world())
  const { device, recoveryCodes } = await addPasskey(world(), ada)
  await world().db('users').where({ id: ada.user.id }).update({ password_hash: null })
  const newPassword = 'purple kettle by the sea'
  const email = `new.${ada.email}`
  const setPassword = async (proof: object) =>
    world().request<{ code: string; details: { problem: string }[] }>('POST', '/auth/password', {
      session: ada.session,
      body: { newPassword, ...proof },
    })
  const fresh = async () => ({ passkey: await passkeyFactor(world(), ada.session, device) })
  t.is((await setPassword({})).body.code, 'second_factor_required')
  const young = await setPassword(await fresh())
  t.is(young.body.code, 'invalid_code')
  t.regex(young.body.details[0]?.problem ?? '', /the password or the mailed code where the request takes one/)
  t.is((await setPassword({ passkey: {} })).body.code, 'invalid_code')
  await ageFactors(world(), ada, cautionHours)
  t.is((await setPassword({ totp: recoveryCodes[0] })).body.code, 'invalid_code', 'of unknown age')
  t.is(await call('POST', '/auth/email', ada.session, { email, ...(await fresh()) }), '200')
  t.is((await setPassword(await fresh())).status, 200)
})
