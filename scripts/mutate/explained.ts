/** Mutants that no test can notice, and why. */
interface Explained {
  readonly file: string
  readonly reason: string
  /** As `Mutant` has them. */
  readonly mutants: readonly (readonly [line: string, change: string])[]
}

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: source texts
const bulkTransfers = 'src/ledger/bulk-transfers.ts'
const postStatement = 'src/ledger/post-statement.ts'
const platformSide =
  'join ledger_accounts a on g.user_id is null and a.user_id is null and a.kind = g.kind and a.currency = g.currency'
const reservedOf =
  "where t.idem = any($1::text[]) and t.kind = 'reserve' and a.kind = 'pending' and a.user_id is not null and e.amount > 0`,"
const inOrder = 'const inOrder = transfers.toSorted((a, b) => (a.idem < b.idem ? -1 : 1))'

const rounded = 'return -shift > 40 ? 0n : divideHalfUp(digits, 10n ** BigInt(-shift))'
const accountsRead =
  'select id, null, kind, currency from ledger_accounts where user_id is null and kind = any($2::text[])`,'
const ownAccounts =
  'where user_id = any($1::uuid[]) and kind = any($2::text[]) order by id for no key update)'
const claims = 'return { owed: BigInt(row?.owed ?? 0), disputed: BigInt(row?.disputed ?? 0) }'
const receivables = 'src/ledger/receivables/receivables.ts'
const grows =
  'if (before !== undefined && (before.owed || before.isClosed || before.amountMicro >= amountMicro)) return'

const short =
  'select distinct creator_id as "userId" from receivables where creator_id = any($1::uuid[]) and ${uncovered} order by 1`,'

