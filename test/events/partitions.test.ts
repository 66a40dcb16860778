import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Knex } from 'knex'
import { forgetWords } from '../../src/events/forget-words.js'
import { forgetEvents, readEvents } from '../../src/events/read-events.js'
import { listOpenCases } from '../../src/operators/open-cases.js'
import { listPartitions, makePartitions } from '../../src/platform/database/partitions.js'
import { closeAccount } from '../../src/privacy/close-account.js'
import { hideWords } from '../../src/tips/hide-words.js'
import { fanOut, readDuePage } from '../../src/webhooks/endpoint-queue.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { registerCreator, registerPerson } from '../helpers/make/creators.js'
import { createWebhook, recordEvents } from '../helpers/make/webhooks.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { as } from '../helpers/servers/roles.js'
import { localTest, publicUrl, useWorld } from '../helpers/servers/world.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { env: localTest })

/** The month that is so many months from now, and its partition. */
function month(offset: number): { readonly name: string; readonly time: Date } {
  const now = new Date()
  const time = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1))
  return { name: `events_${time.toISOString().slice(0, 7).replace('-', '_')}`, time }
}

/** A creator with one event at each of these times, in this order. */
async function creatorWithEvents(times: readonly Date[]): Promise<string> {
  const { user } = await registerPerson(world())
  await addEvents(user.id, times)
  return user.id
}

async function addEvents(userId: string, times: readonly Date[], subject = 'subject'): Promise<void> {
  const rows = times.map((time, index) => ({
    user_id: userId,
    sequence: index + 1,
    type: 'ping',
    subject,
    data: JSON.stringify({ text: `"quoted", ${index}\nsecond line ✓ \\`, empty: '' }),
    traceparent: index % 2 === 0 ? null : '',
    recorded_at: time,
  }))
  await world().db('events').insert(rows)
  await world()
    .db('event_counters')
    .insert({
      user_id: userId,
      last_sequence: rows.length,
      last_at: times.at(-1),
      last_before_month: rows.length - 1,
    })
}

/** An expression for each event of these creators, in the order of their numbers. */
async function readEach(expression: string, ...userIds: readonly string[]): Promise<string[]> {
  const { rows } = await world().db.raw<{ rows: { value: string }[] }>(
    `select ${expression} as value from events e where user_id = any(?::uuid[]) order by user_id, sequence`,
    [[...userIds]],
  )
  return rows.map(({ value }) => value)
}
/** Where their events lie. */
const placesOf = (userId: string) => readEach(`replace(tableoid::regclass::text, 'partitions.', '')`, userId)
const dump = (...userIds: readonly string[]) => readEach('e::text', ...userIds)

const faults = async () => {
  const cases = await listOpenCases(as('clock', world().services).db)
  return cases.find(({ id }) => id === 'partitions')?.count
}
async function isLockAwaited(): Promise<boolean> {
  const { rows } = await world().db.raw(
    `select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`,
  )
  return rows.length > 0
}
const archive = (...args: readonly string[]) => runOpsScript(world(), 'archive', ...args)
const make = () => makePartitions(as('clock', world().services).db)

test.serial(
  'the clock makes three months, and moves what came before its month had a partition',
  async (t) => {
    const ahead = [0, 1, 2].map((offset) => month(offset))
    const names = async () => (await listPartitions(world().db)).map(({ name }) => name)
    t.deepEqual(
      await names(),
      ahead.map(({ name }) => name),
      'npm run migrate made them',
    )
    t.deepEqual([await make(), await faults()], [0, 0])
    await world().db.raw('drop table partitions.??', [month(1).name])
    t.is(await faults(), 1)
    const months = [-30, -2, -1, 0, 1, 2]
    const userId = await creatorWithEvents(months.map((offset) => month(offset).time))
    const late = 'events_default'
    t.deepEqual(await placesOf(userId), [late, late, late, month(0).name, late, month(2).name])
    t.is(await faults(), 2)
    const { code, out } = await archive('list')
    t.is(code, 4)
    t.regex(out, new RegExp(`^${month(1).name}  MISSING\nevents_default  HAS ROWS$`, 'm'))
    t.is(await make(), 4, 'three that are over, and next month')
    t.deepEqual(
      await placesOf(userId),
      months.map((offset) => month(offset).name),
    )
    t.is(await faults(), 0)
    t.deepEqual(
      (await readEvents(world().services.db, userId, { after: 0, types: [] })).length,
      months.length,
    )
    for (const edge of [-1, 0]) {
      const other = await creatorWithEvents([new Date(month(1).time.getTime() + edge)])
      t.deepEqual(await placesOf(other), [month(edge + 1).name], 'the last and the first millisecond')
    }
  },
)

