/** A rule of the product taken out: one text of one built module is replaced when it is loaded. */
export interface Plant {
  readonly file: string
  readonly from: string
  readonly to: string
}

/** Each is a way to lose money that the simulator must find. A test holds that the texts are still there. */
export const plants = {
  'unclear-is-refused': {
    file: 'src/outgoing/send.js',
    from: 'sending.sends > 1 || outcome.kind === "ambiguous"',
    to: 'sending.sends > 1',
  },
  'resend-at-once': {
    file: 'src/outgoing/decide.js',
    from: `if ((sinceSent ?? 0) < rules.settleSeconds) return { kind: "poll-again" };
\tif (rules.deduplicates && sends < maxSends)`,
    to: 'if (sends < maxSends)',
  },
  'key-forgotten': {
    file: 'src/withdrawals/request/store-withdrawal.js',
    from: `withdrawal.keyedRequest?.keyHash ?? null,
\t\t\twithdrawal.keyedRequest?.requestHash ?? null`,
    to: 'null, null',
  },
  'sleeper-sends': {
    file: 'src/outgoing/send.js',
    from: 'performance.now() - startedAt > staleMs',
    to: 'false',
  },
  'void-unproven': {
    file: 'src/withdrawals/review/check-action.js',
    from: 'if (neverSentStates.includes(sendState)) return { done };',
    to: 'return { done };',
  },
  'cancel-while-sent': {
    file: 'src/withdrawals/confirmation/confirm.js',
    from: 'withdrawal.status !== "pending" || !neverSentStates.includes(withdrawal.sendState)',
    to: 'withdrawal.status !== "pending"',
  },
  'recredit-unwatched': {
    file: 'src/withdrawals/review/operator-actions.js',
    from: 'looks = 0, due_at = clock_timestamp()',
    to: 'looks = 0, due_at = null',
  },
  'fee-forgotten': {
    file: 'src/outgoing/follow.js',
    from: 'const { id: providerId, reason, feeKobo } = found;',
    to: 'const { id: providerId, reason } = found, feeKobo = 0n;',
  },
  'credit-the-promise': {
    file: 'src/fiat/fees.js',
    from: 'creditMicro = worth < promised ? worth : promised',
    to: 'creditMicro = promised',
  },
} as const satisfies Readonly<Record<string, Plant>>
