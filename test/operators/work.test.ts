import test from 'ava'
import { registerPerson } from '../helpers/make/creators.js'
import { runOpsScript, type ScriptRun } from '../helpers/run-ops-script.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

const work = (...args: string[]): Promise<ScriptRun> => runOpsScript(world(), 'work', ...args)

/** Makes a wallet whose provisioning failed and that is due in an hour. Returns the key of its row. */
async function failedWallet(): Promise<string> {
  const { db } = world()
  const { user } = await registerPerson(world())
  const later = db.raw(`clock_timestamp() + interval '1 hour'`)
  await db('wallets')
    .where({ user_id: user.id })
    .update({ due_at: later, attempts: 2, last_error: 'vault unavailable' })
  return user.id
}

const dueAt = async (row: string): Promise<Date> =>
  (await world().db('wallets').where({ user_id: row }).first()).due_at

test('work list shows the counts of every worker, and with --kind its rows', async (t) => {
  const row = await failedWallet()
  const all = await work('list')
  t.is(all.code, 0)
  t.regex(all.out, /^provisioner +wallets +\d+ due.*; [1-9]\d* failing; [1-9]\d* later$/m)
  const { out } = await work('list', '--kind', 'provisioner', '--json')
  const { rows } = JSON.parse(out) as { rows: { id: string; lastError: string; attempts: number }[] }
  t.like(
    rows.find(({ id }) => id === row),
    { lastError: 'vault unavailable', attempts: 2 },
  )
})

test('work retry makes a row due only with --apply, and writes it to the audit log', async (t) => {
  const row = await failedWallet()
  const plan = await work('retry', row, '--kind', 'provisioner')
  t.deepEqual([plan.code, plan.out], [0, `provisioner ${row}: would be due now; add --apply to do it\n`])
  t.true((await dueAt(row)) > new Date())
  t.is((await work('retry', row, '--kind', 'provisioner', '--apply', '--as', 'olu')).code, 0)
  t.true((await dueAt(row)) <= new Date())
  const [entry] = await world()
    .db('audit_log')
    .where({ subject: `provisioner:${row}` })
  t.like(entry, { actor: 'olu', action: 'work retry' })
})

test('work retry refuses a row without work, a withdrawal and wrong arguments', async (t) => {
  t.is((await work('retry', 'nobody', '--kind', 'mailer', '--apply')).code, 1)
  for (const args of [
    ['retry', 'x', '--kind', 'payouts', '--apply'],
    ['retry', 'x'],
    ['list', '--kind', 'tips'],
    ['list', '--kind', 'mailer', '--limit', '0'],
    [],
    ['list', 'x'],
    ['list', 'x', 'y'],
    ['lsit'],
  ])
    t.is((await work(...args)).code, 2, args.join(' '))
  t.is((await work('--help')).code, 0)
})
