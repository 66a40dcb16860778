/** What guards ask beyond the API's contract: GUARDS chooses a column, and each setting given overrides its own. */
type Guards = 'recommended' | 'contract'

/**
 * The settings of the guards with their values under both. Under `contract` nothing is asked or held back that the contract does
 * not name; limits of the creator's identity, disputes, freezing and factors hold there too.
 */
const guardDefaults = {
  CONFIRM_ACCOUNTS: { recommended: 'all', contract: 'off' },
  CARD_RESERVE_DAYS: { recommended: '14', contract: '0' },
  // People share names, so that a name has no limit for ever.
  IDENTITY_LIMITS_NGN: {
    recommended:
      'young:50000,account-day:500000,account-month:2000000,account-total:5000000,name-day:1000000,name-month:5000000',
    contract: 'off',
  },
  PAYOUT_LIMITS_NGN: {
    recommended: 'hour:5000000,day:20000000,creator-hour:500000,creator-day:2000000',
    contract: 'off',
  },
  AGREE_ABOVE_USD: { recommended: '100', contract: 'off' },
  RATE_JUMP_PERCENT: { recommended: '5', contract: '20' },
} as const satisfies Record<string, Record<Guards, string>>

export type GuardSetting = keyof typeof guardDefaults

/** Adds the guards' settings that are not given. What a list does not name keeps its default. */
export function withGuardDefaults(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const guards = env['GUARDS']?.trim() === 'contract' ? 'contract' : 'recommended'
  const all = Object.entries(guardDefaults).map(([name, values]) => {
    const given = env[name]?.trim() || undefined
    const isList = given !== undefined && name.endsWith('_LIMITS_NGN')
    return [name, isList ? `${values[guards]},${given}` : (given ?? values[guards])]
  })
  return { ...env, ...Object.fromEntries(all) }
}

/** The guards as they are in force, for the start's print and `doctor`. */
export type GuardTable = Readonly<Record<GuardSetting, string | number>>

type GuardValue = string | number | Readonly<Record<string, number | undefined>> | undefined

export function guardTable(s: Readonly<Record<GuardSetting, GuardValue>>): GuardTable {
  const names = Object.keys(guardDefaults) as GuardSetting[]
  return Object.fromEntries(names.map((name) => [name, shown(s[name])])) as GuardTable
}

function shown(value: GuardValue): string | number {
  if (typeof value !== 'object') return value ?? 'off'
  const amounts = Object.entries(value)
  if (amounts.every(([, amount]) => amount === undefined)) return 'off'
  return amounts.map(([name, amount]) => `${name}:${amount ?? 'off'}`).join(',')
}
