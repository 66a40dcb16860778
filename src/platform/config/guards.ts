/** What guards ask beyond the API's contract: GUARDS chooses a column, and each setting given overrides its own. */
type Guards = 'recommended' | 'contract'

/**
 * The settings of the guards with their values under both. Under `contract` nothing is asked or held back that the contract does
 * not name; limits of the creator's identity, disputes, freezing and factors hold there too.
 */
const guardDefaults = {
  CONFIRM_ACCOUNTS: { recommended: 'all', contract: 'off' },
  CARD_RESERVE_DAYS: { recommended: '14', contract: '0' },
  IDENTITY_YOUNG_NGN: { recommended: '50000', contract: 'off' },
  IDENTITY_ACCOUNT_DAILY_NGN: { recommended: '500000', contract: 'off' },
  IDENTITY_ACCOUNT_MONTHLY_NGN: { recommended: '2000000', contract: 'off' },
  IDENTITY_ACCOUNT_TOTAL_NGN: { recommended: '5000000', contract: 'off' },
  IDENTITY_NAME_DAILY_NGN: { recommended: '1000000', contract: 'off' },
  IDENTITY_NAME_MONTHLY_NGN: { recommended: '5000000', contract: 'off' },
  IDENTITY_NAME_TOTAL_NGN: { recommended: 'off', contract: 'off' },
  PAYOUT_CREATOR_HOURLY_NGN: { recommended: '500000', contract: 'off' },
  PAYOUT_CREATOR_DAILY_NGN: { recommended: '2000000', contract: 'off' },
  PAYOUT_HOURLY_NGN: { recommended: '5000000', contract: 'off' },
  PAYOUT_DAILY_NGN: { recommended: '20000000', contract: 'off' },
  AGREE_ABOVE_USD: { recommended: '100', contract: 'off' },
  RATE_JUMP_PERCENT: { recommended: '5', contract: '20' },
} as const satisfies Record<string, Record<Guards, string>>

export type GuardSetting = keyof typeof guardDefaults

/** Adds the guards' settings that are not given. */
export function withGuardDefaults(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const guards = env['GUARDS']?.trim() === 'contract' ? 'contract' : 'recommended'
  const defaults = Object.entries(guardDefaults).filter(([name]) => !env[name]?.trim())
  return { ...env, ...Object.fromEntries(defaults.map(([name, values]) => [name, values[guards]])) }
}

/** The guards as they are in force, for the start's print and `doctor`. */
export type GuardTable = Readonly<Record<GuardSetting, string | number>>

export function guardTable(s: Readonly<Record<GuardSetting, string | number | undefined>>): GuardTable {
  const names = Object.keys(guardDefaults) as GuardSetting[]
  return Object.fromEntries(names.map((name) => [name, s[name] ?? 'off'])) as GuardTable
}
