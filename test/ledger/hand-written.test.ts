import test from 'ava'
import { transferEntries } from '../../src/ledger/accounts.js'
import { reserve } from '../../src/ledger/transfers.js'
import { available, createUserWith, held, listBrokenInvariants, newKey, useLedger } from './support.js'

const ledger = useLedger(test)

/** SQL that inserts a transfer. `entries`: rows of account id, amount and balance after. */
function transferSql(entries: string, { kind = 'credit', idem = newKey(), resolves = 'null' } = {}): string {
  return `with t as (
      insert into ledger_transfers (idem, kind, ref, resolves) values ('${idem}', '${kind}', 'x', ${resolves}) returning id)
    insert into ledger_entries (transfer_id, account_id, amount, balance_after)
    select t.id, e.* from t, (values ${entries}, (null, null, null::bigint)) as e(account_id) where account_id is not null`
}

test.serial('hand-written SQL that would violate an invariant is refused and changes nothing', async (t) => {
  const { db } = ledger()
  const user = await createUserWith(db, 100n)
  const [a] = await db('ledger_accounts').where({ user_id: user, kind: 'available' })
  const platform = async (kind: string, currency: string) =>
    (await db('ledger_accounts').where({ user_id: null, kind, currency }).first()).id
  const [usdc, naira] = [await platform('custody_wallets', 'USDC'), await platform('fx', 'NGN')]
  const treasury = await platform('treasury', 'USDC')
  const key = newKey()
  const { id: reserved } = await reserve(db, {
    key,
    ref: 'w',
    entries: transferEntries(10n, available(user), held(user)),
  })
  const [h] = await db('ledger_accounts').where({ user_id: user, kind: 'held' })
  const resolving = { kind: 'post', idem: `${key}:resolve`, resolves: String(reserved) }
  const [entry] = await db('ledger_entries').where({ account_id: a.id })
  const refused: Record<string, string> = {
    'an unbalanced transfer': transferSql(`(${a.id}, 5, 0), (${usdc}, -4, null)`),
    'one entry alone': transferSql(`(${usdc}, 5, null)`),
    'a transfer balanced over two currencies only': transferSql(`(${a.id}, 5, 0), (${naira}, -5, null)`),
    'an entry without an account': transferSql(`(-1, 5, null), (-2, -5, null)`),
    'an entry of a user that moves no balance': transferSql(`(${a.id}, 5, null), (${usdc}, -5, null)`),
    'a user below zero': transferSql(`(${a.id}, -1000, 0), (${usdc}, 1000, null)`),
    'an entry of nothing': transferSql(`(${a.id}, 0, 0), (${usdc}, 0, null)`),
    'the same account twice': transferSql(`(${usdc}, 5, null), (${usdc}, -5, null)`),
    'an entry of no transfer': `insert into ledger_entries (transfer_id, account_id, amount) values (-1, ${usdc}, 1)`,
    'entries of no transfer': `insert into ledger_entries (transfer_id, account_id, amount)
      values (-1, ${usdc}, 1), (-1, ${treasury}, -1)`,
    'entries of a transfer and of none': transferSql(`(${usdc}, 5, null), (${treasury}, -5, null)`).replace(
      'select t.id, e.*',
      `select t.id - (e.account_id = ${treasury})::int, e.*`,
    ),
    'a post of nothing': transferSql(`(${h.id}, -10, 0), (${usdc}, 10, null)`, {
      ...resolving,
      resolves: '-1',
    }),
    'a changed entry': `update ledger_entries set amount = amount + 1 where id = ${entry.id}`,
    'a deleted entry': `delete from ledger_entries where id = ${entry.id}`,
    'truncated entries': 'truncate ledger_entries',
    'everything truncated': 'truncate ledger_accounts, ledger_transfers, ledger_entries cascade',
    'a changed transfer': `update ledger_transfers set ref = 'y' where id = ${reserved}`,
    'a deleted transfer': `delete from ledger_transfers where id = ${reserved}`,
    'a balance below zero': `update ledger_accounts set balance = -1 where id = ${a.id}`,
    'a balance without entries': `update ledger_accounts set balance = balance + 1 where id = ${a.id}`,
    'a balance from nothing': `insert into ledger_accounts (user_id, kind, currency, balance) values ('${user}', 'pending', 'USDC', 5)`,
    'a balance on conflict': `insert into ledger_accounts (user_id, kind, currency, balance) values ('${user}', 'available', 'USDC', 0)
      on conflict (user_id, kind, currency) do update set balance = 1000`,
    'an account of another currency': `update ledger_accounts set currency = 'NGN' where id = ${a.id}`,
    'an account of another user': `update ledger_accounts set user_id = null where id = ${a.id}`,
    'a deleted account': `delete from ledger_accounts where id = ${a.id}`,
    'a post of less than was reserved': transferSql(`(${h.id}, -9, 0), (${usdc}, 9, null)`, resolving),
    'a post under another key': transferSql(`(${h.id}, -10, 0), (${usdc}, 10, null)`, {
      ...resolving,
      idem: `${newKey()}:resolve`,
    }),
    'a void to elsewhere': transferSql(`(${h.id}, -10, 0), (${usdc}, 10, null)`, {
      ...resolving,
      kind: 'void',
    }),
    'a credit that resolves': transferSql(`(${h.id}, -10, 0), (${usdc}, 10, null)`, {
      ...resolving,
      kind: 'credit',
    }),
    'a post of a credit': transferSql(`(${a.id}, -1, 0), (${usdc}, 1, null)`, {
      ...resolving,
      resolves: String(entry.transfer_id),
    }),
    'a used idem': transferSql(`(${h.id}, -1, 0), (${usdc}, 1, null)`, { idem: key }),
  }
  const before = await db('ledger_accounts').orderBy('id')
  for (const [what, sql] of Object.entries(refused)) {
    const error = await t.throwsAsync<Error & { code?: string }>(db.raw(sql), undefined, what)
    t.regex(error?.code ?? '', /^23/, `${what}: ${error?.message}`)
  }
  t.deepEqual(await db('ledger_accounts').orderBy('id'), before)
  t.deepEqual(await listBrokenInvariants(db), [])

  await db.raw(transferSql(`(${h.id}, -10, 0), (${usdc}, 10, null)`, resolving))
  for (const kind of ['post', 'void'])
    await t.throwsAsync(
      db.raw(
        transferSql(`(${h.id}, -10, 0), (${usdc}, 10, null)`, {
          ...resolving,
          kind,
          idem: `${newKey()}:resolve`,
        }),
      ),
      { message: /ledger_transfers_resolves_key/ },
      'a second resolution',
    )
})