/** The nodes of a plan that read rows, and those of them that were executed. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Index Cond'?: string
  readonly 'Relation Name'?: string
  readonly 'Actual Loops': number
  readonly Plans?: readonly PlanNode[]
}
const scansOf = (node: PlanNode): PlanNode[] => [
  ...('Relation Name' in node ? [node] : []),
  ...(node.Plans ?? []).flatMap(scansOf),
]

test.serial(
  'what streams, polls and dispatchers read uses an index, and of this month only its partition',
  async (t) => {
    const person = await registerPerson(world())
    const { id } = person.user
    await addEvents(id, [month(-1).time])
    const { webhook } = await createWebhook(world(), person.session, { url: 'http://127.0.0.1:1' })
    await recordEvents(world(), id, 3)
    await make()
    const trx: Knex.Transaction = await world().db.transaction()
    await trx.raw('set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan')
    let conditions: string[] = []
    async function executedBy(name: string, args: string): Promise<string[]> {
      const { rows } = await trx.raw(`explain (analyze, format json) execute "${name}"${args}`)
      const scans = scansOf(rows[0]['QUERY PLAN'][0].Plan).filter((scan) =>
        /^events/.test(scan['Relation Name'] ?? ''),
      )
      conditions = scans.map((scan) => scan['Index Cond'] ?? '')
      t.deepEqual(
        scans.filter((scan) => scan['Node Type'] === 'Seq Scan'),
        [],
        name,
      )
      return [
        ...new Set(
          scans.filter((scan) => scan['Actual Loops'] > 0).map((scan) => scan['Relation Name'] ?? ''),
        ),
      ].sort()
    }
    try {
      t.is((await readEvents(trx, id, { after: 1, types: [] })).length, 4)
      const thisMonth = `events.read ${month(0).time.toISOString().slice(0, 7)}`
      t.deepEqual(await executedBy(thisMonth, `('{${id}}', '{1}', '{}', 100)`), [month(0).name])
      t.true(
        conditions.every((condition) => /sequence <= .*10000/.test(condition)),
        conditions.join('; '),
      )
      t.is((await readEvents(trx, id, { after: 0, types: [] })).length, 5)
      t.true((await executedBy('events.read-all', `('${id}', 0, '{}', 100, 1)`)).includes(month(-1).name))
      t.is(await fanOut(trx, null), 1)
      t.is((await readDuePage(trx, webhook.id)).length, 4)
      t.deepEqual(await executedBy('webhooks.page', `('${webhook.id}')`), [month(0).name])
      await trx('webhook_endpoints').where({ id: webhook.id }).update({ cursor: 1 })
      await executedBy('webhooks.fan-out-all', '')
      await forgetWords(trx, { userId: id, subjects: ['x'], name: 'x' })
      await executedBy('events.forget-words', `('${id}', '{x}', 'x')`)
      await forgetEvents(trx, id)
      await executedBy('events.forget', `('${id}')`)
    } finally {
      await trx.rollback()
    }
  },
)

test.serial(
  'a month goes to a file and comes back with the same rows, while events are recorded',
  async (t) => {
    const folder = temporaryFolder(t)
    const { name, time } = month(-5)
    const one = await creatorWithEvents(
      Array.from({ length: 2500 }, (_, ms) => new Date(time.getTime() + ms)),
    )
    const two = await creatorWithEvents([time, month(0).time])
    await make()
    const before = await dump(one, two)
    const ordered = ['--month', name, '--folder', folder, '--apply', '--reason', 'ticket 7']

    for (const [args, code, text] of [
      [['export', '--month', name], 2, /--folder needs a folder/],
      [['export', '--folder', folder, '--month', 'tips_2026_01'], 1, /is no month of a table/],
      [['export', '--folder', folder, '--month', month(0).name], 1, /has not been over for 1 days/],
      [
        ['export', '--folder', folder, '--month', month(-1).name, '--detach'],
        1,
        /has not been over for 31 days/,
      ],
      [['export', ...ordered, '--detach'], 3, new RegExp(`archive needs --confirm=${name}`)],
      [['attach', '--folder', folder, '--month', month(-60).name], 1, /there is no .*json/],
    ] as const) {
      const run = await archive(...args)
      t.is(run.code, code, run.err)
      t.regex(run.err, text)
    }
    const plan = await archive('export', '--month', name, '--folder', folder, '--drop')
    t.is(plan.out, `${name}: not exported and deleted yet; add --apply to do it\n`)

    const writer = await world().db.transaction()
    await writer('events').insert({
      user_id: two,
      sequence: 3,
      type: 'ping',
      subject: 'open',
      data: '{}',
      recorded_at: new Date(),
    })
    const detaching = archive('export', ...ordered, '--detach', '--confirm', name)
    await until('it waits for who writes', isLockAwaited)
    const other = await creatorWithEvents([month(0).time])
    for (let n = 0; n < 5; n++) await recordEvents(world(), other, 1)
    await writer.commit()
    const detached = await detaching
    t.deepEqual([detached.code, detached.err], [0, ''])
    t.regex(detached.out, new RegExp(`^${name}: exported and detached, 2501 rows, SHA-256 [0-9a-f]{64}\n$`))
    t.is((await dump(one)).length, 0)
    t.is((await dump(two, other)).length, 8, 'what was written meanwhile is there')
    t.regex((await archive('list')).out, new RegExp(`^${name}  2501 rows  \\d+ bytes  detached$`, 'm'))

    const dropped = await archive('export', ...ordered, '--drop', '--confirm', name)
    t.is(dropped.code, 0, dropped.err)
    t.false((await archive('list')).out.includes(name))
    const manifestFile = join(folder, `${name}.json`)
    const manifest = readFileSync(manifestFile, 'utf8')
    writeFileSync(manifestFile, manifest.replace('"rows": 2501', '"rows": 2500'))
    t.regex((await archive('attach', ...ordered)).err, /is not what its manifest says: 2500 rows/)
    writeFileSync(manifestFile, manifest)
    t.false((await archive('list')).out.includes(name), 'nothing was made')
    t.is((await archive('attach', ...ordered)).out, `${name}: attached\n`)
    t.deepEqual(
      (await dump(one, two)).filter((line) => !line.includes('open')),
      before,
    )
    t.deepEqual(new Set(await placesOf(one)), new Set([name]))
    t.is((await archive('attach', ...ordered)).out, `${name}: attached\n`, 'again')
    const acts = await world()
      .db('audit_log')
      .where({ subject: `partition:${name}` })
      .orderBy('id')
      .pluck('action')
    t.deepEqual(acts, ['archive detach', 'archive drop', 'archive attach'])
    t.like(JSON.parse(manifest), { table: 'events', month: name.slice(7).replace('_', '-'), rows: 2501 })
  },
)

test.serial(
  'what is erased while a month is apart is erased when it comes back, and a webhook keeps its events',
  async (t) => {
    const folder = temporaryFolder(t)
    const { name, time } = month(-4)
    const ordered = ['--month', name, '--folder', folder, '--apply', '--reason', 'ticket 8']
    const closing = await creatorWithEvents([time])
    const creator = await registerCreator(world())
    const tip = someConfirmation(creator.wallet, { message: 'secret words' })
    await createConfirmedTips(world(), [tip])
    await world().db('events').where({ user_id: creator.user.id }).update({ recorded_at: time })
    await make()
    const { webhook } = await createWebhook(world(), creator.session, { url: 'http://127.0.0.1:1' })
    await world().db('webhook_endpoints').where({ id: webhook.id }).update({ cursor: 0 })
    const detach = () => archive('export', ...ordered, '--detach', '--confirm', name)
    t.regex((await detach()).err, /^1 webhooks or deliveries still wait for events of/)
    const { last_sequence: cursor } = await world()
      .db('event_counters')
      .where({ user_id: creator.user.id })
      .first()
    await world().db('webhook_endpoints').where({ id: webhook.id }).update({ cursor })
    await world().db('webhook_deliveries').insert({
      endpoint_id: webhook.id,
      user_id: creator.user.id,
      sequence: 1,
      event_at: time,
      state: 'failed',
      due_at: null,
    })
    t.regex((await detach()).err, /^1 webhooks or deliveries/, 'what has failed may be asked for again')
    await world().db('webhook_endpoints').delete()
    t.is((await detach()).code, 0)
    const late = await creatorWithEvents([time])
    t.deepEqual([await placesOf(late), await make()], [['events_default'], 0])
    await world().services.transact(async (uow) => {
      await closeAccount(uow, publicUrl, closing)
      await hideWords(uow.trx, creator.user.id, [tip.id])
    })
    const attached = await archive('attach', ...ordered)
    t.regex(attached.out, /: attached; [0-9]+ events erased again: delete the file and export once more\n$/)
    t.deepEqual(await dump(closing), [])
    t.deepEqual(await placesOf(late), [name], 'what came while the month was apart is put there')
    const log = (await dump(creator.user.id)).join()
    t.deepEqual([log.includes(tip.id), log.includes('secret words')], [true, false])
  },
)

test.serial(
  'a month comes back after a migration has added a column, from the database and from a file',
  async (t) => {
    const { name, time } = month(-6)
    const folders = Array.from({ length: 3 }, () => temporaryFolder(t))
    const run = (step: number, verb: string, ...args: readonly string[]) =>
      archive(
        ...[
          verb,
          '--month',
          name,
          '--folder',
          folders[step] ?? '',
          '--apply',
          '--reason',
          'ticket 9',
          ...args,
        ],
      )
    async function take(step: number, how: string): Promise<void> {
      const { code, err } = await run(step, 'export', how, '--confirm', name)
      t.deepEqual([code, err], [0, ''])
    }
    const attach = async (step: number) => t.is((await run(step, 'attach')).out, `${name}: attached\n`)
    const one = await creatorWithEvents([time, new Date(time.getTime() + 1)])
    await make()
    const before = await dump(one)
    await take(0, '--detach')
    await world().db.raw(`alter table events add column added text not null default 'new'`)
    t.teardown(() => world().db.raw('alter table events drop column added'))
    await attach(0)
    const withColumn = await dump(one)
    t.deepEqual(
      withColumn,
      before.map((row) => row.replace(/\)$/, ',new)')),
    )
    await take(1, '--drop')
    await world().db.raw('alter table events add column later int')
    await attach(1)
    t.deepEqual(
      await dump(one),
      withColumn.map((row) => row.replace(/\)$/, ',)')),
    )
    await world().db.raw('alter table events drop column later')
    await take(2, '--drop')
    await world().db.raw('alter table events rename added to renamed')
    t.teardown(() => world().db.raw('alter table events rename renamed to added'))
    const refused = await run(2, 'attach')
    t.deepEqual(
      [refused.code, refused.err],
      [1, `events has no column added of the type text, which ${folders[2]}/${name}.csv.gz has\n`],
    )
  },
)

test.serial(
  'a month that somebody attached meanwhile is not deleted, and a stale file is named',
  async (t) => {
    const folder = temporaryFolder(t)
    const { name, time } = month(-7)
    const ordered = ['--month', name, '--folder', folder, '--apply', '--reason', 'ticket 10']
    const one = await creatorWithEvents([time])
    const two = await creatorWithEvents([time])
    await make()
    const detach = async () =>
      t.is((await archive('export', ...ordered, '--detach', '--confirm', name)).code, 0)
    await detach()
    const other = await world().db.transaction()
    await other.raw('lock table partitions.?? in row share mode', [name])
    const dropping = archive('export', ...ordered, '--drop', '--confirm', name)
    await until('it waits for the month', isLockAwaited)
    await other.raw(
      `alter table events attach partition partitions.?? for values from ('${time.toISOString()}') to ('${month(-6).time.toISOString()}')`,
      [name],
    )
    await other.commit()
    const { code, err } = await dropping
    t.deepEqual([code, err], [1, `somebody has attached ${name} again: nothing is deleted\n`])
    await detach()
    await world()
      .db('events')
      .insert({ user_id: two, sequence: 2, type: 'ping', subject: 's', data: '{}', recorded_at: time })
    const attached = await archive('attach', ...ordered)
    t.is(attached.out, `${name}: attached; the file has other rows: delete the file and export once more\n`)
    t.deepEqual([await placesOf(one), await placesOf(two)], [[name], [name, name]])
  },
)
