import test from 'ava'
import { createClient } from '../../helpers/http/client.js'
import { type Person, registerPerson } from '../../helpers/make/creators.js'
import { startApp } from '../../helpers/servers/serve-app.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

interface Banks {
  readonly banks: readonly { readonly code: string; readonly name: string }[]
}
async function registerVerified(): Promise<Person> {
  const person = await registerPerson(world())
  await world().db('users').where({ id: person.user.id }).update({ email_verified_at: new Date() })
  return person
}
const resolve = <Body = { error: string }>({ session }: Person, body: unknown) =>
  world().request<Body>('POST', '/creators/bank-accounts/resolve', { session, body })

test.serial('banks have codes of three to six digits, and the provider is asked once', async (t) => {
  const { session } = await registerPerson(world())
  const read = () => world().request<Banks>('GET', '/creators/banks', { session })
  const pages = await Promise.all(Array.from({ length: 10 }, read))
  const { banks } = pages[0]?.body ?? { banks: [] }
  t.true(banks.every(({ code }) => /^\d{3,6}$/.test(code)))
  t.deepEqual(
    banks.map(({ name }) => name),
    banks.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b, 'en')),
  )
  t.true(banks.some(({ code, name }) => code === '058' && name === 'Guaranty Trust Bank'))
  t.is(world().fiat.fiatpay.calls.of('GET /bank'), 1)
  t.is((await world().request('GET', '/creators/banks')).status, 401)
  const codesOf = async (q: string) =>
    (
      await world().request<Banks>('GET', `/creators/banks?q=${encodeURIComponent(q)}`, { session })
    ).body.banks.map(({ code }) => code)
  t.deepEqual(
    await Promise.all(['gtb', 'UBA', 'opay', ' palm  pay ', '50515', 'no such bank'].map(codesOf)),
    [['058'], ['033'], ['999992'], ['999991'], ['50515'], []],
  )
  t.is((await codesOf('')).length, banks.length)
})

test.serial('resolve returns the name of an account, and 422 for an unknown account', async (t) => {
  const ada = await registerVerified()
  const known = { bankCode: '058', accountNumber: '012-345 6789' }
  t.deepEqual((await resolve(ada, known)).body, { success: true, accountName: 'SANDBOX ACCOUNT' } as never)
  const unknown = await resolve(ada, { ...known, accountNumber: '0000000000' })
  t.deepEqual([unknown.status, unknown.body.error], [422, 'Bank account could not be resolved'])
  t.is((await resolve(ada, { ...known, bankCode: '999992' })).status, 200)
  for (const wrong of [
    {},
    { ...known, bankCode: '58' },
    { ...known, bankCode: '99999' },
    { ...known, accountNumber: '1' },
  ]) {
    const { status, body } = await resolve(ada, wrong)
    t.deepEqual([status, body.error], [400, 'Bank details required'])
  }
  t.is((await world().request('POST', '/creators/bank-accounts/resolve', { body: known })).status, 401)
})

test.serial('14.11 names of accounts need a verified e-mail and have a budget per address', async (t) => {
  const account = { bankCode: '058', accountNumber: '0123456789' }
  const { session } = await registerPerson(world())
  const guarded = await createClient((await startApp(t, { ...world().env, GUARDS: 'recommended' })).url)
  const { status, body } = await guarded('POST', '/creators/bank-accounts/resolve', {
    session,
    body: account,
  })
  t.deepEqual([status, body.error], [403, 'E-mail not verified'])
  const limited = { ...world().env, RATE_LIMIT_FACTOR: '0.05' }
  const request = await createClient((await startApp(t, limited)).url)
  const statuses: number[] = []
  for (let n = 0; n < 4; n++) {
    const { session } = await registerVerified()
    const path = '/creators/bank-accounts/resolve'
    statuses.push((await request('POST', path, { session, body: account })).status)
  }
  t.deepEqual(statuses, [200, 200, 200, 429])
})

test.serial('while the provider is unavailable resolve is 503, and banks are still listed', async (t) => {
  const ada = await registerVerified()
  await world().request('GET', '/creators/banks', { session: ada.session })
  world().fiat.fiatpay.faults.setFault({ accounts: '500' })
  t.teardown(() => world().fiat.fiatpay.faults.reset())
  t.is((await resolve(ada, { bankCode: '058', accountNumber: '0123456789' })).status, 503)
  const another = await createClient((await startApp(t, world().env)).url)
  const { status, body } = await another<Banks>('GET', '/creators/banks', { session: ada.session })
  t.is(status, 200)
  t.true(body.banks.length > 10)
})