test.serial('a balanced hand-written transfer moves the balances by our own sum', async (t) => {
  const { db } = ledger()
  const user = await createUserWith(db, 100n)
  const { id } = await db('ledger_accounts').where({ user_id: user }).first()
  const { id: usdc } = await db('ledger_accounts')
    .where({ user_id: null, kind: 'fx', currency: 'USDC' })
    .first()
  await db.raw(transferSql(`(${id}, 5, 999), (${usdc}, -5, 7)`))
  const { balance } = await db('ledger_accounts').where({ id }).first()
  t.is(balance, 105n)
  t.deepEqual(await listBrokenInvariants(db), [])
})

test.serial('the check names what was violated while the triggers were switched off', async (t) => {
  const { db } = ledger()
  const user = await createUserWith(db, 100n)
  const { id } = await db('ledger_accounts').where({ user_id: user }).first()
  const { id: usdc } = await db('ledger_accounts')
    .where({ user_id: null, kind: 'fx', currency: 'USDC' })
    .first()
  const { id: reserved } = await reserve(db, {
    key: newKey(),
    ref: 'w',
    entries: transferEntries(10n, available(user), held(user)),
  })
  const cached: [string, string] = [
    'every cached balance is the one after its last entry',
    'every cached balance is the sum of its entries',
  ]
  const faults: [sql: string, broken: string[]][] = [
    [`update ledger_accounts set balance = balance + 1 where id = ${id}`, cached],
    [
      `alter table ledger_accounts drop constraint ledger_accounts_balance_check;
       update ledger_accounts set balance = -1 where id = ${id}`,
      [...cached, 'no balance of a user is below zero'],
    ],
    [
      `update ledger_entries set amount = amount + 1 where account_id = ${id}`,
      [
        'every transfer sums to zero in each currency',
        'every entry continues the balance before it',
        'each currency sums to zero',
        'every cached balance is the sum of its entries',
      ],
    ],
    [
      `delete from ledger_entries where account_id = ${id}`,
      [
        'every transfer sums to zero in each currency',
        'every transfer has at least two entries',
        cached[0],
        'each currency sums to zero',
        cached[1],
      ],
    ],
    [
      `${transferSql(`(${usdc}, 1, null), (${usdc} - 1, -1, null)`, { kind: 'post', idem: 'else:resolve', resolves: String(reserved) })}`,
      ['every reserve is resolved at most once, by what takes back what it set aside'],
    ],
  ]
  for (const [sql, names] of faults) {
    await db
      .transaction(async (trx) => {
        await trx.raw('set local session_replication_role = replica')
        await trx.raw(sql)
        // The check opens its own transaction, which is a savepoint inside this one.
        t.deepEqual(await listBrokenInvariants(trx), names, sql)
        throw new Error('undo')
      })
      .catch((error: Error) => t.is(error.message, 'undo', String(error)))
  }
  t.deepEqual(await listBrokenInvariants(db), [])
})
