import { randomBytes } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { linkPaths, mailedLink } from '../../src/pages/dashboard/links/mailed-link.js'
import { type Proof, runProtected } from '../../src/pages/dashboard/protect.js'
import {
  bodyOf,
  confirmFault,
  currentProof,
  emptyForm,
  isConfirmed,
  mayLeaveTokens,
  proofWay,
  withoutUsedCodes,
} from '../../src/pages/dashboard/security/owner-proof.js'
import { describeUserAgent } from '../../src/pages/dashboard/security/user-agent.js'
import { passkeyFault, toBytes, toText } from '../../src/pages/dashboard/sign-in/passkeys.js'
import { passwordStrength } from '../../src/pages/dashboard/sign-in/password-strength.js'
import { holdOf, isCancelled } from '../../src/pages/dashboard/withdraw/rules.js'
import { words } from '../../src/pages/i18n/dashboard.js'
import { TippingError } from '../../src/sdk/client/errors.js'

const refusal = (code: string) => new TippingError('text', code, 401)

test('a fresh sign-in is asked for once, and the action is repeated; giving up does nothing', async (t) => {
  const given: Proof[] = []
  const action = async (proof: Proof): Promise<string> => {
    given.push(proof)
    if (given.length === 1) throw refusal('reauthentication_required')
    return 'done'
  }
  t.is(await runProtected(action, async () => ({})), 'done')
  t.deepEqual(given, [{}, {}])
  const never = async (): Promise<void> => {
    throw refusal('reauthentication_required')
  }
  t.like(await t.throwsAsync(runProtected(never, async () => undefined)), { code: 'abandoned' })
  const failing = async (): Promise<void> => {
    throw refusal('account_frozen')
  }
  t.like(await t.throwsAsync(runProtected(failing, async () => t.fail() as never)), {
    code: 'account_frozen',
  })
})

test('a wrong code of the app is asked for again, with its fault', async (t) => {
  const answers: Proof[] = [{ totp: '111111' }, { totp: '222222' }]
  const faults: (string | undefined)[] = []
  const action = async ({ totp }: Proof): Promise<string> => {
    if (totp === undefined) throw refusal('reauthentication_required')
    if (totp === '111111') throw refusal('invalid_code')
    return totp
  }
  const ask = async (fault: string | undefined): Promise<Proof | undefined> => {
    faults.push(fault)
    return answers.shift()
  }
  t.is(await runProtected(action, ask), '222222')
  t.deepEqual(faults, [undefined, 'invalid_code'])
})

test('mailed links are read from the fragment, and every kind has its words', (t) => {
  t.deepEqual(mailedLink('#reset-password=Ab_-9'), { kind: 'reset-password', token: 'Ab_-9' })
  for (const wrong of ['', '#sign-in=abc', '#constructor=abc', '#not-me=', '#not-me=a b', '#register'])
    t.is(mailedLink(wrong), undefined, wrong)
  for (const kind of Object.keys(linkPaths)) {
    t.deepEqual(mailedLink(`#${kind}=t`)?.kind as string, kind)
    t.truthy(words.links[kind as keyof typeof linkPaths].submit)
  }
})

test('the proof of an owner is what was chosen and the account has: password, code or passkey', async (t) => {
  const typed = { way: 'password', text: 'x' } as const
  const byApp = { way: 'code', text: '123456' } as const
  const byPasskey = { way: 'passkey', text: '' } as const
  const all = { hasPassword: true, totp: true, passkeys: 2 }
  const none = { hasPassword: false, totp: false, passkeys: 0 }
  const ask = async () => ({ passkey: 'answer' })
  t.deepEqual(await currentProof(typed, all, 'currentPassword', ask), { currentPassword: 'x' })
  t.deepEqual(await currentProof(typed, all, 'password', ask), { password: 'x' })
  t.deepEqual(await currentProof(byApp, all, 'password', ask), { totp: '123456' })
  t.deepEqual(await currentProof(byPasskey, all, 'password', ask), { passkey: 'answer' })
  t.is(proofWay(byApp, { ...none, hasPassword: true }), 'password')
  t.is(proofWay(typed, { ...none, totp: true }), 'code')
  t.is(
    proofWay(typed, { ...none, passkeys: 1 }),
    'passkey',
    'no field for a recovery code, which never counts',
  )
  t.deepEqual(await currentProof(typed, { ...none, passkeys: 1 }, 'password', ask), { passkey: 'answer' })
  t.deepEqual(await currentProof(typed, none, 'password', ask), {})
})

