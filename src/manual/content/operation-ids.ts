/** What a generated client calls the function of each call. */
const names: Readonly<Record<string, string>> = {
  'post /auth/register': 'register',
  'post /auth/login': 'logIn',
  'post /auth/logout': 'logOut',
  'get /auth/me': 'getAccount',
  'post /auth/otp/start': 'sendOneTimeCode',
  'post /auth/otp/verify': 'logInWithOneTimeCode',
  'post /auth/password': 'changePassword',
  'post /auth/password/reset': 'sendPasswordReset',
  'post /auth/password/reset/confirm': 'resetPassword',
  'post /auth/email': 'changeEmail',
  'post /auth/email/confirm': 'confirmEmail',
  'post /auth/email/undo': 'undoEmail',
  'get /auth/sessions': 'listSessions',
  'delete /auth/sessions/{id}': 'endSession',
  'delete /auth/sessions': 'endOtherSessions',
  'get /auth/security': 'getSecurity',
  'post /sdk/init': 'createSdkSession',
  'get /sdk/session': 'getSdkSession',
  'post /sdk/session/renew': 'renewSdkSession',
  'post /sdk/tip': 'createSdkTip',
  'get /sdk/intents': 'listSdkIntents',
  'get /sdk/intents/{intentId}': 'getSdkIntent',
  'get /sdk/events': 'listTipEvents',
  'post /sdk/handoff': 'createHandoff',
  'post /sdk/handoff/redeem': 'redeemHandoff',
  'get /pay/{code}': 'getPayRequest',
  'post /pay/{code}': 'createPayTransaction',
  'post /payments/intent': 'createPaymentIntent',
  'post /chain/tips/create': 'recordTip',
  'get /chain/tips': 'listTips',
  'get /chain/tips/stream': 'streamTips',
  'post /payments/fiat/intent': 'createFiatIntent',
  'get /payments/fiat/status': 'getFiatStatus',
  'get /payments/fiat/rate': 'getFiatRate',
  'get /creators/me': 'getCreator',
  'patch /creators/me': 'updateCreator',
  'post /creators/domain-challenge': 'createDomainChallenge',
  'post /creators/api-keys': 'createApiKey',
  'get /creators/api-keys': 'listApiKeys',
  'delete /creators/api-keys/{id}': 'revokeApiKey',
  'get /creators/domains': 'listSites',
  'put /creators/domains': 'replaceSites',
  'get /creators/tips': 'listReceivedTips',
  'get /creators/tips/daily': 'listDailyTips',
  'get /creators/balance': 'getBalance',
  'get /creators/transactions': 'listTransactions',
  'get /creators/banks': 'listBanks',
  'get /creators/bank-accounts': 'listBankAccounts',
  'get /creators/balance/tokens': 'listTokenBalances',
  'post /creators/bank-accounts/resolve': 'resolveBankAccount',
  'post /payouts/withdraw': 'withdraw',
  'get /payouts/history': 'listWithdrawals',
}

/** `key`: method and path, such as `get /auth/me`. A call without a name is named by both. */
export function operationIdOf(key: string): string {
  return (
    names[key] ??
    key
      .replaceAll(/[^a-z0-9]+([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase())
      .replaceAll(/\W/g, '')
  )
}
