import test from 'ava'
import { linkPaths, mailedLink } from '../../src/pages/dashboard/links/mailed-link.js'
import { type Proof, runProtected } from '../../src/pages/dashboard/protect.js'
import {
  bodyOf,
  currentProof,
  emptyForm,
  isConfirmed,
  mayLeaveTokens,
  proofWay,
  withoutUsedCodes,
} from '../../src/pages/dashboard/security/owner-proof.js'
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