export const explained: readonly Explained[] = [
  {
    file: 'src/kernel/money.ts',
    reason: 'zero is no unit either, and minus zero is zero',
    mutants: [
      [
        "if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) return undefined",
        'value <= 0 -> value < 0',
      ],
      [
        "const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')",
        'units < 0n -> units <= 0n',
      ],
      ["const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')", '0n -> 1n'],
    ],
  },
  {
    file: 'src/kernel/money.ts',
    reason: 'the division gives the same, and this only spares it',
    mutants: [
      ['if (shift >= 0) return digits * 10n ** BigInt(shift)', 'shift >= 0 -> shift > 0'],
      ['if (shift >= 0) return digits * 10n ** BigInt(shift)', '0 -> 1'],
      [rounded, '-shift > 40 -> -shift >= 40'],
      [rounded, '-shift > 40 -> false'],
      [rounded, '-shift -> shift'],
      [rounded, '40 -> 41'],
    ],
  },
  {
    file: 'src/kernel/money.ts',
    reason: 'of two equal amounts either is the least, and the most',
    mutants: [
      ['return one < other ? one : other', 'one < other -> one <= other'],
      ['return one > other ? one : other', 'one > other -> one >= other'],
    ],
  },
  {
    file: 'src/outgoing/decide.ts',
    reason: 'JavaScript compares null as 0',
    mutants: [
      [
        "if ((sinceSent ?? 0) < rules.settleSeconds) return { kind: 'poll-again' }",
        'sinceSent ?? 0 -> (sinceSent)',
      ],
    ],
  },
  {
    file: postStatement,
    reason: 'minus a sum is zero when the sum is',
    mutants: [
      [
        'sums.set(account.currency, (sums.get(account.currency) ?? 0n) + amount)',
        '(sums.get(account.currency) ?? 0n) + amount -> (sums.get(account.currency) ?? 0n) - amount',
      ],
    ],
  },
  {
    file: postStatement,
    reason: "the database has no kind that both a user's and the platform's accounts have",
    mutants: [
      [platformSide, 'g.user_id is null -> true'],
      [platformSide, 'a.user_id is null -> true'],
      [reservedOf, 'a.user_id is not null -> true'],
    ],
  },
  {
    file: postStatement,
    reason: 'the database has no entry of zero',
    mutants: [[reservedOf, 'e.amount > 0 -> e.amount >= 0']],
  },
  {
    file: postStatement,
    reason: 'the statement always answers with one row',
    mutants: [
      [
        "if (outcome === undefined) throw new Error('The posting did not answer')",
        "throw new Error('The posting did not answer') -> ;",
      ],
    ],
  },
  {
    file: bulkTransfers,
    reason: 'how many transfers one statement posts is a matter of speed',
    mutants: [
      ['const chunkSize = 256', '256 -> 257'],
      [
        'for (let start = 0; start < inOrder.length; start += chunkSize)',
        'start < inOrder.length -> start <= inOrder.length',
      ],
      [
        'await postChunk(trx, inOrder.slice(start, start + chunkSize))',
        'inOrder.slice(start, start + chunkSize) -> inOrder',
      ],
    ],
  },
  {
    file: bulkTransfers,
    reason: 'only the sign is read, and equal idems are one transfer',
    mutants: [
      [inOrder, 'a.idem < b.idem -> a.idem <= b.idem'],
      [inOrder, '1 -> 2'],
    ],
  },
  {
    file: bulkTransfers,
    reason: 'the trigger finds no balance of an account of the platform, and stores none',
    mutants: [['select t.id, g.account_id, g.amount, case when g.of_user then 0 end', 'g.of_user -> true']],
  },
  {
    file: bulkTransfers,
    reason:
      'what is posted is compared once more, and what is open is opened once more, which changes nothing',
    mutants: [
      ['const done = new Set(posted.map(({ idem }) => idem))', 'idem -> undefined'],
      [
        'const missing = wanted.filter(({ account }) => !found.has(accountKey(account)))',
        'wanted.filter(({ account }) => !found.has(accountKey(account))) -> wanted',
      ],
    ],
  },
  {
    file: bulkTransfers,
    reason: 'more accounts are read than are looked up',
    mutants: [
      [ownAccounts, 'kind = any($2::text[]) -> true'],
      [accountsRead, 'user_id is null -> true'],
      [accountsRead, 'kind = any($2::text[]) -> true'],
      [accountsRead, 'kind = any($2::text[] -> kind <> any($2::text[]'],
    ],
  },
  {
    file: bulkTransfers,
    reason: 'no reserve has the key undefined, and a repeated posting posts nothing',
    mutants: [
      [
        'transfers.map(({ resolves }) => (resolves === undefined ? null : reserves.get(resolves))),',
        'resolves === undefined -> false',
      ],
      [
        'for (const transfer of transfers) if (!done.has(transfer.idem)) await postAlone(trx, transfer)',
        '!done.has(transfer.idem) -> true',
      ],
    ],
  },
  {
    file: postStatement,
    reason: 'migrations make the accounts of the platform, so none is missing',
    mutants: [
      [
        'if (second === undefined) throw new Error(`No such platform account in transfer ${transfer.idem}`)',
        'throw new Error(`No such platform account in transfer ${transfer.idem}`) -> ;',
      ],
    ],
  },
  {
    file: receivables,
    reason: 'a lock that ends with its statement is missed only in a race',
    mutants: [['if (db.isTransaction) await coverOf(db, userId)', 'db.isTransaction -> true']],
  },
  {
    file: bulkTransfers,
    reason: 'null is in no row, and is not missed',
    mutants: [
      [
        'const users = entries.flatMap(({ account }) => account.userId ?? [])',
        'account.userId ?? [] -> (account.userId)',
      ],
      ['const keys = transfers.flatMap(({ resolves }) => resolves ?? [])', 'resolves ?? [] -> (resolves)'],
    ],
  },
  {
    file: bulkTransfers,
    reason: 'it is read only when a transfer resolves something',
    mutants: [['if (keys.length === 0) return new Map()', 'return new Map() -> return undefined']],
  },
  {
    file: bulkTransfers,
    reason: 'the only caller asks for reserves that it has found',
    mutants: [
      [
        "text: `select id, idem from ledger_transfers where idem = any($1::text[]) and kind = 'reserve'`,",
        "kind = 'reserve' -> true",
      ],
      ['const unknown = keys.find((key) => !ids.has(key))', '!ids.has(key) -> undefined'],
      [
        'if (unknown !== undefined) throw new Error(`Nothing was reserved as ${unknown}`)',
        'throw new Error(`Nothing was reserved as ${unknown}`) -> ;',
      ],
    ],
  },
  {
    file: 'src/ledger/transfers.ts',
    reason: 'a transfer has no entry of zero',
    mutants: [
      [
        "userId !== null && kind === 'available' && amount > 0n ? [userId] : [],",
        'amount > 0n -> amount >= 0n',
      ],
    ],
  },
  {
    file: 'src/ledger/receivables/read-receivables.ts',
    reason: 'the driver sends undefined as null',
    mutants: [['values: [limit, userId ?? null],', 'userId ?? null -> (userId)']],
  },
  {
    file: 'src/ledger/receivables/read-receivables.ts',
    reason: 'the statement always answers with one row',
    mutants: [
      [claims, 'row?.owed ?? 0 -> (row?.owed)'],
      [claims, 'row?.disputed ?? 0 -> (row?.disputed)'],
      [claims, '0 -> 1'],
      ['return row?.owes ?? false', 'row?.owes ?? false -> (row?.owes)'],
      ['return row?.owes ?? false', 'false -> true'],
    ],
  },
  {
    file: receivables,
    reason: 'a case is never deleted',
    mutants: [
      [
        'const { ref, owed, isClosed, amountMicro, coveredMicro } = (await findReceivable(trx, id)) ?? found',
        '(await findReceivable(trx, id)) ?? found -> ((await findReceivable(trx, id)))',
      ],
      [
        'const owed = (await findReceivable(trx, id)) ?? found',
        '(await findReceivable(trx, id)) ?? found -> ((await findReceivable(trx, id)))',
      ],
    ],
  },
  {
    file: receivables,
    reason: 'the statement asks the same under the lock, and this only spares it',
    mutants: [
      [
        grows,
        'before.owed || before.isClosed || before.amountMicro >= amountMicro -> before.owed || before.isClosed && before.amountMicro >= amountMicro',
      ],
      [grows, 'before.owed || before.isClosed -> before.owed && before.isClosed'],
      [grows, 'before.amountMicro >= amountMicro -> before.amountMicro > amountMicro'],
      [grows, 'return -> ;'],
    ],
  },
  {
    file: receivables,
    reason: 'covering once more covers nothing more, and a transaction in another is a savepoint of it',
    mutants: [
      ['if (userIds.length === 0) return', 'return -> ;'],
      [short, 'distinct -> '],
      [short, '${uncovered} -> true'],
      ['if (db.isTransaction) await coverOf(db, userId)', 'db.isTransaction -> false'],
    ],
  },
  {
    file: receivables,
    reason: 'what was opened is there, and so is each hold; the amounts of what is opened are not read',
    mutants: [
      [
        'if (found === undefined) throw new Error(`No available account of ${userId}`)',
        'throw new Error(`No available account of ${userId}`) -> ;',
      ],
      [
        'if (micro === undefined) throw new Error(`Nothing was reserved as ${key}`)',
        'throw new Error(`Nothing was reserved as ${key}`) -> ;',
      ],
      [
        'const accounts = [available(userId), held(userId)].map((account) => ({ account, amount: 0n }))',
        '0n -> 1n',
      ],
    ],
  },
  {
    file: receivables,
    reason: 'nothing is missing when there is as much, and of two equal amounts either is the least',
    mutants: [
      ['const taken = missing < left ? missing : left', 'missing < left -> missing <= left'],
      ['const taken = micro < left ? micro : left', 'micro < left -> micro <= left'],
      [
        'const missing = amountMicro > there ? amountMicro - there : 0n',
        'amountMicro > there -> amountMicro >= there',
      ],
    ],
  },
]
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: source texts