test('a withdrawal that its creator cancelled is no failure', (t) => {
  t.true(isCancelled({ status: 'failed', failureReason: 'Cancelled by the creator' }))
  t.false(isCancelled({ status: 'failed', failureReason: 'Account closed' }))
  t.false(isCancelled({ status: 'completed', failureReason: null }))
})

test('the hint of a password counts what has to be guessed', (t) => {
  for (const [password, strength] of [
    ['', 'short'],
    ['a1B2c3!', 'short'],
    ['aaaaaaaaaaaaaaaa', 'weak'],
    ['12345678', 'weak'],
    ['abcdefghij', 'weak'],
    ['Password1', 'weak'],
    ['ada.obi1', 'weak'],
    ['four random words', 'fair'],
    ['velvet crag punish jumbo', 'strong'],
    ['xK7#qP2!vB9$w', 'strong'],
  ] as const)
    t.is(passwordStrength(password, 'ada.obi@example.com'), strength, password)
  // More is never weaker.
  const order = ['short', 'weak', 'fair', 'strong']
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), fc.string({ maxLength: 5 }), (password, more) => {
      const before = passwordStrength(password, '')
      return order.indexOf(passwordStrength(password + more, '')) >= order.indexOf(before)
    }),
  )
})

test('sessions are named by browser and system', (t) => {
  for (const [userAgent, name] of [
    [
      'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:131.0) Gecko/20100101 Firefox/131.0',
      'Firefox on Windows',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0',
      'Edge on Windows',
    ],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['', undefined],
    [null, undefined],
  ] as const)
    t.is(describeUserAgent(userAgent), name)
  t.is(describeUserAgent('x'.repeat(500))?.length, 60)
})

test('the bytes of a passkey travel as base64url, and its failures have texts', (t) => {
  for (const length of [0, 1, 2, 3, 32, 77]) {
    const bytes = randomBytes(length)
    t.is(toText(Uint8Array.from(bytes).buffer), bytes.toString('base64url'))
    t.deepEqual([...toBytes(bytes.toString('base64url'))], [...bytes])
  }
  const unknown = words.fault('?')
  for (const [name, code] of [
    ['NotAllowedError', 'passkey_refused'],
    ['AbortError', 'passkey_refused'],
    ['InvalidStateError', 'passkey_known'],
    ['SecurityError', 'passkey_unsupported'],
    ['', 'passkey_unsupported'],
  ] as const) {
    t.is(passkeyFault(name), code)
    t.not(words.fault(code), unknown)
  }
})

test('a held withdrawal says what it waits for, and a wrong code what to do', (t) => {
  t.is(holdOf({ status: 'pending', heldFor: 'confirmation' }), 'confirmation')
  t.is(holdOf({ status: 'pending', heldFor: null }), undefined)
  t.is(holdOf({ status: 'failed', heldFor: 'identity' }), undefined)
  t.is(confirmFault('invalid_code', 'code'), 'withdrawal_code')
  t.is(confirmFault('invalid_code', 'totp'), 'invalid_code')
  t.is(confirmFault('account_locked', 'totp'), 'factor_locked')
})

test('closing the account takes the address, and the proof that counts for this account', async (t) => {
  const ask = async () => ({ passkey: 'answer' })
  const byPassword = { hasPassword: true, totp: false, passkeys: 0 }
  const byApp = { ...byPassword, totp: true }
  const typed = { ...emptyForm(byPassword), typed: ' Ada@Example.com ' }
  t.true(isConfirmed(typed, 'ada@example.com'))
  t.false(isConfirmed({ ...typed, typed: '' }, 'ada@example.com'))
  const password = { ...typed, proof: { way: 'password', text: 'secret' } as const, factor: ' abc ' }
  t.deepEqual(await bodyOf(password, byPassword, ask), { password: 'secret', leaveTokens: false })
  t.deepEqual(await bodyOf(password, byApp, ask), { password: 'secret', totp: 'abc', leaveTokens: false })
  t.is(emptyForm(byApp).proof.way, 'code', 'a factor is enough where there is one')
  t.deepEqual(await bodyOf(emptyForm({ ...byPassword, passkeys: 1 }), { ...byPassword, passkeys: 1 }, ask), {
    passkey: 'answer',
    leaveTokens: false,
  })
  const code = { ...emptyForm(byApp), proof: { way: 'code', text: '123456' } as const }
  t.is(withoutUsedCodes(code).proof.text, '', 'a code works once')
  t.is(withoutUsedCodes(password).proof.text, 'secret')
  t.deepEqual([byPassword, byApp, { ...byPassword, hasPassword: false }].map(mayLeaveTokens), [
    false,
    true,
    true,
  ])
})
